#include "design/seed_groups.hpp"

#include <gtest/gtest.h>

#include "core/files.hpp"
#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "design/noise_fixtures.hpp"
#include "sotto/core/error.hpp"

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
    EXPECT_TRUE(contains(message("nearest:0"), "nearest:K"));
    EXPECT_TRUE(contains(message("edgs"), "did you mean 'edges'"));
}

TEST(MakeSeedGroups, NearestTakesEdgesBeforeAgentsFurtherAway) {
    const Graph ring = make_graph(Topology::ring, 9);
    EXPECT_EQ(make_seed_groups("nearest:1", ring).size(), 9U);  // the next by number
    EXPECT_EQ(make_seed_groups("nearest:2", ring).size(), 9U);  // both neighbours
    EXPECT_EQ(make_seed_groups("nearest:4", ring).size(), 18U);
    EXPECT_EQ(make_seed_groups("nearest:8", ring).size(), 36U);  // all pairs
    EXPECT_EQ(make_seed_groups("nearest:1000", ring).size(), 36U);
    // A star: the hub has every leaf, a leaf the hub and then the next leaves.
    const Graph star = Graph::from_edges(6, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}});
    const auto pairs = make_seed_groups("nearest:2", star);
    const auto has = [&](int u, int v) {
        return std::ranges::any_of(pairs, [&](const SeedGroup& pair) {
            return pair.members == std::vector<int>{u, v};
        });
    };
    for (int leaf = 1; leaf < 6; ++leaf) EXPECT_TRUE(has(0, leaf));
    EXPECT_TRUE(has(1, 2));
    EXPECT_TRUE(has(1, 5));  // the next of 5
    EXPECT_FALSE(has(1, 3));
    EXPECT_EQ(pairs.size(), 10U);
    for (const auto& pair :
         make_seed_groups("nearest:3", make_graph(Topology::erdos_renyi, 30, 1, 0.2)))
        EXPECT_LT(pair.members[0], pair.members[1]);
}

TEST(DefaultSeedGroups, AreLinearInAgentsWhereThereAreMany) {
    EXPECT_EQ(default_seed_groups(62), "all-pairs");
    const Graph graph = make_graph(Topology::erdos_renyi, 200, 1, 0.1);
    EXPECT_LE(make_seed_groups(default_seed_groups(200), graph).size(), 2000U);
}

TEST(MakeSeedGroups, AllowsAutoWhatIsTheDefaultAndGivesItExtraNoiseWhereThatIsAllPairs) {
    for (const int agents : {1, 5, 62, 63}) {
        const Graph graph = make_graph(Topology::complete, agents);
        EXPECT_TRUE(std::ranges::equal(make_seed_groups("auto", graph),
                                       make_seed_groups(default_seed_groups(agents), graph),
                                       {},
                                       &SeedGroup::members,
                                       &SeedGroup::members));
        EXPECT_EQ(extra_noise_of("auto", agents), agents <= 62 ? 0.02 : 0);
        for (const char* fixed : {"", "all-pairs", "nearest:4", "a-file"})
            EXPECT_EQ(extra_noise_of(fixed, agents), 0);
    }
    EXPECT_FALSE(is_seed_group_file("auto"));
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
