#include "core/disk.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/files.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_at_once = 8;
constexpr std::size_t few = 8;     // paths; no threads are started for so few
constexpr std::size_t many = 512;  // above these, whole file systems are flushed

/// 0, or errno. Some file systems cannot flush a folder.
int flush(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno == EACCES || errno == ENOENT ? 0 : errno;
    int reason = ::fsync(file) == 0 ? 0 : errno;
    struct stat status {};
    if ((reason == EINVAL || reason == ENOTSUP) && ::fstat(file, &status) == 0 &&
        S_ISDIR(status.st_mode))
        reason = 0;
    ::close(file);
    return reason;
}

/// Flushes the whole file system of every path instead of one path after the other.
/// @return 0, or errno; `failed` is then the path.
int flush_file_systems(std::span<const fs::path> paths, std::size_t& failed) {
    std::set<dev_t> flushed;
    for (std::size_t p = 0; p < paths.size(); ++p) {
        struct stat status {};
        if (::stat(paths[p].c_str(), &status) != 0 || flushed.contains(status.st_dev)) continue;
        const int file = ::open(paths[p].c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0) continue;
        const int reason = ::syncfs(file) == 0 ? 0 : errno;
        ::close(file);
        if (reason != 0) {
            failed = p;
            return reason;
        }
        flushed.insert(status.st_dev);
    }
    return 0;
}

/// Overwrites with zeros, not flushed yet.
/// @return whether it is a file.
bool overwrite(const fs::path& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return false;
    struct stat status {};
    const bool regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    const std::string zeros(4096, '\0');
    for (off_t at = 0; regular && at < status.st_size && write_all(file, zeros);)
        at += static_cast<off_t>(zeros.size());
    ::close(file);
    return regular;
}

}  // namespace

void throw_unwritable(const fs::path& path) {
    const int reason = errno;
    throw_write_failure(
        fmt::format("{}: cannot be written ({})", path.string(), std::strerror(reason)), reason);
}

fs::path folder_of(const fs::path& file) {
    return file.has_parent_path() ? file.parent_path() : ".";
}

void flush_to_disk(const fs::path& path) { flush_to_disk(std::span(&path, 1)); }

void flush_to_disk(std::span<const fs::path> paths) { flush_to_disk(paths, paths); }

void flush_to_disk(std::span<const fs::path> paths, std::span<const fs::path> told) {
    int reason = 0;
    std::size_t failed = 0;
    if (paths.size() > many) {
        reason = flush_file_systems(paths, failed);
        if (reason == 0) return;
        errno = reason;
        throw_unwritable(told[failed]);
    }
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    const auto work = [&] {
        for (std::size_t p = next++; p < paths.size(); p = next++)
            if (const int found = flush(paths[p]); found != 0) {
                const std::scoped_lock guard(mutex);
                reason = found;
                failed = p;
            }
    };
    {
        std::vector<std::jthread> others;
        for (std::size_t k = 1; paths.size() > few && k < most_at_once; ++k)
            others.emplace_back(work);
        work();
    }
    if (reason == 0) return;
    errno = reason;
    throw_unwritable(told[failed]);
}

void erase_files(std::span<const fs::path> paths) {
    std::vector<fs::path> overwritten;
    std::ranges::copy_if(paths, std::back_inserter(overwritten), overwrite);
    try {
        flush_to_disk(overwritten);
    } catch (const Error&) {
        // A file that cannot be overwritten is still removed.
    }
    std::set<fs::path> folders;
    const fs::path* left = nullptr;
    int reason = 0;
    for (const fs::path& path : paths) {
        if (::unlink(path.c_str()) == 0) {
            folders.insert(folder_of(path));
        } else if (errno != ENOENT) {
            left = &path;
            reason = errno;
        }
    }
    flush_to_disk(std::vector(folders.begin(), folders.end()));
    if (left != nullptr)
        throw_write_failure(
            fmt::format("{}: cannot be removed ({})", left->string(), std::strerror(reason)),
            reason);
}

bool write_all(int file, std::string_view content) {
    bool good = true;
    for (std::size_t written = 0; good && written < content.size();) {
        const ssize_t count = ::write(file, content.data() + written, content.size() - written);
        if (count > 0) written += static_cast<std::size_t>(count);
        good = count > 0 || (count < 0 && errno == EINTR);
    }
    return good;
}

namespace fs = std::filesystem;

namespace {

thread_local FileBatch* of_this_thread = nullptr;

}  // namespace

FileBatch::FileBatch() : outer_(std::exchange(of_this_thread, this)) {}

FileBatch::~FileBatch() {
    of_this_thread = outer_;
    std::error_code ignored;
    for (const auto& [temporary, entry] : entries_) fs::remove(temporary, ignored);
}

FileBatch* FileBatch::current() { return of_this_thread; }

void FileBatch::add(const fs::path& temporary, fs::path target, bool to_disk) {
    entries_.insert_or_assign(temporary, Entry{std::move(target), to_disk});
}

void FileBatch::commit() {
    std::vector<fs::path> files, targets;
    std::set<fs::path> folders;
    for (const auto& [temporary, entry] : entries_)
        if (entry.to_disk) {
            files.push_back(temporary);
            targets.push_back(entry.target);
            folders.insert(folder_of(entry.target));
        }
    flush_to_disk(files, targets);
    for (const auto& [temporary, entry] : entries_)
        if (std::rename(temporary.c_str(), entry.target.c_str()) != 0)
            throw_unwritable(entry.target);
    entries_.clear();
    flush_to_disk(std::vector(folders.begin(), folders.end()));
}

}  // namespace sotto
