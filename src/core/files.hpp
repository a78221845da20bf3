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

/// Who can read a new file: everybody the umask allows (mode 0644), or its owner only (0600).
enum class Readers { everybody, owner };

/// Ends the job because a file or folder cannot be written. The code is storage (9) if the disk is
/// the reason (full, over quota, failing; `reason` as in errno), usage (2) otherwise.
/// @throws Error with that code, ConfigError for usage.
[[noreturn]] void throw_write_failure(const std::string& message, int reason);

/// Replaces a file in one step: after a crash it has the old content or the new. Writes a temporary
/// file in the same folder, flushes it, renames it and flushes the folder, so that the new content
/// is durable after the call (not in a ScratchFolder). Links are followed; devices and pipes are
/// written to directly.
/// @throws as throw_write_failure, with path and reason.
void write_file_atomically(const std::filesystem::path& path,
                           std::string_view content,
                           Readers readers = Readers::everybody);
/// The same for the concatenation of parts.
void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::string_view> parts,
                           Readers readers = Readers::everybody);

/// Overwrites a file with zeros and removes it, both flushed to disk; does nothing without a file.
/// It does not reach copies kept elsewhere by a file system or drive (snapshots, journals, remapped
/// cells).
/// @throws as throw_write_failure, with path and reason, if it cannot be removed.
void erase_file(const std::filesystem::path& path);

/// Creates a folder and its missing parents with mode 0700. An existing folder keeps its mode.
/// @return the error if it cannot be made.
[[nodiscard]] std::error_code make_private_folder(const std::filesystem::path& folder);

/// Checks whether write_file_atomically would fail; leaves nothing behind.
/// @throws as throw_write_failure, with path and reason.
void require_writable(const std::filesystem::path& path);

/// Largest size in bytes of a document: options, ledgers, rosters. Parsed, it takes many times as
/// much.
inline constexpr std::uint64_t most_document_bytes = std::uint64_t{64} << 20;

/// Reads a whole regular file.
/// @throws DataError with path and reason if it cannot be read, is empty, is too large, or is a
/// pipe, a device or a folder.
[[nodiscard]] std::string read_file(const std::filesystem::path& path,
                                    std::uint64_t most_bytes = most_document_bytes);

/// Largest size in bytes of a file of models or matrices: a quarter of the free memory, since it is
/// held twice.
[[nodiscard]] std::uint64_t most_array_bytes();

/// Creates a new file with this content.
/// @return false if it exists. Exactly one of several processes gets true, also across hosts.
/// @throws as throw_write_failure, with path and reason.
[[nodiscard]] bool create_file(const std::filesystem::path& path,
                               std::string_view content,
                               Readers readers = Readers::everybody);

/// Locks a file against other processes until this and its copies are destroyed, or the process
/// ends.
class FileLock {
  public:
    /// Creates the file if needed.
    /// @return nothing if another process holds the lock. On a file system without locks it always
    /// succeeds.
    /// @throws as throw_write_failure if it cannot be opened.
    [[nodiscard]] static std::optional<FileLock> take(const std::filesystem::path& path);

  private:
    std::shared_ptr<void> held_;
};

/// Writes NumPy .npy, version 1.0, little-endian float64; matrices in C order.
void write_npy(const std::filesystem::path& path,
               std::span<const double> vector,
               Readers readers = Readers::everybody);
void write_npy(const std::filesystem::path& path,
               const Eigen::MatrixXd& matrix,
               Readers readers = Readers::everybody);
/// Reads a one- or two-dimensional float64 array, C or Fortran order; a vector becomes n x 1.
/// @throws DataError naming the file and what is wrong with it.
[[nodiscard]] Eigen::MatrixXd read_npy(const std::filesystem::path& path);

// Reading files by descriptor.

/// A regular file, open for reading. Pipes, devices and folders are refused at once: opening a pipe
/// could block, and a device may be endless.
class RegularFile {
  public:
    /// @throws DataError with path and reason.
    explicit RegularFile(const std::filesystem::path& path);
    ~RegularFile();
    RegularFile(const RegularFile&) = delete;
    RegularFile& operator=(const RegularFile&) = delete;

    /// Size in bytes according to the file system: 0 for files that the kernel generates.
    [[nodiscard]] std::uint64_t size() const { return size_; }
    /// Reads up to `size` bytes; fewer, finally none, at the end.
    /// @throws DataError.
    [[nodiscard]] std::size_t read(char* target, std::size_t size);
    /// The next read begins here; beyond the end it gives nothing. @throws DataError.
    void skip_to(std::uint64_t offset);
    /// Returns the descriptor; the caller must close it.
    [[nodiscard]] int release();

  private:
    std::filesystem::path path_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0;
};

/// While this object exists, write_file_atomically does not wait for the disk in this folder and
/// all below, because its files need not outlast a loss of power. The waits are most of the time of
/// a short training. Readers, and a killed process, still find the old content or the new.
/// erase_file waits as always. Applies to the whole process; the folder need not exist yet.
class ScratchFolder {
  public:
    explicit ScratchFolder(const std::filesystem::path& folder);
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    /// Flushes the folder to disk at once (syncfs, which flushes its whole file system). Does
    /// nothing without a folder.
    /// @throws as throw_write_failure, with path and reason.
    void flush() const;

  private:
    std::filesystem::path folder_;
};

/// Whether a path is in such a folder.
[[nodiscard]] bool is_scratch(const std::filesystem::path& file);

}  // namespace sotto
