#include "views/view_rounds.hpp"

#include <gtest/gtest.h>

#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(ViewRounds, FollowPhasesStretchesAndTheScheduleOfEveryRound) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = unit_plan(6), own = decor_plan(graph);
    std::vector<Phase> phases = phases_of(graph, {{2}, {3, 1, {1}, &own}});
    const MixingMatrix lazy = MixingMatrix::from_rule(graph, MixingRule::lazy_metropolis);
    phases.front().mixing = MixingSchedule({metropolis(graph), lazy});
    const MessageProcess process = process_of(graph, plan, phases);
    const View view{View::Kind::neighbours, {0}};
    const std::vector<LaggedNoise> noises{lagged_noise({}, 2, 0), lagged_noise({}, 3, 0)};
    const ViewRounds rounds(process, view, noises);
    EXPECT_EQ(rounds.count(), 5);
    EXPECT_EQ(rounds.mixing_at(1).dense(), lazy.dense());
    EXPECT_EQ(rounds.mixing_at(2).weight(1, 1), 1);
    EXPECT_TRUE(rounds.agents_at(1).present[1]);
    EXPECT_FALSE(rounds.agents_at(2).present[1]);
    EXPECT_EQ(rounds.start_of(2), 0) << "round 1 is done again";
    EXPECT_EQ(&rounds.plan_at(1), &plan);
    EXPECT_EQ(&rounds.plan_at(4), &own);
    EXPECT_EQ(rounds.within_stretch(4), 2);
    EXPECT_EQ(rounds.stretches(), (std::vector<int>{0, 0, 1, 1, 1}));
    EXPECT_EQ(rounds.sources().size(), 2U);
}

TEST(ViewRounds, ScaleNoiseByTheStepWhereItEntersTheGradient) {
    const Graph graph = ring_with_a_chord();
    NoisePlan plan = unit_plan(6);
    MessageProcess process = process_of(graph, plan, phases_of(graph, {{2}}));
    const View view{View::Kind::neighbours, {0}};
    const std::vector<LaggedNoise> noises{lagged_noise({}, 2, 0)};
    EXPECT_EQ(ViewRounds(process, view, noises).noise_factor(1), 1) << "equal steps";
    process.step_sizes = {0.5, 0.25};
    EXPECT_EQ(ViewRounds(process, view, noises).noise_factor(1), 0.25);
    plan.entry = NoiseEntry::message;
    EXPECT_EQ(ViewRounds(process, view, noises).noise_factor(1), 1);
    EXPECT_EQ(ViewRounds(process, view, noises).step_size(1), 0.25);
}

}  // namespace
}  // namespace sotto
