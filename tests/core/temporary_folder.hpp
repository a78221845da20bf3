#pragma once

#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sotto::test {

/// A folder of one test, removed at its end.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string name = std::filesystem::temp_directory_path() / "sotto-XXXXXX";
        if (::mkdtemp(name.data()) == nullptr)
            throw std::runtime_error("no folder like " + name + " can be made");
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::string path(const std::string& name) const { return path_ / name; }
    /// Writes a file and returns its path.
    std::string write(const std::string& name, std::string_view content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
        return path(name);
    }
    /// The same, compressed.
    [[nodiscard]] std::string write_gzip(const std::string& name,
                                         const std::string& content) const {
        gzFile file = ::gzopen(path(name).c_str(), "wb");
        const bool written =
            file != nullptr &&
            ::gzwrite(file, content.data(), static_cast<unsigned>(content.size())) ==
                static_cast<int>(content.size());
        if (::gzclose(file) != Z_OK || !written)
            throw std::runtime_error(path(name) + " cannot be written");
        return path(name);
    }
    /// How many files and folders it holds.
    [[nodiscard]] std::ptrdiff_t entries() const {
        return std::distance(std::filesystem::directory_iterator(path_), {});
    }

  private:
    std::filesystem::path path_;
};

}  // namespace sotto::test
