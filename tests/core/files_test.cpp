#include "core/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "core/folder_on_disk.hpp"
#include "core/numbers.hpp"
#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;
using test::TemporaryFolder;

/// A .npy file written by hand.
std::string npy(const std::string& dictionary, const std::vector<double>& values) {
    const std::string header = dictionary + "\n";
    std::string content("\x93NUMPY\x01\x00", 8);
    content += static_cast<char>(header.size() & 0xff);
    content += static_cast<char>(header.size() >> 8);
    content += header;
    content.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
    return content;
}

Eigen::MatrixXd awkward_matrix(Eigen::Index rows, Eigen::Index columns) {
    Eigen::MatrixXd matrix(rows, columns);
    for (Eigen::Index i = 0; i < rows; ++i)
        for (Eigen::Index j = 0; j < columns; ++j)
            matrix(i, j) = 1.0 / static_cast<double>(1 + i) - static_cast<double>(j) * 0.1;
    matrix(0, 0) = std::numeric_limits<double>::denorm_min();
    if (columns > 1) matrix(0, 1) = -infinity;
    return matrix;
}

bool same_bits(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) ==
               0;
}

std::filesystem::perms mode_of(const std::filesystem::path& path) {
    return std::filesystem::status(path).permissions();
}

/// What new files may at most have, as long as it lives.
class Umask {
  public:
    explicit Umask(mode_t mask) : before_(::umask(mask)) {}
    ~Umask() { ::umask(before_); }
    Umask(const Umask&) = delete;
    Umask& operator=(const Umask&) = delete;

  private:
    mode_t before_;
};

TEST(WriteFileAtomically, LetsReadWhomItIsTold) {
    const TemporaryFolder folder;
    const auto path = folder.path("file");
    const auto expect_mode = [&](Readers readers, unsigned mode) {
        write_file_atomically(path, "x", readers);
        EXPECT_EQ(mode_of(path), std::filesystem::perms(mode));
    };
    const Umask none(0);
    expect_mode(Readers::everybody, 0644);
    // Whatever was there, and whatever a process that was killed left beside it.
    const auto left = folder.path("file.part." + std::to_string(::getpid()));
    std::ofstream(left) << "of another time";
    std::filesystem::permissions(left, std::filesystem::perms::all);
    expect_mode(Readers::owner, 0600);
    const Umask strict(077);
    expect_mode(Readers::everybody, 0600);
    expect_mode(Readers::owner, 0600);
    EXPECT_TRUE(create_file(folder.path("new"), "x", Readers::owner));
    EXPECT_EQ(mode_of(folder.path("new")), std::filesystem::perms(0600));
    write_npy(folder.path("a.npy"), std::array{1.0, 2.0}, Readers::owner);
    EXPECT_EQ(mode_of(folder.path("a.npy")), std::filesystem::perms(0600));
}

TEST(WriteFileAtomically, WritesPartsOneBehindTheOther) {
    const TemporaryFolder folder;
    const std::array<std::string_view, 4> parts{"ab", "", std::string_view("\0c", 2), "d"};
    write_file_atomically(folder.path("file"), parts);
    EXPECT_EQ(read_file(folder.path("file")), std::string("ab\0cd", 5));
}

TEST(MakePrivateFolder, LetsNobodyElseIntoWhatItMakes) {
    const TemporaryFolder folder;
    const Umask none(0);
    std::filesystem::create_directories(folder.path("there"));
    const auto before = mode_of(folder.path("there"));
    EXPECT_FALSE(make_private_folder(folder.path("there/a/b")));
    EXPECT_EQ(mode_of(folder.path("there/a")), std::filesystem::perms::owner_all);
    EXPECT_EQ(mode_of(folder.path("there/a/b")), std::filesystem::perms::owner_all);
    EXPECT_FALSE(make_private_folder(folder.path("there")));
    EXPECT_EQ(mode_of(folder.path("there")), before);
    EXPECT_FALSE(make_private_folder(""));
    EXPECT_EQ(make_private_folder(folder.write("file", "x") + "/below"),
              std::errc::not_a_directory);
}

TEST(EraseFile, OverwritesWhatOtherNamesStillShow) {
    const TemporaryFolder folder;
    const std::string secret(10'000, 's');
    const std::string path = folder.write("secret", secret), other = folder.path("other");
    std::filesystem::create_hard_link(path, other);
    erase_file(path);
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(read_file(other).find('s'), std::string::npos);
    EXPECT_NO_THROW(erase_file(path));
}

TEST(EraseFile, TakesALinkAndLeavesWhatItLeadsTo) {
    const TemporaryFolder folder;
    const std::string target = folder.write("target", "kept"), link = folder.path("link");
    std::filesystem::create_symlink(target, link);
    erase_file(link);
    EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(link)));
    EXPECT_EQ(read_file(target), "kept");
    std::filesystem::create_directories(folder.path("folder/full"));
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { erase_file(folder.path("folder")); }),
                         "cannot be removed"));
}

TEST(WriteFileAtomically, WritesAndReplacesWholeFilesAndLeavesNothingElse) {
    const TemporaryFolder folder;
    const auto path = folder.path("ledger.json");
    const std::string binary("a\0b\r\n\xff", 6);
    for (const std::string& content : {std::string(1'000'000, 'x'), binary, std::string("{}")}) {
        write_file_atomically(path, content);
        EXPECT_EQ(read_file(path), content);
        EXPECT_EQ(folder.entries(), 1);
    }
}

TEST(WriteFileAtomically, RefusesAFolderThatDoesNotExist) {
    const TemporaryFolder folder;
    const auto path = folder.path("missing/ledger.json");
    const std::string message = message_of<ConfigError>([&] { write_file_atomically(path, "x"); });
    EXPECT_TRUE(contains(message, path));
    EXPECT_TRUE(contains(message, "No such file"));
    EXPECT_EQ(folder.entries(), 0);
}

TEST(WriteFileAtomically, LeavesNoPartialFileWhereTheTargetIsAFolder) {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.path("taken"));
    EXPECT_TRUE(
        contains(message_of<ConfigError>([&] { write_file_atomically(folder.path("taken"), "x"); }),
                 "taken"));
    EXPECT_TRUE(std::filesystem::is_directory(folder.path("taken")));
    EXPECT_EQ(folder.entries(), 1);
}

TEST(WriteFileAtomically, WritesToPipesInsteadOfReplacingThem) {
    const TemporaryFolder directory;
    const auto pipe = directory.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    require_writable(pipe);
    write_file_atomically(pipe, "through");
    std::array<char, 16> got{};
    EXPECT_EQ(::read(reader, got.data(), got.size()), 7);
    ::close(reader);
    EXPECT_STREQ(got.data(), "through");
    EXPECT_TRUE(std::filesystem::is_fifo(pipe));
    EXPECT_EQ(directory.entries(), 1);
}

TEST(WriteFileAtomically, FollowsLinks) {
    const TemporaryFolder directory;
    const auto file = directory.write("file", "old");
    std::filesystem::create_symlink(file, directory.path("link"));
    require_writable(directory.path("link"));
    write_file_atomically(directory.path("link"), "new");
    EXPECT_TRUE(std::filesystem::is_symlink(directory.path("link")));
    EXPECT_EQ(read_file(file), "new");
}

TEST(CreateFile, SucceedsOnce) {
    const TemporaryFolder directory;
    EXPECT_TRUE(create_file(directory.path("file"), "first"));
    EXPECT_FALSE(create_file(directory.path("file"), "second"));
    EXPECT_EQ(read_file(directory.path("file")), "first");
    EXPECT_THROW((void)create_file(directory.path("none/file"), ""), ConfigError);
}

TEST(RequireWritable, AgreesWithWritingAndLeavesNothing) {
    const TemporaryFolder folder;
    EXPECT_NO_THROW(require_writable(folder.path("new")));
    EXPECT_EQ(folder.entries(), 0);
    EXPECT_THROW(require_writable(folder.path("")), ConfigError);
    EXPECT_THROW(require_writable(folder.path("none/new")), ConfigError);
}

TEST(WriteFailure, HasACodeOfItsOwnWhereTheDiskIsTheReason) {
    const auto code_of = [](int reason) {
        try {
            throw_write_failure("what", reason);
        } catch (const Error& error) {
            return error.exit_code();
        }
    };
    for (const int reason : {ENOSPC, EDQUOT, EFBIG, EIO})
        EXPECT_EQ(code_of(reason), ExitCode::storage) << std::strerror(reason);
    for (const int reason : {EACCES, ENOENT, ENOTDIR, EROFS, 0})
        EXPECT_EQ(code_of(reason), ExitCode::usage) << std::strerror(reason);
    EXPECT_EQ(message_of<Error>([] { write_file_atomically("/dev/full", "content"); }),
              "/dev/full: cannot be written (No space left on device)");
}

TEST(WriteFileAtomically, RefusesAPathBelowAFile) {
    const TemporaryFolder folder;
    const auto file = folder.write("file", "content");
    EXPECT_THROW(write_file_atomically(file + "/ledger.json", "x"), ConfigError);
    EXPECT_EQ(read_file(file), "content");
}

TEST(ReadFile, RefusesWhatIsMissingOrAFolder) {
    const TemporaryFolder folder;
    const std::string missing =
        message_of<DataError>([&] { (void)read_file(folder.path("missing.json")); });
    EXPECT_TRUE(contains(missing, folder.path("missing.json")));
    EXPECT_TRUE(contains(missing, "No such file"));
    EXPECT_TRUE(contains(message_of<DataError>([&] { (void)read_file(folder.path()); }),
                         folder.path().string()));
}

TEST(Npy, GivesBackEveryMatrixBitForBit) {
    const TemporaryFolder folder;
    for (const auto& [rows, columns] :
         std::vector<std::pair<int, int>>{{1, 1}, {1, 5}, {5, 1}, {3, 4}, {40, 7}}) {
        const Eigen::MatrixXd matrix = awkward_matrix(rows, columns);
        write_npy(folder.path("m.npy"), matrix);
        EXPECT_TRUE(same_bits(read_npy(folder.path("m.npy")), matrix)) << rows << " x " << columns;
    }
}

TEST(Npy, ReadsAVectorAsOneColumn) {
    const TemporaryFolder folder;
    const Eigen::VectorXd vector = Eigen::VectorXd::LinSpaced(6, -1, 1);
    const std::span<const double> values(vector.data(), 6);
    write_npy(folder.path("v.npy"), values);
    EXPECT_TRUE(same_bits(read_npy(folder.path("v.npy")), vector));
    write_npy(folder.path("empty.npy"), std::span<const double>());
    EXPECT_EQ(read_npy(folder.path("empty.npy")).size(), 0);
}

TEST(Npy, WritesTheLayoutThatNumpyDescribes) {
    const TemporaryFolder folder;
    Eigen::MatrixXd matrix(2, 3);
    matrix << 1, 2, 3, 4, 5, 6;
    write_npy(folder.path("m.npy"), matrix);
    const std::string content = read_file(folder.path("m.npy"));
    EXPECT_EQ(content.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    const std::size_t header =
        10 + static_cast<unsigned char>(content[8]) + 256 * static_cast<std::size_t>(content[9]);
    EXPECT_EQ(header % 64, 0U);
    EXPECT_EQ(content[header - 1], '\n');
    EXPECT_TRUE(contains(content, "'descr': '<f8'"));
    EXPECT_TRUE(contains(content, "'fortran_order': False"));
    EXPECT_TRUE(contains(content, "'shape': (2, 3)"));
    ASSERT_EQ(content.size(), header + 6 * sizeof(double));
    for (int i = 0; i < 6; ++i) {
        double value = 0;
        std::memcpy(&value, content.data() + header + 8 * static_cast<std::size_t>(i), 8);
        EXPECT_EQ(value, i + 1);
    }
}

TEST(Npy, ReadsBothOrders) {
    const TemporaryFolder folder;
    Eigen::MatrixXd matrix(2, 3);
    matrix << 1, 2, 3, 4, 5, 6;
    const auto c = folder.write(
        "c.npy",
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", {1, 2, 3, 4, 5, 6}));
    const auto fortran = folder.write(
        "f.npy",
        npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", {1, 4, 2, 5, 3, 6}));
    EXPECT_TRUE(same_bits(read_npy(c), matrix));
    EXPECT_TRUE(same_bits(read_npy(fortran), matrix));
}

TEST(Npy, RefusesWhatItCannotReadAndSaysWhy) {
    const TemporaryFolder folder;
    const std::string good =
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", {1, 2, 3, 4});
    const auto expect_refused = [&](const std::string& content, const std::string& reason) {
        const auto path = folder.write("bad.npy", content);
        const std::string message = message_of<DataError>([&] { (void)read_npy(path); });
        EXPECT_TRUE(contains(message, path));
        EXPECT_TRUE(contains(message, reason));
    };
    expect_refused(good.substr(0, good.size() - 1), "2 x 2 values announced, 31 bytes found");
    expect_refused(good.substr(0, good.size() - 8), "24 bytes found");
    expect_refused(good + std::string(8, '\0'), "40 bytes found");
    expect_refused(good.substr(0, 40), "header is cut short");
    expect_refused(good.substr(0, 7), "signature");
    expect_refused("1 2\n3 4\n5 6 7\n", "signature");
    std::string version_two = good;
    version_two[6] = 2;
    expect_refused(version_two, "version 1.0");
    for (const char* type : {"<f4", "<i8", ">f8", "|O"})
        expect_refused(
            npy("{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (2, 2), }",
                {1, 2, 3, 4}),
            "float64");
    expect_refused(
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 2), }", {1, 2, 3, 4}),
        "3 dimensions");
    expect_refused(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", {1}),
                   "0 dimensions");
    expect_refused(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-2, 2), }", {}),
                   "shape");
    expect_refused(npy("{'descr': '<f8', 'fortran_order': False, }", {1}), "'shape'");
    // A product of sizes that overflows must not look like a small file.
    expect_refused(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, "
                       "4), }",
                       {}),
                   "announced");
}

TEST(Npy, RefusesAMissingFile) {
    const TemporaryFolder folder;
    EXPECT_TRUE(contains(message_of<DataError>([&] { (void)read_npy(folder.path("missing.npy")); }),
                         "missing.npy"));
}

TEST(RegularFile, GivesItsBytesInPieces) {
    const test::TemporaryFolder folder;
    RegularFile file(folder.write("text", "seven b"));
    EXPECT_EQ(file.size(), 7U);
    std::string piece(5, '\0');
    EXPECT_EQ(file.read(piece.data(), 5), 5U);
    EXPECT_EQ(piece, "seven");
    EXPECT_EQ(file.read(piece.data(), 5), 2U);
    EXPECT_EQ(file.read(piece.data(), 5), 0U);
}

TEST(RegularFile, IsNothingElseAndSaysWhatIsThere) {
    const test::TemporaryFolder folder;
    const std::string pipe = folder.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    for (const auto& [path, what] : {std::pair(pipe, "is a pipe, not a file"),
                                     {folder.path().string(), "is a directory, not a file"},
                                     {std::string("/dev/zero"), "is a device, not a file"},
                                     {folder.path("none"), "cannot be read (No such file"}})
        EXPECT_TRUE(contains(message_of<DataError>([&] { RegularFile{path}; }), what));
}

namespace fs = std::filesystem;

TEST(ScratchFolder, HoldsWhatIsInItAndBelowForAsLongAsItIsThere) {
    const test::TemporaryFolder folder;
    const fs::path run = folder.path() / "run";
    EXPECT_FALSE(is_scratch(run / "model.npy"));
    {
        const ScratchFolder scratch(run);  // not made yet
        EXPECT_TRUE(is_scratch(run / "model.npy"));
        fs::create_directories(run / "agents" / "3");
        EXPECT_TRUE(is_scratch(run / "agents" / "3" / "model.npy"));
        EXPECT_TRUE(is_scratch(fs::relative(run / "model.npy")));
        EXPECT_TRUE(is_scratch(run / ".." / "run" / "model.npy"));
        EXPECT_FALSE(is_scratch(folder.path() / "model.npy"));
        EXPECT_FALSE(is_scratch(folder.path() / "run.json"));
        EXPECT_FALSE(is_scratch(folder.path() / "running" / "model.npy"));
        EXPECT_FALSE(is_scratch(run / ".." / "spent"));
        fs::create_directory_symlink(run, folder.path() / "link");
        EXPECT_TRUE(is_scratch(folder.path() / "link" / "model.npy"));
        fs::create_directory_symlink(folder.path(), run / "out");
        EXPECT_FALSE(is_scratch(run / "out" / "spent"));
        const ScratchFolder other(folder.path() / "other");
        EXPECT_TRUE(is_scratch(folder.path() / "other" / "model.npy"));
        EXPECT_TRUE(is_scratch(run / "model.npy"));
    }
    EXPECT_FALSE(is_scratch(run / "model.npy"));
    EXPECT_FALSE(is_scratch(folder.path() / "other" / "model.npy"));
}

TEST(ScratchFolder, HoldsWholeFilesOfWhichNothingElseIsLeft) {
    const test::TemporaryFolder folder;
    const ScratchFolder scratch(folder.path());
    write_file_atomically(folder.path() / "a", "old");
    write_file_atomically(folder.path() / "a", "new");
    scratch.flush();
    EXPECT_EQ(read_file(folder.path() / "a"), "new");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
    EXPECT_THROW(write_file_atomically(folder.path() / "no" / "b", "new"), ConfigError);
}

TEST(ScratchFolder, ThatIsNotThereHasNothingToFlush) {
    const test::TemporaryFolder folder;
    const ScratchFolder scratch(folder.path() / "never made");
    EXPECT_NO_THROW(scratch.flush());
    std::ofstream(folder.path() / "file") << "no folder";
    const ScratchFolder wrong(folder.path() / "file");
    EXPECT_THROW(wrong.flush(), ConfigError);
}

TEST(ScratchFolder, IsNotWaitedFor) {
    const test::FolderOnDisk folder;
    const auto waits = [&](const std::string& name) {
        const long before = test::waits_so_far();
        for (int file = 0; file < 40; ++file)
            write_file_atomically(folder.path() / (name + std::to_string(file)), "content");
        return test::waits_so_far() - before;
    };
    const long durable = waits("durable");
    if (durable < 40) GTEST_SKIP() << "this file system never waits";
    const ScratchFolder scratch(folder.path());
    EXPECT_LT(waits("scratch"), durable / 4);
    const long before = test::waits_so_far();
    scratch.flush();
    EXPECT_GT(test::waits_so_far(), before) << "what was written was not waited for in the end";
}

}  // namespace
}  // namespace sotto
