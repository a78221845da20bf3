#include "scratch_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <vector>

#include "disk.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

/// Those of this process.
struct ScratchFolders {
    std::atomic<int> count{0};  // most processes have none, and need no lock
    std::mutex mutex;
    std::vector<fs::path> folders;
};

ScratchFolders& scratch_folders() {
    static ScratchFolders known;
    return known;
}

bool is_below(const fs::path& file, const fs::path& folder) {
    return std::ranges::mismatch(folder, file).in1 == folder.end();
}

}  // namespace

ScratchFolder::ScratchFolder(const fs::path& folder)
    : folder_(fs::weakly_canonical(fs::absolute(folder)).lexically_normal()) {
    ScratchFolders& known = scratch_folders();
    const std::scoped_lock guard(known.mutex);
    known.folders.push_back(folder_);
    ++known.count;
}

ScratchFolder::~ScratchFolder() {
    ScratchFolders& known = scratch_folders();
    const std::scoped_lock guard(known.mutex);
    known.folders.erase(std::ranges::find(known.folders, folder_));
    --known.count;
}

void ScratchFolder::flush() const {
    const int file = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT) return;
    const bool good = file >= 0 && ::syncfs(file) == 0;
    const int reason = errno;
    if (file >= 0) ::close(file);
    errno = reason;
    if (!good) throw_unwritable(folder_);
}

bool is_scratch(const fs::path& file) {
    ScratchFolders& known = scratch_folders();
    if (known.count == 0) return false;
    std::error_code failure;
    const fs::path whole = fs::weakly_canonical(fs::absolute(file, failure), failure);
    const std::scoped_lock guard(known.mutex);
    return !failure && std::ranges::any_of(known.folders, [&](const fs::path& folder) {
        return is_below(whole, folder);
    });
}

}  // namespace sotto
