#pragma once

// Files of a run that are made from copies; not installed.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

/// Whether restored files are there for good, or only as long as a dry run looks at them.
enum class Stay { for_good, for_a_look };

/// Writes files of a run directory that were lost. Those for a look go with this object, and so do
/// the folders that were made for them; what was there before is there again. (Not where the
/// process is killed meanwhile: then they are those of a start that was.)
class RestoredFiles {
  public:
    /// @param directory of the run. Several processes may restore into it at once: what of it was
    /// not there when this was made goes with the last of them.
    explicit RestoredFiles(Stay stay, const std::filesystem::path& directory = {});
    ~RestoredFiles();
    RestoredFiles(const RestoredFiles&) = delete;
    RestoredFiles& operator=(const RestoredFiles&) = delete;

    /// In one step (write_file_atomically), for their owner alone; folders are made as needed.
    /// @throws as throw_write_failure does.
    void write(const std::filesystem::path& file, std::string_view bytes);
    [[nodiscard]] Stay stay() const { return stay_; }

  private:
    void make_folder(const std::filesystem::path& folder);
    /// Empty folders of the run's directory in which the file was, and the directory.
    void remove_empty_around(const std::filesystem::path& file) const;
    struct Written {
        std::filesystem::path file;
        std::optional<std::string> before;
    };
    Stay stay_;
    std::filesystem::path directory_;
    std::vector<std::filesystem::path> missing_;  // the directory and those above, innermost first
    std::vector<Written> files_;
    std::vector<std::filesystem::path> folders_;  // from the outermost on
};

}  // namespace sotto
