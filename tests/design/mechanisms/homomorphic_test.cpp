#include <gtest/gtest.h>

#include <cmath>

#include "core/test_support.hpp"
#include "design/message_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(Homomorphic, LeavesTheMeanOverAgentsAsItIs) { expect_mean_untouched("homomorphic"); }

TEST(Homomorphic, NeedsAnAgentThatWeighsItsOwnModel) {
    const Swap swap;
    EXPECT_TRUE(
        contains(message_of<ConfigError>([&] { (void)design_of("homomorphic", swap.input()); }),
                 "agent 0 gives its own model weight 0"));
}

TEST(Homomorphic, SpendsThePureEpsilonOfItsSource) {
    // [H] eq. 27: epsilon(i) = step G (i^2 + i) / b, for gradients of norm G in L1.
    const Graph graph = make_graph(Topology::ring, 6);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.rounds = 9;
    input.steps = {StepSchedule::Kind::constant, 0.2, {}};
    input.kappa = Eigen::VectorXd::Constant(6, 0.7);
    const NoisePlan plan = design_of("homomorphic", input).plan;
    const double scale = std::sqrt(largest_message_variance(plan)(0) / 2) /
                         std::max(1.0, 2.0 / 3 / (1.0 / 3));  // its own copy is the loudest
    constexpr double clip = 0.4;
    for (long i = 1; i <= 9; ++i) {
        const double sensitivity = std::sqrt(
            run_sensitivity_squared(plan, {{}, input.steps, mixing.sparse().diagonal(), 1}, i)(0) *
            observed_precision(plan, {})(0));
        EXPECT_TRUE(relatively_near(
            2 * clip * sensitivity, 0.2 * clip * static_cast<double>(i * i + i) / scale, 1e-9));
        EXPECT_EQ(guarantee_of(plan, 2 * clip * sensitivity, 1e-5).epsilon, 2 * clip * sensitivity);
    }
}

}  // namespace
}  // namespace sotto
