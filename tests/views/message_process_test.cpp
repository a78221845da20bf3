#include "sotto/views/message_process.hpp"

#include <gtest/gtest.h>

#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(RepeatedRounds, HaveTheNumbersTheyHadInTheTraining) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = unit_plan(6);
    const auto numbers = [&](const std::vector<PhaseShape>& shapes) {
        return process_of(graph, plan, phases_of(graph, shapes)).training_rounds();
    };
    EXPECT_EQ(numbers({{3}, {2}}), (std::vector<long>{0, 1, 2, 3, 4}));
    EXPECT_EQ(numbers({{4}, {1, 2}, {3, 1}}), (std::vector<long>{0, 1, 2, 3, 2, 2, 3, 4}));
    EXPECT_EQ(numbers({{2}, {2}, {2, 3}, {1, 3}}), (std::vector<long>{0, 1, 2, 3, 1, 2, 0}));
}

TEST(MessageProcess, KnowsThePlanOfEveryPhaseAndWhoHasDeparted) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = unit_plan(6), own = decor_plan(graph);
    const auto process = process_of(graph, plan, phases_of(graph, {{3}, {2, 0, {1, 4}, &own}}));
    EXPECT_EQ(process.rounds(), 5);
    EXPECT_EQ(&process.plan_of(process.phases[0]), &plan);
    EXPECT_EQ(&process.plan_of(process.phases[1]), &own);
    for (int u = 0; u < 6; ++u) {
        EXPECT_FALSE(process.phases[0].has_departed(u));
        EXPECT_EQ(process.phases[1].has_departed(u), u == 1 || u == 4);
    }
}

TEST(MessageProcess, KnowsTheGossipOfEveryPhase) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = unit_plan(6);
    auto process = process_of(graph, plan, phases_of(graph, {{3}, {2}}), chebyshev(graph, 3));
    process.phases[1].gossip = 3;
    EXPECT_EQ(&process.gossip_of(process.phases[0]), &process.gossip);
    EXPECT_FALSE(process.gossip_of(process.phases[0]).plain());
    EXPECT_TRUE(process.gossip_of(process.phases[1]).plain());
}

}  // namespace
}  // namespace sotto
