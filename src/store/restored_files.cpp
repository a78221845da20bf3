#include "store/restored_files.hpp"

#include <algorithm>
#include <limits>
#include <ranges>
#include <system_error>

#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "store/folders.hpp"

namespace sotto {

namespace fs = std::filesystem;

RestoredFiles::RestoredFiles(Stay stay, const fs::path& directory)
    : stay_(stay), directory_(directory) {
    for (fs::path above = directory; !above.empty() && !fs::exists(above);
         above = above.parent_path())
        missing_.push_back(above);
}

void RestoredFiles::remove_empty_around(const fs::path& file) const {
    if (directory_.empty()) return;
    std::error_code ignored;
    const std::string inside = (directory_ / "").string();
    for (fs::path folder = file.parent_path(); folder.string().starts_with(inside);
         folder = folder.parent_path())
        fs::remove(folder, ignored);
    for (const fs::path& folder : missing_) fs::remove(folder, ignored);
}

void RestoredFiles::make_folder(const fs::path& folder) {
    std::vector<fs::path> missing;
    for (fs::path above = folder; !above.empty() && !fs::exists(above); above = above.parent_path())
        missing.push_back(above);
    create_folder(folder);
    std::ranges::copy(missing | std::views::reverse, std::back_inserter(folders_));
}

void RestoredFiles::write(const fs::path& file, std::string_view bytes) {
    make_folder(file.parent_path());
    if (stay_ == Stay::for_a_look) {
        std::optional<std::string> before;
        if (fs::exists(file)) before = read_file(file, std::numeric_limits<std::uint64_t>::max());
        files_.push_back({file, std::move(before)});
    }
    write_file_atomically(file, bytes, Readers::owner);
}

RestoredFiles::~RestoredFiles() {
    if (stay_ == Stay::for_good) return;
    std::error_code ignored;
    for (const Written& written : files_ | std::views::reverse) try {
            if (written.before)
                write_file_atomically(written.file, *written.before, Readers::owner);
            else
                fs::remove(written.file, ignored);
        } catch (const Error&) {
            // What a dry run has found is told all the same.
        }
    for (const fs::path& folder : folders_ | std::views::reverse) fs::remove(folder, ignored);
    for (const Written& written : files_) remove_empty_around(written.file);
}

}  // namespace sotto
