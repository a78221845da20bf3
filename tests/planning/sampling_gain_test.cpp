#include "planning/sampling_gain.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "planning/budgets.hpp"

namespace sotto {
namespace {

constexpr int agent_count = 3;

PlanConfig sampled(double epsilon, long rounds) {
    PlanConfig config;
    config.epsilon = epsilon;
    config.rounds = rounds;
    config.batch_size = 100;
    config.adjacency = Adjacency::record_add_remove;
    config.participation = {.cycle = 1, .poisson = true};
    return config;
}

struct Counted {
    std::vector<Exposure> exposures;
    std::vector<PrivacyBudget> budgets;
};
Counted counted(const PlanConfig& config, const std::vector<Eigen::Index>& records) {
    Counted result{build_exposures(config, agent_count, records),
                   build_budgets(config, agent_count)};
    const std::vector<int> all{0, 1, 2};
    count_sampling(result.budgets, result.exposures, config, all);
    return result;
}

/// Standard deviations that dp_accounting finds with every record in every round, and sampled;
/// agent_count digits each.
struct Reference {
    double epsilon;
    Eigen::Index records;
    long rounds;
    double every, poisson;
};

TEST(SamplingGain, IsThatOfDpAccounting) {
    for (const auto& [epsilon, records, rounds, every, poisson] :
         {Reference{1, 1000, 1000, 118, 11.9},
          Reference{3, 10000, 1000, 44, .81},
          Reference{10, 2000, 5000, 35.3, 1.9}}) {
        const PlanConfig config = sampled(epsilon, rounds);
        const auto [exposures, budgets] =
            counted(config, std::vector<Eigen::Index>(agent_count, records));
        const auto gain = sampling_gain(config, budgets.front());
        ASSERT_TRUE(gain);
        EXPECT_NEAR(*gain, every / poisson, every / poisson * .03) << epsilon;
        PlanConfig configured = config;
        configured.participation = {};
        const Counted every_round =
            counted(configured, std::vector<Eigen::Index>(agent_count, records));
        const auto switched = gain_of_switching(
            configured, every_round.budgets.front(), every_round.exposures.front(), records);
        ASSERT_TRUE(switched);
        EXPECT_NEAR(*switched, *gain, *gain * 1e-4);
        // A replaced record moves a sum twice as far.
        configured.adjacency = Adjacency::record;
        const Counted replaced =
            counted(configured, std::vector<Eigen::Index>(agent_count, records));
        EXPECT_NEAR(*gain_of_switching(
                        configured, replaced.budgets.front(), replaced.exposures.front(), records),
                    2 * *gain,
                    *gain * 1e-3);
    }
}

TEST(SamplingGain, OfSwitchingIsNotMoreThanOfFewerRoundsWhereThereAreVeryMany) {
    const Eigen::Index records = 1000;
    const auto gains_of = [records](long rounds) {
        const PlanConfig secret = sampled(3, rounds);
        PlanConfig known = secret;
        known.participation = {};
        const Counted with = counted(secret, std::vector<Eigen::Index>(agent_count, records));
        const Counted without = counted(known, std::vector<Eigen::Index>(agent_count, records));
        return std::pair(
            *sampling_gain(secret, with.budgets.front()),
            *gain_of_switching(known, without.budgets.front(), without.exposures.front(), records));
    };
    const auto [gain, switched] = gains_of(4'000'000);
    // Both are certified to 5e-4.
    EXPECT_LE(switched, gain * (1 + 5e-4));
    EXPECT_GE(switched, gain * .998);
}

TEST(SamplingGain, IsSaidOfTheAgentThatGainsLeast) {
    const PlanConfig config = sampled(1, 100);
    const std::vector<Eigen::Index> records{10000, 1000, 5000};
    const auto [exposures, budgets] = counted(config, records);
    std::vector<double> gains;
    for (const PrivacyBudget& budget : budgets) gains.push_back(*sampling_gain(config, budget));
    EXPECT_EQ(std::ranges::min_element(gains) - gains.begin(), 1);
    const auto said = sampling_statements(config, exposures, budgets, records);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_NE(said.front().find("times less noise than if every record counted in every round."),
              std::string::npos)
        << said.front();
}

TEST(SamplingGain, SaysNothingWhereNothingCanBeGained) {
    const std::vector<Eigen::Index> records(agent_count, 1000);
    PlanConfig config = sampled(1, 100);
    config.participation = {};
    Counted every = counted(config, records);
    ASSERT_EQ(sampling_statements(config, every.exposures, every.budgets, records).size(), 1U);
    EXPECT_TRUE(sampling_statements(config, every.exposures, every.budgets, {}).empty());
    const std::vector<Eigen::Index> as_many_as_a_batch(agent_count, 100);
    every = counted(config, as_many_as_a_batch);
    EXPECT_TRUE(
        sampling_statements(config, every.exposures, every.budgets, as_many_as_a_batch).empty());
    for (const auto change : {+[](PlanConfig& c) { c.adjacency = Adjacency::agent; },
                              +[](PlanConfig& c) { c.mechanism = "anti-pgd"; },
                              +[](PlanConfig& c) { c.noise_std = 1; },
                              +[](PlanConfig& c) { c.calibration = Calibration::rdp; }}) {
        PlanConfig other = config;
        change(other);
        const Counted own = counted(other, records);
        EXPECT_TRUE(sampling_statements(other, own.exposures, own.budgets, records).empty());
    }
}

}  // namespace
}  // namespace sotto
