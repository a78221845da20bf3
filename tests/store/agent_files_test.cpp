#include "store/agent_files.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "config/run_fixtures.hpp"
#include "core/files.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

class FilesOfAgents : public ::testing::Test {
  protected:
    [[nodiscard]] fs::path write(const std::vector<AgentContent>& agents) const {
        return write_agent_file(folder.path(""), ".kept", agents);
    }
    [[nodiscard]] AgentFiles files() const { return {folder.path(""), ".kept"}; }
    test::TemporaryFolder folder;
    const std::vector<AgentContent> three{{2, {"two", "2"}}, {5, {""}}, {9, {"nine"}}};
};

TEST_F(FilesOfAgents, OfOneProcessAreOne) {
    const fs::path file = write(three);
    EXPECT_EQ(file.filename(), "agents-2-9.kept");
    EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path("")), {}), 1);
    const AgentFiles found = files();
    EXPECT_EQ(found.read(2), "two2");
    EXPECT_EQ(found.read(5), "");
    EXPECT_EQ(found.read(9), "nine");
    EXPECT_EQ(found.file_of(5), file);
    // Numbers between those of the name.
    EXPECT_FALSE(found.has(3));
    EXPECT_THROW((void)found.read(3), DataError);
}

TEST_F(FilesOfAgents, OfOneAgentHoldItsBytesAlone) {
    const fs::path file = write({{7, {"se", "ven"}}});
    EXPECT_EQ(file.filename(), "agent-7.kept");
    EXPECT_EQ(read_file(file), "seven");
    EXPECT_EQ(files().read(7), "seven");
    EXPECT_EQ(files().file_of(8).filename(), "agent-8.kept");
}

TEST_F(FilesOfAgents, AreFoundWhoeverWroteThem) {
    const fs::path together = write(three), alone = write({{5, {"five"}}});
    std::ofstream(folder.path("agents-0-9.other")) << "of another kind";
    std::ofstream(folder.path("agents-9-2.kept")) << "not a name";
    EXPECT_EQ(files().files_of(std::vector{5}), (std::vector<fs::path>{alone, together}));
    EXPECT_EQ(files().files_of(std::vector{9, 10}), std::vector<fs::path>{together});
    EXPECT_TRUE(files().files_of(std::vector{0, 3, 10}).empty());
    EXPECT_FALSE((AgentFiles{folder.path("nowhere"), ".kept"}.has(2)));
}

/// An agent that took part must not seem to have none of its files.
TEST_F(FilesOfAgents, WithADamagedListHoldAllThatTheirNameSays) {
    const fs::path file = write(three);
    const std::string whole = read_file(file);
    const std::size_t list = 16 + 3 * 12;
    for (std::size_t at = 0; at < list; ++at) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0x11);
        std::ofstream(file, std::ios::binary) << changed;
        for (const int agent : {2, 9}) {
            EXPECT_TRUE(files().has(agent)) << at;
            EXPECT_EQ(files().files_of(std::vector{agent}), std::vector<fs::path>{file});
        }
    }
    for (std::size_t size = 0; size < whole.size(); ++size) {
        std::ofstream(file, std::ios::binary) << whole.substr(0, size);
        for (const int agent : {2, 3, 5, 9}) {
            EXPECT_TRUE(files().has(agent)) << size;
            EXPECT_THROW((void)files().read(agent), DataError) << size;
        }
    }
}

}  // namespace
}  // namespace sotto
