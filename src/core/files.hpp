#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace sotto {

/// Who can read a file that is made: everybody whom the process's umask lets (mode 0644), or its
/// owner alone (0600).
enum class Readers { everybody, owner };

/// What a file or folder that cannot be written ends the job with: the storage code (9) where the
/// disk is the reason (full, over quota, failing; `reason` as in errno), so that no other name
/// mends it; usage (2) otherwise.
/// @throws Error with that code, ConfigError for usage.
[[noreturn]] void throw_write_failure(const std::string& message, int reason);

/// Replaces a file in one step: a reader (or a crash) sees the old content or the new, never half.
/// Writes to a temporary name in the same folder, flushes to disk, renames, flushes the folder: the
/// new content outlasts a loss of power after the call, but not in a ScratchFolder (in src/core). A
/// link is followed; a device or pipe is written to.
/// @throws as throw_write_failure does, with path and reason, if it cannot be written.
void write_file_atomically(const std::filesystem::path& path,
                           std::string_view content,
                           Readers readers = Readers::everybody);
/// The same of content in parts, written one behind the other from where they are.
void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::string_view> parts,
                           Readers readers = Readers::everybody);

/// Overwrites a file with zeros, on disk, and removes it, on disk too; nothing where there is none.
/// What a file system or a drive keeps elsewhere (snapshots, journals, cells it remaps) it does not
/// reach. @throws as throw_write_failure does, with path and reason, if it cannot be removed.
void erase_file(const std::filesystem::path& path);

/// Makes a folder, and those above it, where they are not there yet; only their owner can enter
/// what is made (mode 0700). One that is there keeps its mode. @return why it cannot be made.
[[nodiscard]] std::error_code make_private_folder(const std::filesystem::path& folder);

/// Finds out now whether write_file_atomically would fail later; leaves nothing behind.
/// @throws as throw_write_failure does, with path and reason.
void require_writable(const std::filesystem::path& path);

/// Bytes that a document may have: options, ledgers, rosters. Parsed, it takes many times as much.
inline constexpr std::uint64_t most_document_bytes = std::uint64_t{64} << 20;

/// A regular file as a whole.
/// @throws DataError with path and reason if it cannot be read, is empty, has more bytes than
/// allowed, or is a pipe, a device or a folder.
[[nodiscard]] std::string read_file(const std::filesystem::path& path,
                                    std::uint64_t most_bytes = most_document_bytes);

/// Bytes that a file of models or matrices may have: a quarter of the memory that is free, since it
/// is held twice.
[[nodiscard]] std::uint64_t most_array_bytes();

/// Makes a new file with this content. @return false if it was there already: of processes that all
/// try, on hosts that share the folder too, one has true.
/// @throws as throw_write_failure does, with path and reason, if it cannot be made.
[[nodiscard]] bool create_file(const std::filesystem::path& path,
                               std::string_view content,
                               Readers readers = Readers::everybody);

/// Keeps other processes from a file until it and its copies are gone, or the process ends.
class FileLock {
  public:
    /// Creates the file if it is not there. @return nothing if another process holds the lock; a
    /// file system without locks keeps nobody out. @throws as throw_write_failure does if it cannot
    /// be opened.
    [[nodiscard]] static std::optional<FileLock> take(const std::filesystem::path& path);

  private:
    std::shared_ptr<void> held_;
};

/// NumPy .npy, version 1.0, little-endian float64. Vectors are written from where they are,
/// matrices in C order.
void write_npy(const std::filesystem::path& path,
               std::span<const double> vector,
               Readers readers = Readers::everybody);
void write_npy(const std::filesystem::path& path,
               const Eigen::MatrixXd& matrix,
               Readers readers = Readers::everybody);
/// Reads a one- or two-dimensional float64 array, C or Fortran order; a vector becomes n x 1.
/// @throws DataError naming the file and what is wrong with it.
[[nodiscard]] Eigen::MatrixXd read_npy(const std::filesystem::path& path);

// Files that are read, by their descriptors.

/// A regular file, open for reading. Pipes, devices and folders are refused at once: opening a pipe
/// would wait for whoever writes to it, and a device need not end.
class RegularFile {
  public:
    /// @throws DataError with path and reason.
    explicit RegularFile(const std::filesystem::path& path);
    ~RegularFile();
    RegularFile(const RegularFile&) = delete;
    RegularFile& operator=(const RegularFile&) = delete;

    /// Bytes, as the file system says: 0 for files that the kernel makes up.
    [[nodiscard]] std::uint64_t size() const { return size_; }
    /// Up to `size` bytes; fewer, and at last none, at its end. @throws DataError.
    [[nodiscard]] std::size_t read(char* target, std::size_t size);
    /// Who takes the descriptor closes it.
    [[nodiscard]] int release();

  private:
    std::filesystem::path path_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0;
};

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
