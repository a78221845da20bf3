#include "core/output.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>

#include "sotto/core/files.hpp"

namespace sotto {

namespace {

/// Why the last text that was lost could not be written; a full disk is the usual reason.
std::atomic<int> reason_of_loss{ENOSPC};

}  // namespace

void write_text(std::FILE* out, std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), out) < text.size()) reason_of_loss = errno;
}

void require_written(std::FILE* out, const std::string& name) {
    const bool flushed = std::fflush(out) == 0;
    const int reason = flushed ? reason_of_loss.load() : errno;
    if (flushed && std::ferror(out) == 0) return;
    throw_write_failure(fmt::format("{}: cannot be written ({}); make room, or write to a file "
                                    "elsewhere",
                                    name,
                                    std::strerror(reason)),
                        reason);
}

}  // namespace sotto
