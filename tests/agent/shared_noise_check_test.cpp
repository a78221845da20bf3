#include "agent/shared_noise_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "agent/agent_fixtures.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr int pair_agents = 4;
constexpr double eta_of_pairs = 0.3;

/// Noise of every pair of agents, which cancels between the two, and a little of each one's
/// own.
NoisePlan noise_of_pairs(double own) {
    NoisePlan plan;
    plan.mechanism = "pairs";
    plan.agents = pair_agents;
    plan.scale = 2;
    plan.grid_step_log2 = -40;
    for (int u = 0; u < pair_agents; ++u) plan.rows.push_back({u, NoiseRow::all_receivers, {}, {}});
    const auto add = [&plan](std::vector<int> members, std::vector<double> coefficients) {
        const auto stream = static_cast<int>(plan.streams.size());
        for (std::size_t k = 0; k < members.size(); ++k) {
            NoiseRow& row = plan.rows[static_cast<std::size_t>(members[k])];
            row.streams.push_back(stream);
            row.coefficients.push_back(coefficients[k]);
        }
        plan.streams.push_back({stream, 0});
        plan.groups.push_back({std::move(members)});
    };
    for (int u = 0; u < pair_agents; ++u)
        for (int v = u + 1; v < pair_agents; ++v) add({u, v}, {1, -1});
    for (int u = 0; u < pair_agents; ++u) add({u}, {own});
    plan.validate();
    return plan;
}

std::vector<KeyRing> rings_of(const NoisePlan& plan, std::uint64_t seed) {
    std::vector<KeyRing> rings;
    for (int u = 0; u < pair_agents; ++u) {
        KeyRing& ring = rings.emplace_back(u);
        for (std::size_t g = 0; g < plan.groups.size(); ++g)
            if (std::ranges::binary_search(plan.groups[g].members, u))
                ring.add(static_cast<int>(g), SecretKey::from_noise_seed(seed, "test.shared", g));
    }
    return rings;
}

struct PairLies {
    double pair_noise = 1;   ///< part of it that the last agent sends
    double other = 0;        ///< deviation of what it adds
    long honest_rounds = 0;  ///< before
    Index piece = 1000;      ///< coordinates of a piece
};

/// How many of the first agents say after some rounds that the last one failed, and how many
/// that another did.
std::pair<int, int> failures(const NoisePlan& plan,
                             std::uint64_t seed,
                             double false_alarms,
                             long rounds,
                             Index dimension,
                             const PairLies& lies = {}) {
    const Topography all = test::topography_of(Topology::complete, pair_agents);
    const std::vector<KeyRing> rings = rings_of(plan, seed);
    SharedNoiseCheck check(plan, all.mixing, rings, {false_alarms, rounds, dimension});
    NoiseSource honest(plan, rings, 1);
    const auto own = with_streams(plan, [&](int stream) {
        return plan.groups[static_cast<std::size_t>(
                               plan.streams[static_cast<std::size_t>(stream)].group)]
                   .members.size() == 1;
    });
    NoiseSource alone(own, rings, 1);
    SeededRandom random(seed, "test.shared.models");
    MatrixXd models(dimension, pair_agents), noise(dimension, pair_agents),
        single(dimension, pair_agents);
    for (long t = 0; t < rounds; ++t) {
        for (double& value : models.reshaped()) value = 3 * random.normal();
        honest.draw(0, static_cast<std::uint64_t>(t), noise);
        alone.draw(0, static_cast<std::uint64_t>(t), single);
        if (t >= lies.honest_rounds) {
            auto liar = noise.col(pair_agents - 1);
            liar = lies.pair_noise * (liar - single.col(pair_agents - 1)) +
                   single.col(pair_agents - 1);
            for (double& value : liar) value += lies.other * random.normal();
        }
        const MatrixXd messages = models - eta_of_pairs * noise;
        check.begin_round(0, static_cast<std::uint64_t>(t), eta_of_pairs);
        for (std::size_t u = 0; u < pair_agents; ++u)
            for (std::size_t v = 0; v < pair_agents; ++v)
                for (Index first = 0; first < dimension && u != v; first += lies.piece)
                    check.look(u,
                               v,
                               first,
                               std::min(lies.piece, dimension - first),
                               messages.col(static_cast<Index>(v)).data() + first,
                               models.col(static_cast<Index>(u)).data());
    }
    std::pair<int, int> counts{0, 0};
    for (std::size_t u = 0; u < pair_agents; ++u)
        for (std::size_t v = 0; v < pair_agents; ++v)
            if (u != v && check.failed(u, v))
                ++(v + 1 == pair_agents ? counts.first : counts.second);
    return counts;
}

TEST(SharedNoiseCheck, ErrsAsOftenAsItSays) {
    // In a single round both statistics are the same: half the union bound.
    const NoisePlan plan = noise_of_pairs(0.5);
    constexpr int runs = 1000;
    int alarms = 0;
    for (std::uint64_t run = 0; run < runs; ++run) {
        const auto [last, others] = failures(plan, run, 0.4, 1, 60);
        alarms += last + others;
    }
    EXPECT_NEAR(alarms / static_cast<double>(runs), 0.2, 4 * std::sqrt(0.2 / runs));
    // Averages do not err more often than single rounds do.
    int later = 0;
    for (std::uint64_t run = 0; run < 200; ++run) {
        const auto [last, others] = failures(plan, run, 0.4, 200, 20);
        later += last + others > 0 ? 1 : 0;
    }
    EXPECT_LT(later / 200.0, 0.4);
    EXPECT_GT(later / 200.0, 0.05);
}

TEST(SharedNoiseCheck, FindsWhoLeavesNoiseOutOrTurnsIt) {
    const NoisePlan plan = noise_of_pairs(0.5);
    constexpr double alarms = 1e-11;
    EXPECT_EQ(failures(plan, 1, alarms, 100, 400), std::pair(0, 0));
    // Gradients, and whatever else does not depend on the noise, are not found.
    EXPECT_EQ(failures(plan, 1, alarms, 100, 400, {1, 20}), std::pair(0, 0));
    for (const double part : {0.0, -1.0, 2.0})
        EXPECT_EQ(failures(plan, 2, alarms, 100, 400, {part}), std::pair(3, 0)) << part;
    // In pieces, and after it was honest for long.
    EXPECT_EQ(failures(plan, 3, alarms, 200, 400, {0, 0, 100, 150}), std::pair(3, 0));
    // In a single round of many coordinates.
    EXPECT_EQ(failures(plan, 4, alarms, 1, 20000, {0}), std::pair(3, 0));
}

TEST(SharedNoiseCheck, TestsNobodyWhoSharesNothing) {
    NoisePlan plan = noise_of_pairs(1);
    plan = with_streams(plan,
                        [](int stream) { return stream >= pair_agents * (pair_agents - 1) / 2; });
    const Topography all = test::topography_of(Topology::complete, pair_agents);
    const std::vector<KeyRing> rings = rings_of(plan, 1);
    const SharedNoiseCheck check(plan, all.mixing, rings, {1e-11, 10, 5});
    for (std::size_t u = 0; u < pair_agents; ++u)
        for (std::size_t v = 0; v < pair_agents; ++v) EXPECT_FALSE(check.tests(u, v));
    const NoisePlan none = test::silent_plan(pair_agents);
    EXPECT_FALSE(SharedNoiseCheck(none, all.mixing, rings, {1e-11, 10, 5}).tests(0, 1));
}

}  // namespace
}  // namespace sotto
