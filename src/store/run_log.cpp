#include "store/run_log.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <string>

namespace sotto {

void append_to_log(const std::filesystem::path& run_directory, std::string_view text) noexcept try {
    const std::string now = fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::time(nullptr)));
    std::string lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (end > 0) lines += fmt::format("{}  {}\n", now, text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    const int file = ::open((run_directory / "log.txt").c_str(),
                            O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                            0600);
    if (file < 0) return;
    [[maybe_unused]] const auto written = ::write(file, lines.data(), lines.size());
    ::close(file);
} catch (...) {
    // Nothing but memory can be short here, and whoever needs it says so.
}

}  // namespace sotto
