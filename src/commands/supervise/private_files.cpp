#include "commands/supervise/private_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace sotto::cli {

namespace {

constexpr const char* users_umask = "SOTTO_UMASK";
constexpr int octal = 8;

}  // namespace

void keep_files_private() {
    const mode_t before = ::umask(S_IRWXG | S_IRWXO);
    ::setenv(users_umask, fmt::format("{:o}", before).c_str(), 0);
}

void take_back_umask() {
    const char* const given = std::getenv(users_umask);
    if (given == nullptr) return;
    const std::string_view text(given);
    unsigned mode = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), mode, octal);
    if (status == std::errc() && end == text.data() + text.size() && mode <= 0777) ::umask(mode);
}

}  // namespace sotto::cli
