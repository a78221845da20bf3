#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string_view>

namespace sotto {

/// @throws as throw_write_failure does, with the path and what errno says.
[[noreturn]] void throw_unwritable(const std::filesystem::path& path);

/// The folder that a file is in.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& file);

/// Waits until the content of a file, or the names in a folder, are on disk (fsync). Several wait
/// at the same time, which takes a disk little longer than one. What may be written to but not
/// read, or is gone by now, and file systems that know no flush of folders are passed over.
/// @throws as throw_unwritable does.
void flush_to_disk(std::span<const std::filesystem::path> paths);
/// @param told the names that the error has instead.
void flush_to_disk(std::span<const std::filesystem::path> paths,
                   std::span<const std::filesystem::path> told);
void flush_to_disk(const std::filesystem::path& path);

/// erase_file of several, at the time of about one. @throws as it does; the others are erased too.
void erase_files(std::span<const std::filesystem::path> paths);

/// All bytes, whatever interrupts. On failure errno says why.
[[nodiscard]] bool write_all(int file, std::string_view content);

/// Files that this thread writes together: until commit(), write_file_atomically leaves what it
/// wrote under its temporary name. Then all are flushed, take their places, and are on disk when it
/// returns, as if each had been written by itself, but the disk is waited for twice instead of
/// twice a file. Until then readers, this thread too, see the files of before; what was not
/// committed is removed. After a crash none of them may be in place, some, or all.
class FileBatch {
  public:
    FileBatch();
    ~FileBatch();
    FileBatch(const FileBatch&) = delete;
    FileBatch& operator=(const FileBatch&) = delete;

    /// @throws as throw_write_failure does, with path and reason.
    void commit();

    /// That of this thread, or nothing.
    [[nodiscard]] static FileBatch* current();
    /// What write_file_atomically has written. @param to_disk whether it is waited for.
    /// Written once more, a file has the same temporary name.
    void add(const std::filesystem::path& temporary, std::filesystem::path target, bool to_disk);

  private:
    struct Entry {
        std::filesystem::path target;
        bool to_disk = true;
    };
    std::map<std::filesystem::path, Entry> entries_;  // by temporary name
    FileBatch* outer_;
};

}  // namespace sotto
