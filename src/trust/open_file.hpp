#pragma once

// Files by their descriptors, where streams say too little; not installed.

#include <unistd.h>

#include <filesystem>
#include <utility>

namespace sotto {

/// A file that closes itself.
class OpenFile {
  public:
    explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
    OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    OpenFile& operator=(OpenFile&&) = delete;
    ~OpenFile() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] int get() const { return descriptor_; }
    [[nodiscard]] bool open() const { return descriptor_ >= 0; }

  private:
    int descriptor_;
};

/// @param reason an error number of the system.  @throws as throw_write_failure does, (files.hpp).
[[noreturn]] void throw_unwritable(const std::filesystem::path& path, int reason);

}  // namespace sotto
