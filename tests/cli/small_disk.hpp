#pragma once

#include <sys/mount.h>

#include <filesystem>
#include <string>
#include <utility>

namespace sotto::test {

/// A disk of its own, in memory; where that is permitted.
class SmallDisk {
  public:
    static constexpr const char* not_permitted = "a small disk cannot be mounted here";
    /// @param size as mount takes it, for example "128k".
    SmallDisk(std::string path, const std::string& size) : path_(std::move(path)) {
        std::filesystem::create_directory(path_);
        mounted_ = ::mount("none", path_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
    }
    ~SmallDisk() {
        if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    [[nodiscard]] bool mounted() const { return mounted_; }
    [[nodiscard]] bool resize(const std::string& size) const {
        return ::mount("none", path_.c_str(), "tmpfs", MS_REMOUNT, ("size=" + size).c_str()) == 0;
    }

  private:
    std::string path_;
    bool mounted_ = false;
};

}  // namespace sotto::test
