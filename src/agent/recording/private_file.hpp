#pragma once

// Files that nobody but their owner can read; not installed.

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace sotto {

/// `folder`/<agent>, which only its owner can enter; made where it is not there.
/// @throws ConfigError if it cannot be made.
[[nodiscard]] std::filesystem::path private_folder(const std::filesystem::path& folder, int agent);

/// A new file that only its owner can read. @throws ConfigError, from all functions, if it cannot
/// be written; never into a file that is there.
class PrivateFile {
  public:
    explicit PrivateFile(std::filesystem::path path);
    void append(const void* bytes, std::size_t size);
    void flush();
    /// Nothing can be appended afterwards.
    void close();
    [[nodiscard]] bool open() const { return file_ != nullptr; }

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::filesystem::path path_;
    std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace sotto
