#pragma once

#include <filesystem>

namespace sotto {

/// A folder whose files need not outlast a loss of power, for as long as this object is there: in
/// it, and in all folders below, write_file_atomically does not wait for the disk, which is most of
/// the time of a short training (two waits a file, several files an agent). Readers, and a process
/// that is killed, still find the old content or the new. erase_file waits as ever. Known to the
/// whole process; the folder may be made later.
class ScratchFolder {
  public:
    explicit ScratchFolder(const std::filesystem::path& folder);
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    /// Waits until what is there is on disk, at once (syncfs: whatever else its file system has
    /// not written yet, too). Nothing where there is no folder.
    /// @throws as throw_write_failure does, with path and reason.
    void flush() const;

  private:
    std::filesystem::path folder_;
};

/// Whether a file is, or would be, in such a folder.
[[nodiscard]] bool is_scratch(const std::filesystem::path& file);

}  // namespace sotto
