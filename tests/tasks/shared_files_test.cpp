#include "tasks/shared_files.hpp"

#include <chrono>

#include "core/temporary_folder.hpp"
#include "learn/reader_fixtures.hpp"
#include "learn/table_fixtures.hpp"
#include "tasks/task_fixtures.hpp"

namespace sotto {
namespace {

using test::message_of;
using test::TemporaryFolder;

using Files = std::vector<std::string>;

/// One of each format, the first images with labels beside them.
Files files_in(const TemporaryFolder& folder) {
    using namespace std::string_literals;
    (void)folder.write_gzip("a-labels-idx1.gz", "\0\0\x08\x01\0\0\0\x02\x03\x07"s);
    return {
        folder.write_gzip("a-images-idx3.gz",
                          "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x03\x01\x02\x03\x04\x05\xff"s),
        folder.write_gzip("b.svm.gz", "+1 1:0.5 3:1\n-1\n+1 2:7\n"),
        folder.write("c.csv", "age,sex,label\n3,m,1\n4,?,0\n5,f,1\n"),
        folder.write(
            "d.json",
            R"({"users":["u","v"],"num_samples":[1,2],"user_data":{"v":{"x":[[1,2],[3,4]],)"
            R"("y":[0,1]},"u":{"x":[[5,6]],"y":[1]}}})")};
}

void expect_same(const ReadFile& read, const ReadFile& own) {
    EXPECT_EQ(read.digest, own.digest);
    ASSERT_EQ(read.data.index(), own.data.index());
    if (const auto* table = std::get_if<Table>(&own.data)) {
        const Table& same = std::get<Table>(read.data);
        EXPECT_EQ(same.source, table->source);
        EXPECT_EQ(same.names(), table->names());
        EXPECT_EQ(digest_of_table(same), own.digest);
        return;
    }
    const Dataset &data = std::get<Dataset>(own.data), &same = std::get<Dataset>(read.data);
    EXPECT_EQ(same.source, data.source);
    EXPECT_EQ(same.dense.has_value(), data.dense.has_value());
    EXPECT_EQ(test::features_of(same), test::features_of(data));
    EXPECT_EQ(digest_of_records(same), own.digest);
}

TEST(SharedFiles, HaveTheSameRecordsAndDigestsAsTheFilesInEveryFormat) {
    const TemporaryFolder folder;
    const Files files = files_in(folder);
    const auto memory = packed_files(files);
    ASSERT_TRUE(memory);
    const auto read = unpacked_files(*memory, files);
    ASSERT_TRUE(read);
    ASSERT_EQ(read->size(), files.size());
    for (std::size_t f = 0; f < files.size(); ++f) {
        SCOPED_TRACE(files[f]);
        expect_same((*read)[f], read_with_digest(files[f]));
    }
}

TEST(SharedFiles, AreKnownByWhatTheyAreAndNotByTheirNames) {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.svm", "+1 1:1\n-1 2:1\n"), link = folder.path("link");
    const std::string copy = folder.write("copy.svm", "+1 1:1\n-1 2:1\n");
    std::filesystem::create_hard_link(file, link);
    const auto memory = packed_files({file});
    ASSERT_TRUE(memory);
    EXPECT_FALSE(unpacked_files(*memory, {copy}));
    EXPECT_FALSE(unpacked_files(*memory, {file, file}));
    EXPECT_FALSE(unpacked_files(*memory, {}));
    const auto read = packed_files({file});
    const auto same = unpacked_files(*read, {link});
    ASSERT_TRUE(same);
    EXPECT_EQ(std::get<Dataset>(same->front().data).source, link);
}

TEST(SharedFiles, AreNotTakenOnceAFileOrItsLabelsChanged) {
    const TemporaryFolder folder;
    const Files images{files_in(folder).front()};
    const auto later = [](const std::string& path) {
        std::filesystem::last_write_time(
            path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
    };
    auto memory = packed_files(images);
    later(folder.path("a-labels-idx1.gz"));
    ASSERT_TRUE(memory);
    EXPECT_FALSE(unpacked_files(*memory, images));
    memory = packed_files(images);
    ASSERT_TRUE(memory);
    EXPECT_TRUE(unpacked_files(*memory, images));
    later(images.front());
    EXPECT_FALSE(unpacked_files(*memory, images));
}

TEST(SharedFiles, AreNotPackedIfOneCannotBeRead) {
    const TemporaryFolder folder;
    const Files files = files_in(folder);
    const std::string damaged = folder.path("damaged.gz");
    std::filesystem::copy_file(files[1], damaged);
    std::filesystem::resize_file(damaged, std::filesystem::file_size(damaged) - 9);
    EXPECT_FALSE(packed_files({files[1], damaged}));
    EXPECT_FALSE(packed_files({folder.path("missing")}));
}

TEST(SharedFiles, AreNotTakenFromOtherBytes) {
    const TemporaryFolder folder;
    const Files files = files_in(folder);
    const auto memory = packed_files(files);
    ASSERT_TRUE(memory);
    const std::string bytes(memory->bytes());
    const auto taken = [&](const std::string& content) {
        const auto other =
            SealedMemory::make([&](const SealedMemory::Write& write) { return write(content); });
        return other && unpacked_files(*other, files);
    };
    EXPECT_TRUE(taken(bytes));
    EXPECT_FALSE(taken("x"));
    EXPECT_FALSE(taken(std::string(64, '\xff')));
    EXPECT_FALSE(taken(bytes.substr(0, bytes.size() - 1)));
    EXPECT_FALSE(taken(bytes.substr(0, 8) + "Sotto" + bytes.substr(13))) << "another build";
}

TEST(ReadSharedFiles, GivesTheReadersErrors) {
    const TemporaryFolder folder;
    const auto network = make_memory_network(3, 1);
    const std::string missing = folder.path("missing.svm");
    EXPECT_EQ(message_of<DataError>([&] { (void)read_shared_files(*network, {missing}); }),
              test::error_of(missing));
}

}  // namespace
}  // namespace sotto
