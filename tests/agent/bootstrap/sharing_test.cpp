#include "agent/bootstrap/sharing.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/test_support.hpp"
#include "mpi/trainer_fixtures.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

Topography changing_path() {
    const Graph graph = Graph::from_edges(3, {{0, 1}, {1, 2}}, {"a", "b c", ""});
    return test::with_schedule(graph,
                               {MixingMatrix::from_rule(graph, MixingRule::metropolis),
                                MixingMatrix::from_rule(graph, MixingRule::row_stochastic),
                                MixingMatrix::from_rule(graph, MixingRule::max_degree)});
}

TEST(TopographyMessage, GivesBackEverythingBitForBit) {
    for (const Topography& sent : {changing_path(), test::topography_of(Topology::ring, 7)}) {
        const Topography got =
            unpack_topography(pack_topography(sent), static_cast<int>(sent.graph.agents()));
        EXPECT_EQ(got.graph.hash(), sent.graph.hash());
        EXPECT_EQ(got.mixing_hash(), sent.mixing_hash());
        EXPECT_EQ(got.later_mixing.size(), sent.later_mixing.size());
        for (int u = 0; u < sent.graph.agents(); ++u)
            EXPECT_EQ(got.graph.label(u), sent.graph.label(u));
    }
}

TEST(TopographyMessage, IsRefusedForAnotherNumberOfAgentsCutOrContinued) {
    const std::string bytes = pack_topography(changing_path());
    EXPECT_THROW((void)unpack_topography(bytes, 4), NetworkError);
    EXPECT_THROW((void)unpack_topography(bytes + '\0', 3), NetworkError);
    for (std::size_t kept = 0; kept < bytes.size(); ++kept)
        EXPECT_THROW((void)unpack_topography(bytes.substr(0, kept), 3), NetworkError) << kept;
}

TEST(TopographyMessage, SaysWhyAGraphOrAMatrixIsNone) {
    std::string bytes = pack_topography(changing_path());
    const double heavy = 7;
    bytes.replace(bytes.size() - 8, 8, reinterpret_cast<const char*>(&heavy), 8);
    EXPECT_TRUE(contains(
        message_of<NetworkError>([&] { (void)unpack_topography(bytes, 3); }),
        "the graph from rank 0 is not usable: mixing matrix: row 2 sums to 7.33333333333 "));
}

TEST(TopographyMessage, CarriesDirectionsAndPushSum) {
    const Graph graph = Graph::from_arcs(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}});
    for (const MixingRule rule : {MixingRule::row_stochastic, MixingRule::push_sum}) {
        const Topography sent{graph, MixingMatrix::from_rule(graph, rule)};
        const std::string bytes = pack_topography(sent);
        EXPECT_LE(bytes.size(), largest_topography_bytes(4, 1));
        const Topography got = unpack_topography(bytes, 4);
        EXPECT_TRUE(got.graph.directed());
        EXPECT_EQ(got.graph.hash(), graph.hash());
        EXPECT_EQ(got.mixing_hash(), sent.mixing_hash());
        EXPECT_EQ(got.mixing.push_sum(), rule == MixingRule::push_sum);
    }
}

}  // namespace
}  // namespace sotto
