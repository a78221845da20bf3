#include "views/process_rounds.hpp"

#include <gtest/gtest.h>

#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(ProcessRounds, SayWhereEveryRoundBelongs) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = unit_plan(6), own = decor_plan(graph);
    const auto where = process_rounds(
        process_of(graph, plan, phases_of(graph, {{3}, {2, 1}, {2, 2, {}, &own}, {1}})));
    EXPECT_EQ(where.phase, (std::vector<int>{0, 0, 0, 1, 1, 2, 2, 3}));
    EXPECT_EQ(where.within, (std::vector<long>{0, 1, 2, 0, 1, 0, 1, 0}));
    EXPECT_EQ(where.training, (std::vector<long>{0, 1, 2, 2, 3, 2, 3, 4}));
    // Round 3 starts from what round 1 left, round 5 too: rounds 2, 3 and 4 are done again.
    EXPECT_EQ(where.after, (std::vector<long>{ProcessRounds::beginning, 0, 1, 1, 3, 1, 5, 6}));
    // The process's noise runs on over two phases; a phase's own begins anew, and so does what
    // follows it.
    ASSERT_EQ(where.stretches.size(), 3U);
    EXPECT_EQ(where.stretch, (std::vector<int>{0, 0, 0, 0, 0, 1, 1, 2}));
    EXPECT_EQ(where.stretches[0].plan, &plan);
    EXPECT_EQ(where.stretches[0].rounds, 5);
    EXPECT_EQ(where.stretches[1].plan, &own);
    EXPECT_EQ(where.stretches[1].begin, 5);
    EXPECT_EQ(where.stretches[2].plan, &plan);
    EXPECT_EQ(where.stretches[2].begin, 7);
}

TEST(TimeFactor, OfAStretchIsThatOfItsRounds) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan independent = decor_plan(graph),
                    correlated = with_factor(independent, difference_factor(6));
    EXPECT_EQ(time_factor({&independent, 4, 3}), Eigen::MatrixXd::Identity(3, 3));
    const Eigen::MatrixXd all = difference_factor(6).lower;
    EXPECT_EQ(time_factor({&correlated, 4, 3}), all.topLeftCorner(3, 3));
}

}  // namespace
}  // namespace sotto
