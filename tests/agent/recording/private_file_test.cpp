#include "agent/recording/private_file.hpp"

#include <gtest/gtest.h>

#include "agent/recording/recorded_job.hpp"
#include "core/temporary_folder.hpp"
#include "learn/test_data.hpp"
#include "sotto/agent/recording/recorded_seeds.hpp"
#include "sotto/core/files.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using fs::perms;
using test::record_five;
using test::TemporaryFolder;

TEST(PrivateFolder, IsMadeForItsOwnerOnlyAndMayBeThere) {
    const TemporaryFolder temporary;
    const fs::path folder = private_folder(temporary.path("views/deep"), 3);
    EXPECT_EQ(folder, fs::path(temporary.path("views/deep")) / "3");
    EXPECT_EQ(fs::status(folder).permissions(), perms::owner_all);
    fs::permissions(folder, perms::all);
    EXPECT_EQ(private_folder(temporary.path("views/deep"), 3), folder);
    EXPECT_EQ(fs::status(folder).permissions(), perms::owner_all);
    const std::string file = temporary.write("file", "");
    EXPECT_THROW((void)private_folder(file, 3), ConfigError);
}

TEST(PrivateFile, IsNewForItsOwnerOnlyAndHoldsWhatWasAppended) {
    const TemporaryFolder temporary;
    const fs::path path = temporary.path("file");
    PrivateFile file(path);
    EXPECT_TRUE(file.open());
    file.append("some", 4);
    file.flush();
    EXPECT_EQ(read_file(path), "some");
    file.append("more", 4);
    file.close();
    EXPECT_FALSE(file.open());
    EXPECT_EQ(read_file(path), "somemore");
    EXPECT_EQ(fs::status(path).permissions(), perms::owner_read | perms::owner_write);
    EXPECT_THROW(PrivateFile{path}, ConfigError);
    EXPECT_THROW(PrivateFile{temporary.path("nowhere/file")}, ConfigError);
}

TEST(PrivateFile, IsWhatEveryRecordingIsWrittenTo) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("views");
    const test::RecordedRun made = record_five(test::of_messages, folder);
    const auto rings = test::rings_of_five(made.plan);
    record_seeds(folder, made.plan, rings[2]);
    using fs::perms;
    for (const char* file : {"2/view.bin", "2/seeds.json", "wire/2/messages.bin"})
        EXPECT_EQ(fs::status(folder / file).permissions(), perms::owner_read | perms::owner_write)
            << file;
    EXPECT_EQ(fs::status(folder / "2").permissions(), perms::owner_all);
    EXPECT_EQ(fs::status(folder / "wire" / "2").permissions(), perms::owner_all);
    // Never into another run's files.
    EXPECT_THROW((void)record_five(test::of_messages, folder), ConfigError);
    EXPECT_THROW(record_seeds(folder, made.plan, rings[2]), ConfigError);
}

}  // namespace
}  // namespace sotto
