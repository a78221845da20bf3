#include "core/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "core/disk.hpp"
#include "core/host.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

namespace {

std::string npy_header(const std::string& shape) {
    std::string dictionary =
        fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': {}, }}", shape);
    // The data starts at a multiple of 64 bytes; magic, version and length take 10.
    const std::size_t total = (10 + dictionary.size() + 1 + 63) / 64 * 64;
    dictionary.append(total - 10 - dictionary.size() - 1, ' ');
    dictionary += '\n';
    std::string header("\x93NUMPY\x01\x00", 8);
    header += static_cast<char>(dictionary.size() & 0xff);
    header += static_cast<char>(dictionary.size() >> 8);
    return header + dictionary;
}

std::string_view raw_bytes(std::span<const double> values) {
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

/// Writes an array of this shape with values in C order.
void write_array(const std::filesystem::path& path,
                 const std::string& shape,
                 std::span<const double> values,
                 Readers readers) {
    const std::string header = npy_header(shape);
    const std::array<std::string_view, 2> parts{header, raw_bytes(values)};
    write_file_atomically(path, parts, readers);
}

std::filesystem::path temporary_of(const std::filesystem::path& path) {
    std::filesystem::path temporary = path;
    temporary += fmt::format(".part.{}", ::getpid());
    return temporary;
}

/// The target of a link, so that the file behind it is replaced and not the link.
std::filesystem::path followed(const std::filesystem::path& path) {
    std::error_code missing;
    if (!std::filesystem::is_symlink(path, missing)) return path;
    const std::filesystem::path target = std::filesystem::canonical(path, missing);
    return missing ? path : target;
}

/// A device or pipe, such as /dev/null, must be written to: renaming over it would destroy it.
bool is_special(const std::filesystem::path& path) {
    std::error_code missing;
    const auto status = std::filesystem::status(path, missing);
    return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
           !std::filesystem::is_directory(status);
}

/// Writes and closes. On failure errno has the reason.
bool write_and_close(int file, std::span<const std::string_view> parts, bool to_disk) {
    const bool good =
        std::ranges::all_of(parts, [&](std::string_view part) { return write_all(file, part); }) &&
        (!to_disk || ::fsync(file) == 0);
    const int reason = errno;
    ::close(file);
    errno = reason;
    return good;
}

mode_t mode_for(Readers readers) { return readers == Readers::owner ? 0600 : 0644; }

/// Creates a new file: one left by a killed process has its own mode and may be a link.
int create(const std::filesystem::path& path, Readers readers) {
    ::unlink(path.c_str());
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_for(readers));
}

}  // namespace

void throw_write_failure(const std::string& message, int reason) {
    constexpr std::array of_the_disk{ENOSPC, EDQUOT, EFBIG, EIO};
    throw_error(std::ranges::find(of_the_disk, reason) == of_the_disk.end() ? ExitCode::usage
                                                                            : ExitCode::storage,
                message);
}

void require_writable(const std::filesystem::path& path) {
    const std::filesystem::path target = followed(path);
    if (std::filesystem::is_directory(target)) {
        errno = EISDIR;
        throw_unwritable(path);
    }
    if (is_special(target)) {
        if (::access(target.c_str(), W_OK) != 0) throw_unwritable(path);
        return;
    }
    const std::filesystem::path temporary = temporary_of(target);
    const int file = create(temporary, Readers::owner);
    if (file < 0) throw_unwritable(path);
    ::close(file);
    ::unlink(temporary.c_str());
}

void write_file_atomically(const std::filesystem::path& path,
                           std::string_view content,
                           Readers readers) {
    write_file_atomically(path, std::span(&content, 1), readers);
}

void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::string_view> parts,
                           Readers readers) {
    const std::filesystem::path target = followed(path);
    if (is_special(target)) {
        const int file = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
        if (file < 0) throw_unwritable(path);
        if (!write_and_close(file, parts, false)) throw_unwritable(path);
        return;
    }
    const std::filesystem::path temporary = temporary_of(target);
    const int file = create(temporary, readers);
    if (file < 0) throw_unwritable(path);
    const bool to_disk = !is_scratch(target);
    FileBatch* const batch = FileBatch::current();
    bool good = write_and_close(file, parts, to_disk && batch == nullptr);
    if (good && batch != nullptr) return batch->add(temporary, target, to_disk);
    good = good && ::rename(temporary.c_str(), target.c_str()) == 0;
    if (!good) {
        const int failure = errno;
        ::unlink(temporary.c_str());
        errno = failure;
        throw_unwritable(path);
    }
    if (to_disk) flush_to_disk(folder_of(target));
}

void erase_file(const std::filesystem::path& path) { erase_files(std::span(&path, 1)); }

std::error_code make_private_folder(const std::filesystem::path& folder) {
    std::error_code failure;
    if (folder.empty() || std::filesystem::is_directory(folder, failure)) return {};
    if (const std::error_code above = make_private_folder(folder.parent_path())) return above;
    // Another process may have made it meanwhile.
    if (::mkdir(folder.c_str(), 0700) == 0) return {};
    const std::error_code reason(errno == EEXIST ? ENOTDIR : errno, std::generic_category());
    return std::filesystem::is_directory(folder, failure) ? std::error_code() : reason;
}

bool create_file(const std::filesystem::path& path, std::string_view content, Readers readers) {
    const int file =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_for(readers));
    if (file < 0 && errno == EEXIST) return false;
    if (file < 0) throw_unwritable(path);
    if (!write_and_close(file, std::span(&content, 1), false)) throw_unwritable(path);
    return true;
}

std::optional<FileLock> FileLock::take(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) throw_unwritable(path);
    FileLock lock;
    lock.held_.reset(new int(file), [](void* held) {
        ::close(*static_cast<int*>(held));
        delete static_cast<int*>(held);
    });
    if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::nullopt;
    return lock;
}

std::string read_file(const std::filesystem::path& path, std::uint64_t most_bytes) {
    RegularFile file(path);
    if (file.size() > most_bytes)
        throw DataError(fmt::format(
            "{}: has {} bytes, at most {} are read", path.string(), file.size(), most_bytes));
    // The file may grow meanwhile, and files generated by the kernel have size 0.
    constexpr std::size_t piece = 1 << 16;
    std::string content(static_cast<std::size_t>(file.size()) + 1, '\0');
    std::size_t size = 0;
    while (const std::size_t count = file.read(content.data() + size, content.size() - size)) {
        size += count;
        if (size > most_bytes)
            throw DataError(fmt::format("{}: has more than {} bytes", path.string(), most_bytes));
        if (size == content.size()) content.resize(size + piece);
    }
    content.resize(size);
    if (content.empty()) throw DataError(fmt::format("{}: cannot be read (empty)", path.string()));
    return content;
}

std::uint64_t most_array_bytes() { return available_memory_bytes() / 4; }

void write_npy(const std::filesystem::path& path, std::span<const double> vector, Readers readers) {
    write_array(path, fmt::format("({},)", vector.size()), vector, readers);
}

void write_npy(const std::filesystem::path& path, const Eigen::MatrixXd& matrix, Readers readers) {
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = matrix;
    write_array(path,
                fmt::format("({}, {})", matrix.rows(), matrix.cols()),
                {rows.data(), static_cast<std::size_t>(rows.size())},
                readers);
}

Eigen::MatrixXd read_npy(const std::filesystem::path& path) {
    const std::string content = read_file(path, most_array_bytes());
    const auto fail = [&](const std::string& reason) {
        return DataError(fmt::format("{}: not a usable .npy file ({})", path.string(), reason));
    };
    if (content.size() < 10 || content.compare(0, 6, "\x93NUMPY") != 0)
        throw fail("it does not start with the NumPy signature");
    if (content[6] != 1) throw fail("only format version 1.0 is read");
    const std::size_t header_size =
        static_cast<std::uint8_t>(content[8]) |
        (static_cast<std::size_t>(static_cast<std::uint8_t>(content[9])) << 8);
    if (content.size() < 10 + header_size) throw fail("the header is cut short");
    const std::string header = content.substr(10, header_size);
    const auto value_of = [&](const std::string& key) {
        const std::size_t at = header.find("'" + key + "':");
        if (at == std::string::npos) throw fail("its header has no '" + key + "'");
        const std::size_t begin = header.find_first_not_of(' ', at + key.size() + 3);
        return begin == std::string::npos ? std::string() : header.substr(begin);
    };
    if (!value_of("descr").starts_with("'<f8'")) throw fail("its values are not float64 ('<f8')");
    const bool fortran_order = value_of("fortran_order").starts_with("True");
    const std::string shape = value_of("shape");
    std::vector<Eigen::Index> sizes;
    for (std::size_t at = 1; shape.starts_with("(") && at < shape.size() && shape[at] != ')';) {
        Eigen::Index size = 0;
        const auto [end, status] =
            std::from_chars(shape.data() + at, shape.data() + shape.size(), size);
        if (status != std::errc() || size < 0)
            throw fail("its shape is " + shape.substr(0, shape.find(')') + 1));
        sizes.push_back(size);
        at = shape.find_first_not_of(", ", static_cast<std::size_t>(end - shape.data()));
        if (at == std::string::npos) break;
    }
    if (sizes.empty() || sizes.size() > 2)
        throw fail(fmt::format("it has {} dimensions, 1 or 2 are read", sizes.size()));
    const Eigen::Index rows = sizes[0];
    const Eigen::Index columns = sizes.size() == 2 ? sizes[1] : 1;
    const std::size_t data_size = content.size() - 10 - header_size;
    const std::size_t values = data_size / sizeof(double);
    const bool consistent = data_size % sizeof(double) == 0 &&
                            (columns == 0 ? values == 0
                                          : values % static_cast<std::size_t>(columns) == 0 &&
                                                values / static_cast<std::size_t>(columns) ==
                                                    static_cast<std::size_t>(rows));
    if (!consistent)
        throw fail(
            fmt::format("{} x {} values announced, {} bytes found", rows, columns, data_size));
    Eigen::MatrixXd matrix(rows, columns);
    if (data_size > 0) std::memcpy(matrix.data(), content.data() + 10 + header_size, data_size);
    // An empty array needs no reordering, and its other dimension may be anything.
    if (!fortran_order && columns > 1 && data_size > 0) {
        const Eigen::Map<
            const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>
            in_c_order(matrix.data(), rows, columns);
        return Eigen::MatrixXd(in_c_order);
    }
    return matrix;
}

namespace {

std::string_view kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

}  // namespace

RegularFile::RegularFile(const std::filesystem::path& path) : path_(path) {
    // Non-blocking: opening a pipe without a writer must not hang the job.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
        const int reason = errno;
        if (descriptor_ >= 0) ::close(descriptor_);
        throw DataError(
            fmt::format("{}: cannot be read ({})", path.string(), std::strerror(reason)));
    }
    if (!S_ISREG(status.st_mode)) {
        ::close(descriptor_);
        throw DataError(fmt::format(
            "{}: is {}, not a file; only files are read", path.string(), kind_of(status.st_mode)));
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
}

RegularFile::~RegularFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

std::size_t RegularFile::read(char* target, std::size_t size) {
    std::size_t got = 0;
    while (got < size) {
        const ssize_t count = ::read(descriptor_, target + got, size - got);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0)
            throw DataError(
                fmt::format("{}: cannot be read ({})", path_.string(), std::strerror(errno)));
        if (count == 0) break;
        got += static_cast<std::size_t>(count);
    }
    return got;
}

void RegularFile::skip_to(std::uint64_t offset) {
    if (::lseek(descriptor_, static_cast<off_t>(offset), SEEK_SET) < 0)
        throw DataError(
            fmt::format("{}: cannot be read ({})", path_.string(), std::strerror(errno)));
}

int RegularFile::release() { return std::exchange(descriptor_, -1); }

namespace fs = std::filesystem;

namespace {

/// Scratch folders of this process.
struct ScratchFolders {
    std::atomic<int> count{0};  // most processes have none and need no lock
    std::mutex mutex;
    std::vector<fs::path> folders;
};

ScratchFolders& scratch_folders() {
    static ScratchFolders known;
    return known;
}

bool is_below(const fs::path& file, const fs::path& folder) {
    return std::ranges::mismatch(folder, file).in1 == folder.end();
}

}  // namespace

ScratchFolder::ScratchFolder(const fs::path& folder)
    : folder_(fs::weakly_canonical(fs::absolute(folder)).lexically_normal()) {
    ScratchFolders& known = scratch_folders();
    const std::scoped_lock guard(known.mutex);
    known.folders.push_back(folder_);
    ++known.count;
}

ScratchFolder::~ScratchFolder() {
    ScratchFolders& known = scratch_folders();
    const std::scoped_lock guard(known.mutex);
    known.folders.erase(std::ranges::find(known.folders, folder_));
    --known.count;
}

void ScratchFolder::flush() const {
    const int file = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT) return;
    const bool good = file >= 0 && ::syncfs(file) == 0;
    const int reason = errno;
    if (file >= 0) ::close(file);
    errno = reason;
    if (!good) throw_unwritable(folder_);
}

bool is_scratch(const fs::path& file) {
    ScratchFolders& known = scratch_folders();
    if (known.count == 0) return false;
    std::error_code failure;
    const fs::path whole = fs::weakly_canonical(fs::absolute(file, failure), failure);
    const std::scoped_lock guard(known.mutex);
    return !failure && std::ranges::any_of(known.folders, [&](const fs::path& folder) {
        return is_below(whole, folder);
    });
}

}  // namespace sotto
