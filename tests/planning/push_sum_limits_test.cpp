#include "planning/push_sum_limits.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "mpi/trainer_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

TEST(PushSumLimits, AreRegularisationAndNoiseOnMessages) {
    const Graph graph = Graph::from_arcs(3, {{0, 1}, {1, 2}, {2, 0}});
    const Topography sums{graph, MixingMatrix::from_rule(graph, MixingRule::push_sum)};
    const Topography means{graph, MixingMatrix::from_rule(graph, MixingRule::row_stochastic)};
    NoisePlan plan;
    plan.mechanism = "laplace";
    plan.agents = 3;
    EXPECT_NO_THROW(require_possible_push_sum(sums, plan, 0));
    expect_contains(message_of<ConfigError>([&] { require_possible_push_sum(sums, plan, 0.01); }),
                    "l2: 0.01 is not possible with --mixing push-sum");
    EXPECT_NO_THROW(require_possible_push_sum(means, plan, 0.01));
    plan.entry = NoiseEntry::message;
    expect_contains(message_of<ConfigError>([&] { require_possible_push_sum(sums, plan, 0); }),
                    "push-sum is not possible with a plan of mechanism laplace");
    EXPECT_NO_THROW(require_possible_push_sum(means, plan, 0));
}

}  // namespace
}  // namespace sotto
