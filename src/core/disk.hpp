#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string_view>

namespace sotto {

/// @throws as throw_write_failure, with path and errno.
[[noreturn]] void throw_unwritable(const std::filesystem::path& path);

/// The folder that contains a file.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& file);

/// Waits until the content of files, or the names in folders, are on disk (fsync). Several are
/// flushed at the same time, which takes a disk little longer than one; of more than 512 the whole
/// file systems are (syncfs), which takes one wait, however many they are. Paths that are gone or
/// not readable, and folders on file systems that cannot flush them, are skipped.
/// @throws as throw_unwritable.
void flush_to_disk(std::span<const std::filesystem::path> paths);
/// @param told paths to name in errors instead.
void flush_to_disk(std::span<const std::filesystem::path> paths,
                   std::span<const std::filesystem::path> told);
void flush_to_disk(const std::filesystem::path& path);

/// erase_file of several files, in about the time of one.
/// @throws as it does, after erasing the others.
void erase_files(std::span<const std::filesystem::path> paths);

/// Writes all bytes, also when interrupted. On failure errno has the reason.
[[nodiscard]] bool write_all(int file, std::string_view content);

/// Files that this thread writes together: until commit(), write_file_atomically leaves its files
/// under temporary names. commit() flushes all, renames them and flushes their folders, with two
/// waits for the disk instead of two a file. Before it readers, including this thread, see the old
/// files; files that are not committed are removed. After a crash during commit(), any number of
/// them may be in place.
class FileBatch {
  public:
    FileBatch();
    ~FileBatch();
    FileBatch(const FileBatch&) = delete;
    FileBatch& operator=(const FileBatch&) = delete;

    /// @throws as throw_write_failure, with path and reason.
    void commit();

    /// The current batch of this thread, or null.
    [[nodiscard]] static FileBatch* current();
    /// Called by write_file_atomically. A file that is written again has the same temporary name.
    /// @param to_disk whether commit() waits for the disk.
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
