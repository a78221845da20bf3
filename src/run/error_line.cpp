#include "run/error_line.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

namespace sotto {

void print_error_line(std::string_view message) {
    std::string line = "sotto: ";
    line += message;
    std::replace_if(
        line.begin(),
        line.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
        '?');
    line += '\n';
    // One call: lines of several processes do not mix.
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
}

}  // namespace sotto
