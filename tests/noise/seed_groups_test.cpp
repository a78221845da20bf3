#include "sotto/noise/seed_groups.hpp"

#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "noise/noise_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(MakeSeedGroups, KnowsEveryChoice) {
    const Graph ring = make_graph(Topology::ring, 5);
    EXPECT_EQ(make_seed_groups("edges", ring).size(), 5U);
    EXPECT_EQ(make_seed_groups("all-pairs", ring).size(), 10U);
    EXPECT_EQ(make_seed_groups("circulant:2", ring).size(), 5U);
    EXPECT_EQ(make_seed_groups("circulant:100", ring).size(), 10U);
    EXPECT_EQ(make_seed_groups("neighbourhoods", ring).size(), 5U);
    EXPECT_EQ(make_seed_groups("all", ring).front().members, (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_TRUE(make_seed_groups("all-pairs", make_graph(Topology::complete, 1)).empty());
    const auto message = [&](const std::string& choice) {
        return message_of<ConfigError>([&] { (void)make_seed_groups(choice, ring); });
    };
    EXPECT_TRUE(contains(message("circulant:3"), "even"));
    EXPECT_TRUE(contains(message("edgs"), "did you mean 'edges'"));
}

TEST(MakeSeedGroups, ReadsAFileAndNamesTheLineThatIsWrong) {
    const Graph ring = make_graph(Topology::ring, 5);
    const TemporaryFolder folder;
    const auto path = folder.path("groups.txt");
    const auto read = [&](const std::string& text) {
        write_file_atomically(path, text);
        return make_seed_groups(path, ring);
    };
    const auto groups = read("# two groups\n3, 1\n0 2 4\n");
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0].members, (std::vector<int>{1, 3}));
    EXPECT_EQ(groups[1].members, (std::vector<int>{0, 2, 4}));
    for (const std::string bad : {"1\n", "0 0\n", "0 5\n", "0 x\n", "\n"})
        EXPECT_TRUE(contains(message_of<DataError>([&] { (void)read(bad); }), path)) << bad;
}

}  // namespace
}  // namespace sotto
