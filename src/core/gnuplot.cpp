#include "core/gnuplot.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace sotto {

bool has_gnuplot() {
    const char* path = std::getenv("PATH");
    if (path == nullptr) return false;
    const std::string folders = path;
    for (std::size_t begin = 0; begin <= folders.size();) {
        const std::size_t end = std::min(folders.find(':', begin), folders.size());
        const auto candidate =
            std::filesystem::path(folders.substr(begin, end - begin)) / "gnuplot";
        if (::access(candidate.c_str(), X_OK) == 0) return true;
        begin = end + 1;
    }
    return false;
}

std::string quoted_for_gnuplot(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text)
        if (c == '\'')
            quoted += "''";
        else if (c == '\n')
            quoted += "'.\"\\n\".'";
        else
            quoted += c;
    return quoted + "'";
}

bool draw_with_gnuplot(const std::string& script) {
    // If gnuplot ends early, SIGPIPE must not end this program.
    const auto pipe_handler = std::signal(SIGPIPE, SIG_IGN);
    std::FILE* gnuplot = ::popen("gnuplot", "w");
    const bool written = gnuplot != nullptr &&
                         std::fwrite(script.data(), 1, script.size(), gnuplot) == script.size();
    const bool drawn = gnuplot != nullptr && ::pclose(gnuplot) == 0 && written;
    std::signal(SIGPIPE, pipe_handler);
    return drawn;
}

}  // namespace sotto
