#pragma once

#include <filesystem>
#include <map>

namespace sotto {

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
