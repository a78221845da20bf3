#include "planning/cycle_choice.hpp"

#include <cmath>

#include "config/run_fixtures.hpp"
#include "planning/planning_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/design/shaped_factor.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/noise_multiplier.hpp"
#include "sotto/privacy/temporal_sensitivity.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::random_topography;

PlanConfig left_open(const std::string& mechanism, double epsilon, long rounds) {
    PlanConfig config = test::config_of(mechanism);
    config.epsilon = epsilon;
    config.rounds = rounds;
    config.adjacency = Adjacency::record_add_remove;
    config.participation = {.cycle = 1, .poisson = true};
    config.choose_cycle = true;
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
            EXPECT_FALSE(own.choose_cycle);
            EXPECT_EQ(own.participation.cycle, candidate.cycle);
            auto exposures = build_exposures(own, 6, {});
            auto budgets = build_budgets(own, 6);
            count_sampling(budgets, exposures, own, Membership::everybody(6).numbers);
            const PlannedNoise planned = plan_noise(own, topography, exposures, budgets);
            EXPECT_NEAR(planned.design.objective / planned.kappa.minCoeff(),
                        candidate.noise,
                        1e-6 * candidate.noise);
            const CountedPlan counted =
                count_plan(planned.design.plan, own, topography, exposures, budgets);
            const SampledRounds by_hand{budgets[0].limit.parameter().value,
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
    expect_contains(
        message_of<ConfigError>([&] { (void)build_exposures(left_open("ldp", 3, 5), 3, {}); }),
        "cyclic-poisson:auto is not possible here");
}

TEST(CycleChoice, IsThatOfProcessZeroForAllWhoLeaveItOpen) {
    const auto network = make_memory_network(6, 1);
    const Topography topography = random_topography(6);
    const PlanConfig open = left_open("mafalda", 10, 60);
    const AgreedCycle agreed = agree_on_cycle(open, *network, topography, {}, true);
    EXPECT_FALSE(agreed.config.choose_cycle);
    EXPECT_EQ(agreed.config.participation.cycle, agreed.choice.best().cycle);
    EXPECT_EQ(agreed.config.temporal.band, agreed.choice.best().band);
    PlanConfig said = open;
    said.choose_cycle = false;
    said.participation.cycle = 3;
    const AgreedCycle same = agree_on_cycle(said, *network, topography, {}, true);
    EXPECT_TRUE(same.choice.candidates.empty());
    EXPECT_EQ(same.config.participation.cycle, 3);
    EXPECT_EQ(text_of(same.choice), "");
    expect_contains(message_of<NetworkError>(
                        [&] { (void)agree_on_cycle(open, *network, topography, {}, false); }),
                    "rank 0, which says none");
}

}  // namespace
}  // namespace sotto
