#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace sotto::test {

/// A folder of one test beside its program, removed at its end: that of temporary files may be in
/// memory, where nobody waits for a disk.
class FolderOnDisk {
  public:
    FolderOnDisk()
        : path_(std::filesystem::current_path() / ("on-disk-" + std::to_string(::getpid()))) {
        std::filesystem::create_directory(path_);
    }
    ~FolderOnDisk() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    FolderOnDisk(const FolderOnDisk&) = delete;
    FolderOnDisk& operator=(const FolderOnDisk&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

/// How often this process has given up its processor to wait.
inline long waits_so_far() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

}  // namespace sotto::test
