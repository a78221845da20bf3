#include "views/all_messages.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(AllMessages, HaveTheGramMatrixOfTheTemporalFactorAndThePrecision) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = with_factor(decor_plan(graph), difference_factor(5));
    const auto process = process_of(graph, plan, phases_of(graph, {{5}}));
    const ProcessRounds where = process_rounds(process);
    const AllMessages all(process, where, {View::Kind::all_messages, {1}}, {2});
    const Eigen::VectorXd precision = observed_precision(plan, {{1}});
    const Eigen::MatrixXd factor = plan.temporal.lower;
    const Eigen::MatrixXd time = factor.transpose() * factor;
    EXPECT_TRUE(all.gram(3).gram.isApprox(precision(3) * time, 1e-12));
    const double even = time(Eigen::seq(0, 4, 2), Eigen::seq(0, 4, 2)).cwiseAbs().sum();
    EXPECT_TRUE(relatively_near(all.squared_sensitivity(3), precision(3) * even, 1e-12));
}

TEST(AllMessages, CountNoRoundsInWhichTheTargetIsAway) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = private_plan({1, 0, 1, 1, 1, 1});
    const auto process = process_of(graph, plan, phases_of(graph, {{3}, {2, 0, {2}}}));
    const ProcessRounds where = process_rounds(process);
    const AllMessages all(process, where, {}, {1});
    EXPECT_DOUBLE_EQ(all.squared_sensitivity(2), 3);
    EXPECT_DOUBLE_EQ(all.squared_sensitivity(4), 5);
    EXPECT_EQ(all.gram(2).gram.diagonal(), (Eigen::VectorXd(5) << 1, 1, 1, 0, 0).finished());
    EXPECT_TRUE(all.gram(1).infinite) << "it has no noise";
    EXPECT_EQ(all.squared_sensitivity(1), infinity);
}

TEST(AllMessages, AreInUnitsOfTheInputWhereNoiseEntersTheMessage) {
    const Graph graph = ring_with_a_chord();
    NoisePlan plan = unit_plan(6);
    plan.entry = NoiseEntry::message;
    auto process = process_of(graph, plan, phases_of(graph, {{2}}));
    process.step_sizes = {0.5, 0.25};
    const ProcessRounds where = process_rounds(process);
    const AllMessages all(process, where, {}, {1});
    EXPECT_DOUBLE_EQ(all.squared_sensitivity(0), 0.25 + 0.0625);
}

}  // namespace
}  // namespace sotto
