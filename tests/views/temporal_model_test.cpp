#include "views/temporal_model.hpp"

#include <gtest/gtest.h>

#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(TemporalModel, OfIndependentRoundsNeedsNoFactor) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = decor_plan(graph);
    const TemporalModel temporal = temporal_model_of(
        process_of(graph, plan, phases_of(graph, {{6}})), {View::Kind::neighbours, {0}});
    EXPECT_EQ(temporal.inverse.size(), 0);
    EXPECT_EQ(temporal.model.state_size(), 2) << "agents 2 and 4";
}

TEST(TemporalModel, OfAShortMemoryHasItInTheState) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = with_factor(decor_plan(graph), difference_factor(40));
    const TemporalModel temporal = temporal_model_of(
        process_of(graph, plan, phases_of(graph, {{40}})), {View::Kind::neighbours, {0}});
    EXPECT_EQ(temporal.inverse.size(), 0);
    EXPECT_EQ(temporal.model.state_size(), 2 + 5) << "one lag of five agents' noise";
}

TEST(TemporalModel, OfALongMemoryIsWhitenedAtOnce) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan first = with_factor(decor_plan(graph),
                                        random_factor(TemporalFactor::Kind::dense, 0, 4)),
                    second = with_factor(decor_plan(graph), difference_factor(3));
    const MessageProcess process =
        process_of(graph, first, phases_of(graph, {{4}, {3, 0, {}, &second}}));
    const TemporalModel temporal = temporal_model_of(process, {View::Kind::secure_sum, {0}});
    ASSERT_EQ(temporal.inverse.rows(), 7);
    Eigen::MatrixXd factor = Eigen::MatrixXd::Zero(7, 7);
    factor.topLeftCorner(4, 4) = first.temporal.lower;
    factor.bottomRightCorner(3, 3) = second.temporal.lower;
    EXPECT_TRUE((temporal.inverse * factor).isIdentity(1e-9));
    EXPECT_EQ(temporal.model.state_size(), 5) << "no past noise";
}

}  // namespace
}  // namespace sotto
