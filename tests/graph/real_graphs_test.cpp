#include <cstdlib>
#include <ostream>
#include <string>

#include "graph/edge_list.hpp"
#include "graph/spectrum.hpp"
#include "graph_fixtures.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {
namespace {

struct KnownCounts {
    const char* file;
    int labels;
    long long edges;
    int agents;
    std::size_t agent_edges;
};

void PrintTo(const KnownCounts& known, std::ostream* out) { *out << known.file; }

class RealGraph : public ::testing::TestWithParam<KnownCounts> {};

TEST_P(RealGraph, HasItsPublishedCountsAndSurvivesWritingAndReading) {
    const char* directory = std::getenv("SOTTO_DATA_DIR");
    if (directory == nullptr) GTEST_SKIP() << "SOTTO_DATA_DIR is not set";
    const KnownCounts& known = GetParam();
    const LoadedGraph loaded = read_edge_list(std::string(directory) + "/" + known.file);
    EXPECT_EQ(loaded.report.labels, known.labels);
    EXPECT_EQ(loaded.report.edges, known.edges);
    EXPECT_EQ(loaded.report.agents, known.agents);
    EXPECT_EQ(loaded.graph.agents(), known.agents);
    EXPECT_EQ(loaded.graph.edges().size(), known.agent_edges);
    EXPECT_TRUE(loaded.graph.connected());

    const test::TemporaryFile file(format_edge_list(loaded.graph));
    const LoadedGraph again = read_edge_list(file.path());
    EXPECT_EQ(again.graph.hash(), loaded.graph.hash());
    EXPECT_EQ(again.graph.label(known.agents - 1), loaded.graph.label(known.agents - 1));

    const double lambda2 = second_eigenvalue_modulus(
        MixingMatrix::from_rule(loaded.graph, MixingRule::metropolis), EigenMethod::iterative);
    EXPECT_GT(lambda2, 0);
    EXPECT_LT(lambda2, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Files,
    RealGraph,
    ::testing::Values(KnownCounts{"florentine_families.edges", 15, 20, 15, 20},
                      KnownCounts{"facebook_ego_0.edges", 333, 2519, 324, 2514},
                      KnownCounts{"facebook_ego_107.edges", 1034, 26749, 1034, 26749},
                      KnownCounts{"facebook_ego_348.edges", 224, 3192, 224, 3192},
                      KnownCounts{"facebook_ego_414.edges", 150, 1693, 148, 1692},
                      KnownCounts{"facebook_ego_686.edges", 168, 1656, 168, 1656},
                      KnownCounts{"facebook_ego_698.edges", 61, 270, 40, 220},
                      KnownCounts{"facebook_ego_1684.edges", 786, 14024, 775, 14006},
                      KnownCounts{"facebook_ego_1912.edges", 747, 30025, 744, 30023},
                      KnownCounts{"facebook_ego_3437.edges", 534, 4813, 532, 4812},
                      KnownCounts{"facebook_ego_3980.edges", 52, 146, 44, 138},
                      KnownCounts{"mastodon_servers_2020-12.edges", 176, 1393, 176, 1393},
                      KnownCounts{"facebook_combined.txt.gz", 4039, 88234, 4039, 88234},
                      KnownCounts{"p2p-Gnutella08.txt", 6301, 20777, 6299, 20776}));

}  // namespace
}  // namespace sotto
