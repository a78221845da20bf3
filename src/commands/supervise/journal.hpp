#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

namespace sotto::cli {

/// What a supervisor does, with the time: lines of restarts.txt in the run directory, and of
/// standard error.
class Journal {
  public:
    /// @param quiet nothing to standard error.
    Journal(std::filesystem::path file, bool quiet) : file_(std::move(file)), quiet_(quiet) {}
    /// What cannot be written is said all the same.
    void note(std::string_view words) const;
    /// Whether it is still there: where it has gone the run directory has.
    [[nodiscard]] bool is_there() const { return std::filesystem::exists(file_); }
    [[nodiscard]] const std::filesystem::path& file() const { return file_; }

  private:
    std::filesystem::path file_;
    bool quiet_;
};

}  // namespace sotto::cli
