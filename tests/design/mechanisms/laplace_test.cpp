#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/message_fixtures.hpp"
#include "sotto/privacy/plan_use.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(Laplace, AddsOneStreamOfEveryAgentToAllCopiesOfItsMessage) {
    for_each_plan(
        find_mechanism("mechanism", "laplace"), [](const DesignInput&, const NoisePlan& plan) {
            EXPECT_TRUE(plan.same_message_to_all());
            ASSERT_EQ(plan.rows.size(), static_cast<std::size_t>(plan.agents));
            for (int u = 0; u < plan.agents; ++u) {
                const NoiseRow& row = plan.rows[static_cast<std::size_t>(u)];
                EXPECT_EQ(row.sender, u);
                EXPECT_EQ(row.streams, std::vector<int>{u});
                EXPECT_EQ(plan.groups[static_cast<std::size_t>(u)].members, std::vector<int>{u});
                EXPECT_EQ(plan.streams[static_cast<std::size_t>(u)].distribution,
                          StreamDistribution::laplace);
            }
        });
}

TEST(Laplace, HasTheScaleOfAllStepsOfAParticipationTogether) {
    // One change moves the messages by eta_t in every round t, which the noise of each hides by
    // itself: the loss is sum eta_t / b, and kappa allows sqrt(T kappa).
    const Graph graph = make_graph(Topology::ring, 6);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.rounds = 9;
    input.steps = {StepSchedule::Kind::constant, 0.2, {}};
    input.kappa = Eigen::VectorXd::Constant(6, 0.7);
    const double scale = 9 * 0.2 / std::sqrt(9 * 0.7);
    const Eigen::VectorXd variances = largest_message_variance(design_of("laplace", input).plan);
    for (int u = 0; u < 6; ++u)
        EXPECT_TRUE(relatively_near(variances(u), 2 * scale * scale, 1e-9)) << "agent " << u;
}

}  // namespace
}  // namespace sotto
