#include "run/error_line.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

namespace sotto {

namespace {

/// Bytes of the character that begins here, and its number; 0 bytes where it is not UTF-8.
struct Character {
    std::size_t bytes = 0;
    std::uint32_t number = 0;
};

Character first_character(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    if (lead < 0x80) return {1, lead};
    const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    constexpr std::uint32_t smallest[] = {0x80, 0x800, 0x10000};
    if (lead < 0xc0 || lead > 0xf4 || text.size() < bytes) return {};
    std::uint32_t number = lead & (0xffU >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xc0) != 0x80) return {};
        number = number << 6 | (next & 0x3fU);
    }
    const bool surrogate = number >= 0xd800 && number <= 0xdfff;
    if (number < smallest[bytes - 2] || number > 0x10ffff || surrogate) return {};
    return {bytes, number};
}

/// What moves a terminal's cursor, colours it, or turns the direction of the text.
bool controls_terminal(std::uint32_t number) {
    return number < 0x20 || (number >= 0x7f && number < 0xa0) ||
           (number >= 0x202a && number <= 0x202e) || (number >= 0x2066 && number <= 0x2069);
}

}  // namespace

void print_error_line(std::string_view message) {
    std::string line = "sotto: ";
    while (!message.empty()) {
        const Character next = first_character(message);
        const bool shown = next.bytes > 0 && !controls_terminal(next.number);
        line += shown ? message.substr(0, next.bytes) : "?";
        message.remove_prefix(std::max<std::size_t>(next.bytes, 1));
    }
    line += '\n';
    // One call: lines of several processes do not mix.
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
}

}  // namespace sotto
