#include "store/folders.hpp"

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

TEST(CreateFolder, MakesWhatIsMissingAndLeavesWhatIsThere) {
    const test::TemporaryFolder folder;
    const std::filesystem::path deep = folder.path("a/b/c");
    create_folder(deep);
    EXPECT_TRUE(std::filesystem::is_directory(deep));
    std::ofstream(deep / "mine") << "kept";
    create_folder(deep);
    EXPECT_EQ(read_file(deep / "mine"), "kept");
}

TEST(CreateFolder, SaysWhichCannotBeMade) {
    const test::TemporaryFolder folder;
    const std::string below = folder.write("file", "x") + "/below";
    const auto message = test::message_of<ConfigError>([&] { create_folder(below); });
    test::expect_contains(message, below + ": cannot be created (");
}

}  // namespace
}  // namespace sotto
