// Limits for differences of honest messages, by hand and with the noise that is really drawn. Noise
// seeds are fixed, so the figures are the same in every run.

#include "agent/honest_spread.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "agent/agent_fixtures.hpp"
#include "noise/noise_source.hpp"
#include "trust/key_ring.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// Two agents that add noise of their own, of this deviation, and take half of each message.
NoisePlan noise_of_two(double deviation) {
    NoisePlan plan;
    plan.mechanism = "ldp";
    plan.agents = 2;
    plan.scale = deviation;
    plan.groups = {{{0}}, {{1}}};
    plan.streams = {{0, 0}, {1, 0}};
    plan.rows = {{0, NoiseRow::all_receivers, {0}, {1}}, {1, NoiseRow::all_receivers, {1}, {1}}};
    plan.grid_step_log2 = -40;
    return plan;
}

TEST(HonestSpread, IsWhatAHandComputes) {
    const Topography two = test::topography_of(Topology::complete, 2);
    ASSERT_EQ(two.mixing.weight(0, 1), 0.5);
    const NoisePlan plan = noise_of_two(2);
    HonestSpread spread({plan, two.mixing, 1, 3, 100, 4});
    spread.begin_round(0.5);
    // Models are equal after every round: what differs is the round's noise, of variance 2 (.5 2)^2.
    EXPECT_NEAR(spread.variance(0, 0, 1), 2, 1e-12);
    EXPECT_EQ(spread.average_variance(0, 1), 0);
    // |g_0 - g_1| <= 2 C, times the step.
    EXPECT_NEAR(spread.gradients(0, 0, 1), 0.5 * 2 * 3, 1e-9);
    EXPECT_NEAR(spread.limit(0, 0, 1),
                std::sqrt(2.0) * (10 + std::sqrt(2 * std::log(100.0))) + 3,
                1e-9);
    EXPECT_EQ(spread.share(), 1);
    spread.begin_round(0.5);
    EXPECT_NEAR(spread.average_variance(0, 1), 2, 1e-12);
    EXPECT_EQ(spread.share(), 0.5);
    spread.begin_round(0.5);  // the mean of two independent differences
    EXPECT_NEAR(spread.average_variance(0, 1), 1, 1e-12);
}

/// Differences of messages and of their averages, with noise as it is drawn.
struct Counted {
    double messages = 0, beyond = 0, averages = 0, averages_beyond = 0;
    double squares = 0, average_squares = 0;  // sums of measured over predicted
};

Counted count(const Topography& where,
              const NoisePlan& plan,
              const GossipPolynomial& gossip,
              Index dimension,
              long rounds) {
    constexpr double step = 0.3;
    const int n = plan.agents;
    HonestSpread spread({plan, where.mixing, gossip, 0, dimension, 15});
    const auto network = make_memory_network(n, 1);
    const auto rings = distribute_seeds(*network, plan, 6);
    NoiseSource source(plan, rings, 1);
    MatrixXd models = MatrixXd::Zero(dimension, n), noise(dimension, n);
    MatrixXd average = MatrixXd::Zero(dimension, n);
    const MatrixXd mixing = where.mixing.dense().transpose();
    Counted counted;
    for (long t = 0; t < rounds; ++t) {
        source.draw(1, static_cast<std::uint64_t>(t), noise);
        spread.begin_round(step);
        const auto d = static_cast<double>(dimension);
        for (int u = 0; u < n && t > 0; ++u)
            for (int v = 0; v < u; ++v) {
                const double norm = (average.col(v) - average.col(u)).norm();
                ++counted.averages;
                if (norm > spread.average_noise(u, v)) ++counted.averages_beyond;
                counted.average_squares += norm * norm / (d * spread.average_variance(u, v));
            }
        MatrixXd earlier, here = models - step * noise, mean = MatrixXd::Zero(dimension, n);
        for (int k = 0; k < gossip.steps(); ++k) {
            for (int u = 0; u < n; ++u)
                for (int v = 0; v < u; ++v) {
                    const double norm = (here.col(v) - here.col(u)).norm();
                    ++counted.messages;
                    if (norm > spread.limit(k, u, v)) ++counted.beyond;
                    counted.squares += norm * norm / (d * spread.variance(k, u, v));
                }
            mean += here / gossip.steps();
            MatrixXd next = gossip.here(k) * (here * mixing);
            if (k > 0) next -= gossip.before(k) * earlier;
            earlier = here;
            here = next;
        }
        models = here;
        average = (1 - spread.share()) * average + spread.share() * mean;
    }
    return counted;
}

TEST(HonestSpread, ClipsLessThanOneHonestMessageInAHundred) {
    const Topography where = test::topography_of(Topology::erdos_renyi, 10, 0.5);
    for (const char* mechanism : {"Ldp", "Pairs"})
        for (const int steps : {1, 3}) {
            const auto cases = test::mechanism_cases();
            const auto entry = std::ranges::find(cases, mechanism, &test::MechanismCase::label);
            const NoisePlan plan = test::plan_of(*entry, where, test::uneven_limits(10));
            const GossipPolynomial gossip =
                gossip_polynomial(where.mixing, GossipRule::chebyshev, steps);
            const Counted counted = count(where, plan, gossip, 40, 200);
            EXPECT_LT(counted.beyond, 0.01 * counted.messages) << mechanism << steps;
            EXPECT_LT(counted.averages_beyond, 1e-3 * counted.averages) << mechanism << steps;
            EXPECT_NEAR(counted.squares / counted.messages, 1, 0.03) << mechanism << steps;
            EXPECT_NEAR(counted.average_squares / counted.averages, 1, 0.1) << mechanism << steps;
        }
}

TEST(HonestSpread, NeedsIndependentGaussianNoiseOnGradients) {
    const Topography two = test::topography_of(Topology::complete, 2);
    NoisePlan plan = noise_of_two(2);
    plan.entry = NoiseEntry::message;
    EXPECT_THROW(HonestSpread({plan, two.mixing, 1, 3, 100, 4}), Error);
}

}  // namespace
}  // namespace sotto
