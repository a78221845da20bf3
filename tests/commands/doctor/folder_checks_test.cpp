#include "commands/doctor/folder_checks.hpp"

#include <gtest/gtest.h>

#include "commands/doctor/environment_fixture.hpp"
#include "core/temporary_folder.hpp"
#include "learn/test_data.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::EnvironmentVariable;
using test::TemporaryFolder;

TEST(FolderChecks, LeaveNothingBehind) {
    const TemporaryFolder folder;
    const fs::path path = folder.path("room");
    fs::create_directories(path);
    const Finding finding = check_writable(path, "make room");
    EXPECT_TRUE(finding.ok) << finding.found;
    EXPECT_EQ(finding.fix, "");
    EXPECT_TRUE(fs::is_empty(path));
    const Finding missing = check_writable(folder.path("missing"), "make room");
    EXPECT_FALSE(missing.ok);
    EXPECT_EQ(missing.fix, "make room");
    EXPECT_NE(missing.found.find("No such file"), std::string::npos) << missing.found;
}

TEST(FolderChecks, LookAtTheTemporaryFolderOfTheEnvironment) {
    const TemporaryFolder folder;
    const std::string file = folder.write("file", "");
    const EnvironmentVariable set("TMPDIR", file + "/tmp");
    const Finding finding = check_temporary_directory({});
    EXPECT_FALSE(finding.ok);
    EXPECT_TRUE(finding.found.starts_with(file + "/tmp cannot be written")) << finding.found;
    const EnvironmentVariable none("TMPDIR", std::nullopt);
    EXPECT_TRUE(check_temporary_directory({}).found.starts_with("/tmp "));
}

TEST(FolderChecks, MeasureSpace) {
    EXPECT_FALSE(free_mib("/no/such/folder"));
    EXPECT_TRUE(free_mib("/"));
    EXPECT_EQ(size_text(512), "512 MiB");
    EXPECT_EQ(size_text(10 * 1024), "10 GiB");
    EXPECT_EQ(size_text(2047.6), "2048 MiB");
}

}  // namespace
}  // namespace sotto
