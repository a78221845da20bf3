#include "commands/supervise/journal.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <fstream>

#include "core/output.hpp"

namespace sotto::cli {

void Journal::note(std::string_view words) const {
    const std::time_t now = std::time(nullptr);
    std::ofstream(file_, std::ios::app)
        << fmt::format("{:%Y-%m-%dT%H:%M:%S%z} {}\n", fmt::localtime(now), words);
    if (!quiet_) say(stderr, "sotto supervise: {}\n", words);
}

}  // namespace sotto::cli
