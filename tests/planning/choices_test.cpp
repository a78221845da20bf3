#include "planning/choices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "config/run_fixtures.hpp"
#include "design/shaped_factor.hpp"
#include "fuzz/support.hpp"
#include "net/memory_network.hpp"
#include "planning/budgets.hpp"
#include "planning/planning_fixtures.hpp"
#include "privacy/noise_multiplier.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {
namespace {

using test::config_of;
using test::expect_contains;
using test::message_of;
using test::random_topography;

PlanConfig left_open(const std::string& mechanism, double epsilon, long rounds) {
    PlanConfig config = test::config_of(mechanism);
    config.epsilon = epsilon;
    config.rounds = rounds;
    config.adjacency = Adjacency::record_add_remove;
    config.participation = {.cycle = 1, .poisson = true};
    config.batch_size = 100;
    config.sampling_probability = 0.0427;
    return config;
}

TEST(CycleChoice, HasTheNoiseOfIndependentCalculations) {
    // 20 agents, 480 rounds, constant steps, delta 1e-5, a band of b - 1 rounds; noise beside that
    // of b = 1 at epsilon 1, 3 and 8, to two digits.
    struct Reference {
        long cycle;
        double at_1, at_3, at_8;
    };
    constexpr double probability = 0.0427, delta = 1e-5;
    constexpr long rounds = 480;
    const Topography topography = random_topography(20);
    const std::vector<double> steps(rounds, 1.0);
    const auto noise = [&](long cycle, double epsilon, double objective) {
        const SampledPhase phase{static_cast<double>(cycle) * probability,
                                 (rounds + cycle - 1) / cycle};
        return objective * std::pow(noise_multiplier_for(epsilon, delta, {&phase, 1}), 2);
    };
    const auto objective = [&](long cycle) {
        return solve_shaped_factor(topography.mixing,
                                   Eigen::MatrixXd::Identity(20, 20),
                                   steps,
                                   1,
                                   cycle,
                                   {TemporalShape::Kind::banded, cycle - 1, 0})
            .value;
    };
    const double independent = objective(1);
    for (const auto& [cycle, at_1, at_3, at_8] :
         {Reference{2, 1.02, .93, .78}, Reference{8, 1.23, 1.02, .67}}) {
        const double correlated = objective(cycle);
        for (const auto& [epsilon, expected] : {std::pair(1.0, at_1), {3.0, at_3}, {8.0, at_8}})
            EXPECT_NEAR(
                noise(cycle, epsilon, correlated) / noise(1, epsilon, independent), expected, .0051)
                << "b = " << cycle << ", epsilon " << epsilon;
    }
}

TEST(CycleChoice, IsThePlanThatLeavesLeastAtTheBudget) {
    const Topography topography = random_topography(6);
    for (const double epsilon : {1.0, 10.0}) {
        const PlanConfig config = left_open("mafalda", epsilon, 60);
        const CycleChoice choice = choose_cycle(config, topography, {});
        std::vector<long> cycles;
        for (const CycleCandidate& candidate : choice.candidates) {
            cycles.push_back(candidate.cycle);
            EXPECT_EQ(candidate.band, candidate.cycle - 1);
            EXPECT_GE(candidate.noise, choice.best().noise);
            // The plan itself: what its covariance leaves.
            const PlanConfig own = with_cycle(config, candidate);
            EXPECT_EQ(own.participation.cycle, candidate.cycle);
            const CountedRounds rounds = count_rounds(own, 6, {});
            const PlannedNoise planned = plan_noise(own, topography, rounds);
            EXPECT_NEAR(planned.design.objective / planned.kappa.minCoeff(),
                        candidate.noise,
                        1e-6 * candidate.noise);
            const CountedPlan counted = count_plan(planned.design.plan, own, topography, rounds);
            const SampledRounds by_hand{rounds.budgets[0].limit.parameter().value,
                                        counted.exposures[0].sampling_probability,
                                        (60 + candidate.cycle - 1) / candidate.cycle};
            EXPECT_LE(PrivacyLoss::sampled({&by_hand, 1}).epsilon(1e-5).upper, epsilon);
            EXPECT_TRUE(loss_of(StreamDistribution::gaussian,
                                counted.exposures[0],
                                coalition_precision(planned.design.plan, 0)(0))
                            .within(PrivacyLoss::sampled({&by_hand, 1}), 1e-9));
        }
        EXPECT_EQ(cycles, (std::vector<long>{1, 2, 4, 8, 16, 23}));
        // Where little is allowed sampling hides more than correlation saves.
        if (epsilon == 1)
            EXPECT_EQ(choice.best().cycle, 1);
        else
            EXPECT_GT(choice.best().cycle, 1);
    }
}

TEST(CycleChoice, OfIndependentRoundsIsPlainSampling) {
    const Topography topography = random_topography(6);
    for (const char* mechanism : {"ldp", "pairs"}) {
        const CycleChoice choice = choose_cycle(left_open(mechanism, 3, 40), topography, {});
        EXPECT_EQ(choice.best().cycle, 1);
        ASSERT_GT(choice.candidates.size(), 3U);
        for (const CycleCandidate& candidate : choice.candidates) EXPECT_EQ(candidate.band, 0);
        expect_contains(text_of(choice),
                        "b = 1 leaves least noise; times as much is left by b = 2");
    }
}

TEST(CycleChoice, TriesWhatRecordsRoundsAndBandAllow) {
    const Topography topography = random_topography(3);
    PlanConfig config = left_open("mafalda", 3, 5);
    const auto cycles = [&](const std::vector<Eigen::Index>& records) {
        std::vector<long> result;
        for (const CycleCandidate& candidate :
             choose_cycle(config, topography, records).candidates) {
            result.push_back(candidate.cycle);
            EXPECT_EQ(candidate.band, std::min(candidate.cycle - 1, 2L));
        }
        return result;
    };
    config.temporal = {TemporalShape::Kind::banded, 2, 0};
    EXPECT_EQ(cycles({}), (std::vector<long>{1, 2, 4, 5}));
    config.sampling_probability.reset();
    EXPECT_EQ(cycles({900, 350, 800}), (std::vector<long>{1, 2, 3}));
    config.batch_size = std::nullopt;
    EXPECT_EQ(cycles({900, 350, 800}), std::vector<long>{1});
}

TEST(CycleChoice, IsRefusedWhereNoNoiseIsPlanned) {
    const Topography topography = random_topography(3);
    const auto refusal = [&](auto&& change) {
        PlanConfig config = left_open("mafalda", 3, 5);
        change(config);
        return message_of<ConfigError>([&] { (void)choose_cycle(config, topography, {}); });
    };
    expect_contains(refusal([](PlanConfig& c) { c.noise_std = 1; }), "--noise-std");
    expect_contains(refusal([](PlanConfig& c) { c.plan_file = "plan.json"; }), "--plan");
    expect_contains(refusal([](PlanConfig& c) { c.mechanism = "none"; }), "adds no noise");
    expect_contains(refusal([](PlanConfig& c) { c.temporal.kind = TemporalShape::Kind::one_lag; }),
                    "one-lag");
    expect_contains(refusal([](PlanConfig& c) { c.adjacency = Adjacency::agent; }),
                    "no bound is proved");
    expect_contains(refusal([](PlanConfig& c) { c.calibration = Calibration::rdp; }),
                    "calibration");
}

Topography sparse_topography(int agents) {
    GraphConfig config;
    config.topology.agents = agents;
    config.topology.edge_probability = 0.25;
    return build_topography(config, 1).topography;
}

PlanConfig left_open(const std::string& mechanism) {
    PlanConfig config = config_of(mechanism);
    config.gossip = GossipRule::chebyshev;
    config.utility = {Utility::Kind::horizon, 50};
    return config;
}

double noise_of(PlanConfig config, const Topography& topography, int steps) {
    config.gossip_steps = steps;
    return test::plan(config, topography).planned.design.objective;
}

TEST(GossipChoice, IsTheLeastThatComesNearTheTrustedAggregator) {
    const Topography topography = sparse_topography(12);
    const PlanConfig config = left_open("corn");
    const GossipChoice choice = choose_gossip_steps(config, topography, {}, 8 * 1);
    EXPECT_GT(choice.chosen, 1);
    EXPECT_LE(noise_of(config, topography, choice.chosen), 1.1 * choice.trusted);
    EXPECT_GT(noise_of(config, topography, choice.chosen - 1), 1.1 * choice.trusted);
    EXPECT_FALSE(choice.limited);
    expect_contains(text_of(choice), "K = " + std::to_string(choice.chosen));
}

TEST(GossipChoice, SettlesForWhatTheMechanismCanDo) {
    // Without shared seeds even exact averages leave n times the trusted aggregator's noise.
    const Topography topography = sparse_topography(8);
    const PlanConfig config = left_open("ldp");
    const GossipChoice choice = choose_gossip_steps(config, topography, {}, 8 * 1);
    EXPECT_NEAR(choice.wanted / choice.trusted, 1.1 * 8, 0.1);
    EXPECT_LE(noise_of(config, topography, choice.chosen), choice.wanted);
    if (choice.chosen > 1) {
        EXPECT_GT(noise_of(config, topography, choice.chosen - 1), choice.wanted);
    }
}

TEST(GossipChoice, KeepsWithinBytes) {
    const Topography topography = sparse_topography(12);
    PlanConfig config = left_open("corn");
    const double step = 8.0 * 10 * 2 * static_cast<double>(topography.graph.edges().size()) *
                        static_cast<double>(config.rounds);
    config.max_bytes = 3.5 * step;
    const GossipChoice choice = choose_gossip_steps(config, topography, {}, 8 * 10);
    EXPECT_LE(choice.chosen, 3);
    EXPECT_TRUE(choice.limited);
    EXPECT_LE(noise_of(config, topography, choice.chosen), choice.wanted);
    config.max_bytes = 0.5 * step;
    expect_contains(
        message_of<ConfigError>([&] { (void)choose_gossip_steps(config, topography, {}, 8 * 10); }),
        "max-bytes");
}

TEST(GossipChoice, TakesNoMoreShortMessagesThanFitIntoOneLong) {
    const Topography topography = sparse_topography(12);
    PlanConfig config = left_open("corn");
    const GossipChoice free = choose_gossip_steps(config, topography, {}, 80);
    ASSERT_GT(free.chosen, 2);
    const GossipChoice capped = choose_gossip_steps(config, topography, {}, 80, 80 * 2.5);
    EXPECT_EQ(capped.candidates.back().steps, 2);
    EXPECT_LE(noise_of(config, topography, capped.chosen), 1.1 * capped.candidates.back().noise);
    EXPECT_TRUE(capped.limited);
    // Messages that are no shorter are not limited, and --max-bytes replaces the limit.
    EXPECT_EQ(choose_gossip_steps(config, topography, {}, 80, 80).chosen, free.chosen);
    EXPECT_EQ(choose_gossip_steps(config, topography, {}, 80, 80 * 100.0).chosen, free.chosen);
    config.max_bytes = 1e12;
    EXPECT_EQ(choose_gossip_steps(config, topography, {}, 80, 80 * 2.5).chosen, free.chosen);
}

Topography shaped_topography(Topology topology,
                             int agents,
                             const std::string& mixing = "metropolis") {
    GraphConfig config;
    config.topology.topology = topology;
    config.topology.agents = agents;
    config.mixing = mixing;
    return build_topography(config, 1).topography;
}

constexpr OpenExchanges all_open{.steps = true, .gossip = true, .precision = true};
constexpr OpenExchanges weights_open{.steps = true, .gossip = true};

GossipChoice chosen(const PlanConfig& config,
                    const Topography& topography,
                    MessagePrecision precision,
                    OpenExchanges open,
                    long dimension = 1000) {
    return choose_exchanges(config, topography, {}, dimension, precision, open);
}

TEST(ChosenExchanges, HaveChebyshevWeightsUnlessBytesLimitThem) {
    const Topography ring = shaped_topography(Topology::ring, 20);
    const PlanConfig config = left_open("corn");
    const GossipChoice nibbles = chosen(config, ring, MessagePrecision::nibble, all_open);
    EXPECT_EQ(nibbles.gossip, GossipRule::chebyshev);
    EXPECT_EQ(nibbles.precision, MessagePrecision::nibble);
    EXPECT_GT(nibbles.chosen, 4);
    EXPECT_LE(nibbles.chosen, 15) << "a nibble is a sixteenth of a double";
    // Two exchanges leave more with these weights than with plain ones, and least with optimal
    // ones.
    const GossipChoice floats = chosen(config, ring, MessagePrecision::float32, weights_open);
    EXPECT_EQ(floats.gossip, GossipRule::optimal);
    EXPECT_LE(floats.chosen, 2);
    EXPECT_LT(nibbles.best().noise + nibbles.best().rounding, floats.best().noise);
    EXPECT_GT(chosen(config, ring, MessagePrecision::float32, {.steps = true}).best().noise,
              floats.best().noise);
}

TEST(ChosenExchanges, ArePlainWhereEigenvaluesAreNotRealAndForOne) {
    const Topography directed = shaped_topography(Topology::star, 6, "row-stochastic");
    EXPECT_EQ(chosen(left_open("corn"), directed, MessagePrecision::float32, weights_open).gossip,
              GossipRule::plain);
    const GossipChoice one = chosen(left_open("corn"),
                                    shaped_topography(Topology::complete, 5),
                                    MessagePrecision::nibble,
                                    all_open);
    EXPECT_EQ(one.chosen, 1);
    EXPECT_EQ(one.gossip, GossipRule::plain);
    EXPECT_TRUE(chosen(left_open("cdp"), sparse_topography(8), MessagePrecision::float64, all_open)
                    .candidates.empty());
}

TEST(ChosenExchanges, AreLongWhereNoiseMustBeFarLouderThanWhatStays) {
    // Each agent shares noise with few others, whom two curious agents may be: what is shared with
    // the rest must be loud, and all of it cancels on a complete graph unless it is rounded.
    PlanConfig config = left_open("pairs");
    config.coalition_size = 2;
    config.seed_groups = "nearest:4";
    const Topography complete = shaped_topography(Topology::complete, 60);
    const GossipChoice long_ones = chosen(config, complete, MessagePrecision::nibble, all_open);
    EXPECT_EQ(long_ones.precision, MessagePrecision::float32);
    const GossipChoice asked = chosen(config, complete, MessagePrecision::nibble, weights_open);
    EXPECT_EQ(asked.precision, MessagePrecision::nibble);
    EXPECT_GT(asked.best().noise + asked.best().rounding, 1.25 * long_ones.best().noise);
    // A given K stays.
    config.gossip_steps = 3;
    const GossipChoice given =
        chosen(config, complete, MessagePrecision::nibble, {.precision = true});
    EXPECT_EQ(given.chosen, 3);
    EXPECT_EQ(given.precision, MessagePrecision::float32);
    EXPECT_EQ(given.gossip, config.gossip);
}

TEST(ChosenExchanges, OfManyAgentsAreThoseOfConsensus) {
    const Topography ring = shaped_topography(Topology::ring, 201);
    const GossipChoice choice =
        chosen(left_open("ldp"), ring, MessagePrecision::nibble, weights_open);
    EXPECT_EQ(choice.chosen, 15);
    for (const GossipCandidate& candidate : choice.candidates)
        EXPECT_TRUE(candidate.steps == 1 || candidate.steps == 15) << candidate.steps;
}

TEST(GossipChoice, IsOneStepWhereNothingIsMixedOrPlanned) {
    const Topography topography = sparse_topography(8);
    for (const char* mechanism : {"cdp", "none", "zip-dl"})
        EXPECT_EQ(choose_gossip_steps(left_open(mechanism), topography, {}, 8 * 1).chosen, 1)
            << mechanism;
}

TEST(GossipCosts, AreThoseOfOneTwoFourAndEightSteps) {
    const Topography topography = sparse_topography(8);
    const PlanConfig config = config_of("corn");
    const auto costs = compare_gossip_steps(config, topography, {}, 8 * 100);
    ASSERT_EQ(costs.size(), 4U);
    for (std::size_t i = 0; i < costs.size(); ++i) {
        EXPECT_EQ(costs[i].steps, 1 << i);
        EXPECT_EQ(costs[i].noise, noise_of(config, topography, costs[i].steps));
        EXPECT_EQ(costs[i].bytes, costs[0].bytes * costs[i].steps);
    }
}

constexpr long large = 10'000'000;

AskedPlan with_open_shape(const std::string& mechanism) {
    AskedPlan plan(config_of(mechanism));
    plan.open.temporal = true;
    return plan;
}

TEST(TemporalChoice, IsWhatAgentsCanAfford) {
    const Topography topography = random_topography(6);
    for (const std::string mechanism : {"mafalda", "space-time"}) {
        AskedPlan config = with_open_shape(mechanism);
        EXPECT_EQ(choose_temporal(config, topography, {}, 1).best().kind,
                  TemporalShape::Kind::dense);
        config.batch_size = 1;
        const ShapeChoice choice = choose_temporal(config, topography, {}, large);
        EXPECT_FALSE(choice.keeps_all());
        ASSERT_EQ(choice.candidates.size(), 2U);
        EXPECT_EQ(choice.candidates[0].shape.band, (1L << 28) / 6 / large);
    }
}

TEST(TemporalChoice, CountsAllRecordsWhereBatchesAreAllOfThem) {
    const Topography topography = random_topography(6);
    AskedPlan config = with_open_shape("mafalda");
    config.rounds = 100;
    config.batch_size = std::nullopt;
    EXPECT_FALSE(choose_temporal(config, topography, {}, 200'000).keeps_all());
    EXPECT_FALSE(choose_temporal(config, topography, {1, 2, 3, 4, 5, 40}, 200'000).keeps_all());
    EXPECT_TRUE(choose_temporal(config, topography, {1, 2, 3, 4, 5, 60}, 200'000).keeps_all());
}

TEST(TemporalChoice, IsNotAskedWhereNothingIsOpen) {
    const Topography topography = random_topography(6);
    EXPECT_TRUE(choose_temporal(with_open_shape("ldp"), topography, {}, large).candidates.empty());
    AskedPlan config = with_open_shape("mafalda");
    config.open.temporal = false;
    config.temporal = {TemporalShape::Kind::banded, 3, 7};
    EXPECT_TRUE(choose_temporal(config, topography, {}, large).candidates.empty());
    config = with_open_shape("mafalda");
    config.plan_file = "plan.json";
    EXPECT_TRUE(choose_temporal(config, topography, {}, large).candidates.empty());
}

TEST(TemporalChoice, BoundsTheBandsOfAnOpenCycle) {
    const Topography topography = random_topography(6);
    AskedPlan config = with_open_shape("mafalda");
    config.adjacency = Adjacency::record_add_remove;
    config.participation = {.cycle = 1, .poisson = true};
    config.open.cycle = true;
    config.rounds = 200;
    config.batch_size = 1;
    const ShapeChoice choice = choose_temporal(config, topography, {}, large);
    ASSERT_EQ(choice.candidates.size(), 1U);
    EXPECT_EQ(choice.best(), (TemporalShape{TemporalShape::Kind::banded, 4, 0}));
    EXPECT_EQ(choose_temporal(config, topography, {}, 1).best().band, 200);
}

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
