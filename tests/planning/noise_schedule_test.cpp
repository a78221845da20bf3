#include "planning/noise_schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "core/temporary_folder.hpp"
#include "planning/planning_fixtures.hpp"
#include "planning/settle.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/ledger.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {
namespace {

using test::config_of;
using test::expect_contains;
using test::message_of;
using test::random_topography;

PlanConfig linear_config(const std::string& mechanism, long rounds) {
    PlanConfig config = config_of(mechanism);
    config.rounds = rounds;
    config.steps = {StepSchedule::Kind::linear, 0.1, {}, 0, rounds};
    config.noise_schedule = "auto";
    return config;
}

/// With the schedule settled.
PlanConfig scheduled(PlanConfig config, double l2 = 0) {
    config.round_noise = round_noise_of(config, l2);
    return config;
}

/// The model that is returned, of one coordinate, if round t has noise 1 and no other round any.
double response(const PlanConfig& config, double l2, long noisy) {
    double model = 0, velocity = 0, mean = 0;
    const long tail = config.average.tail_rounds(config.rounds);
    for (long t = 0; t < config.rounds; ++t) {
        const double step = config.steps.at(t);
        velocity = config.momentum * velocity + (t == noisy ? 1 : 0);
        model = (1 - step * l2) * model - step * velocity;
        if (config.average.kind == ModelAverage::Kind::exponential)
            mean = config.average.value * mean + (1 - config.average.value) * model;
        else if (t >= config.rounds - tail)
            mean += model / static_cast<double>(tail);
    }
    return config.average.none() ? model : mean;
}

TEST(NoiseWeights, AreTheSquaredResponsesOfTheReturnedModel) {
    for (const double l2 : {0.0, 0.7})
        for (const double momentum : {0.0, 0.8})
            for (const ModelAverage& average :
                 {ModelAverage{},
                  ModelAverage{ModelAverage::Kind::tail, 0.4},
                  ModelAverage{ModelAverage::Kind::exponential, 0.9}}) {
                PlanConfig config = linear_config("ldp", 12);
                config.momentum = momentum;
                config.average = average;
                const std::vector<double> weights = noise_weights(config, l2);
                ASSERT_EQ(weights.size(), 12U);
                for (long t = 0; t < 12; ++t)
                    EXPECT_NEAR(weights[static_cast<std::size_t>(t)],
                                std::pow(response(config, l2, t), 2),
                                1e-14)
                        << name_of(average) << " " << l2 << " " << momentum << " " << t;
            }
}

TEST(BestNoise, LeavesNoMoreThanAnyOtherAndTheKnownGain) {
    const std::vector<double> weights{9, 4, 4, 1, 0.25, 0.01};
    const std::vector<double> best = best_noise(weights);
    double roots = 0, sum = 0;
    for (const double weight : weights) {
        roots += std::sqrt(weight);
        sum += weight;
    }
    const double least = share_left(weights, best);
    EXPECT_NEAR(least, roots * roots / (static_cast<double>(weights.size()) * sum), 1e-12);
    EXPECT_NEAR(share_left(weights, std::vector<double>(6, 3.0)), 1, 1e-12);
    // Coordinate descent from equal noise, by brute force.
    std::vector<double> found(6, 1.0);
    for (double width = 0.5; width > 1e-5; width /= 2)
        for (int sweep = 0; sweep < 60; ++sweep)
            for (double& one : found)
                for (const double factor : {1 + width, 1 / (1 + width)}) {
                    const double before = share_left(weights, found), kept = one;
                    one *= factor;
                    if (!(share_left(weights, found) < before)) one = kept;
                }
    EXPECT_NEAR(share_left(weights, found), least, 1e-6);
    EXPECT_GE(share_left(weights, found), least * (1 - 1e-12));
}

TEST(BestNoise, IsBoundedWhereARoundLeavesNothing) {
    const std::vector<double> best = best_noise({1, 0, 1e-30});
    EXPECT_EQ(best[0], 1);
    EXPECT_NEAR(best[1], most_uneven_noise, 1e-12);
    EXPECT_NEAR(best[2], most_uneven_noise, 1e-12);
}

TEST(Levels, AreFewAndKeepTheSumOfPrecisions) {
    std::vector<double> relative;
    for (int t = 0; t < 200; ++t) relative.push_back(std::exp(0.017 * t));
    const std::vector<double> levels = with_levels(relative, most_noise_levels);
    EXPECT_EQ(std::set<double>(levels.begin(), levels.end()).size(),
              static_cast<std::size_t>(most_noise_levels));
    double before = 0, after = 0;
    for (std::size_t t = 0; t < relative.size(); ++t) {
        before += std::pow(relative[t], -2);
        after += std::pow(levels[t], -2);
        EXPECT_NEAR(levels[t], relative[t], 0.35 * relative[t]);
    }
    EXPECT_NEAR(after, before, 1e-9 * before);
    EXPECT_EQ(with_levels({2, 2}, 16), (std::vector<double>{2, 2}));
}

TEST(ScheduledFactor, RevealsAsMuchAsEqualNoiseAndGoesOnWhereAPhaseBegins) {
    PlanConfig config = scheduled(linear_config("ldp", 60));
    const Eigen::VectorXd all = scheduled_factor(config).lower;
    EXPECT_NEAR(all.squaredNorm(), 60, 1e-10);
    EXPECT_NEAR(config.round_noise.left, 0.75, 1e-3);
    config.rounds = 20;
    config.steps.first_round = 40;
    const Eigen::VectorXd rest = scheduled_factor(config).lower;
    EXPECT_NEAR(rest.squaredNorm(), 20, 1e-10);
    const double factor = rest(0) / all(40);
    EXPECT_TRUE(rest.isApprox(factor * all.tail(20), 1e-12));
    config.rounds = 21;
    EXPECT_THROW((void)scheduled_factor(config), Error);
    // Equal rounds have no factor at all.
    PlanConfig constant = linear_config("ldp", 60);
    constant.steps = {};
    EXPECT_EQ(scheduled_factor(scheduled(constant)).kind, TemporalFactor::Kind::identity);
    EXPECT_EQ(schedule_text(scheduled(constant)), "auto: equal noise in all rounds");
    constant.noise_schedule = "constant";
    EXPECT_TRUE(round_noise_of(constant, 0).relative.empty());
}

TEST(ScheduledPlan, HasTheLossOfItsRoundsSoFarAndTheBudgetInTheEnd) {
    const Topography topography = random_topography(5);
    for (const char* mechanism : {"ldp", "corn", "pairs", "cdp"}) {
        const PlanConfig config = scheduled(linear_config(mechanism, 50));
        const test::Planned planned = test::plan(config, topography);
        const NoisePlan& plan = planned.planned.design.plan;
        EXPECT_NO_THROW(require_asked_schedule(plan, config));
        PrivacyRecord record;
        record.phases = {
            first_phase(plan, planned.exposures, plan_use(config, topography.mixing), 50)};
        record.budgets = planned.budgets;
        record.rounds = 50;
        const Ledger ledger(std::move(record));
        const double mu = gdp_mu(config.epsilon, config.delta);
        EXPECT_NEAR(ledger.mu_after(50), mu, 1e-5 * mu) << mechanism;
        // sum d_t^2 of the rounds sent, not their share.
        const double sent = plan.temporal.lower.col(0).head(20).squaredNorm();
        EXPECT_NEAR(std::pow(ledger.mu_after(20) / ledger.mu_after(50), 2), sent / 50, 1e-9)
            << mechanism;
        EXPECT_GT(sent / 50, 0.5) << mechanism;  // a linear step has its quiet rounds first
        EXPECT_EQ(ledger.epsilon_after(0), 0) << mechanism;
    }
}

TEST(ScheduledPlan, OfSecretBatchesHasTheCompositionOfItsLevels) {
    const Topography topography = random_topography(5);
    PlanConfig config = linear_config("pairs", 80);
    config.adjacency = Adjacency::record_add_remove;
    config.participation = {.cycle = 1, .poisson = true};
    config.batch_size = 20;
    config.epsilon = 2;
    config = scheduled(config);
    const std::vector<Eigen::Index> records(5, 400);
    const SettledPlan settled(config);
    CountedRounds counted = count_rounds(settled, 5, records);
    const NoisePlan plan = plan_noise(settled, topography, counted).design.plan;
    const CountedPlan of_plan = count_plan(plan, settled, topography, counted);
    ASSERT_LE(of_plan.exposures[0].levels.size(), static_cast<std::size_t>(most_noise_levels));
    ASSERT_GT(of_plan.exposures[0].levels.size(), 4U);
    PrivacyRecord record;
    record.phases = {first_phase(plan, of_plan.exposures, plan_use(config, topography.mixing), 80)};
    record.budgets = of_plan.budgets;
    record.rounds = 80;
    const Ledger ledger(std::move(record));
    const double reached = ledger.epsilon_after(80);
    EXPECT_LE(reached, 2 * (1 + 1e-6));
    EXPECT_GT(reached, 1.99);
    // By hand, round by round, for an agent against its worst coalition.
    const Eigen::VectorXd precision = coalition_precision(plan, plan.coalition_size);
    for (const long sent : {30L, 80L}) {
        std::vector<SampledRounds> rounds;
        for (long t = 0; t < sent; ++t)
            rounds.push_back({1 / (of_plan.exposures[0].sensitivity * std::sqrt(precision(0)) *
                                   plan.temporal.lower(t, 0)),
                              0.05,
                              1});
        const double by_hand = PrivacyLoss::sampled(rounds).epsilon(config.delta).upper;
        EXPECT_NEAR(ledger.after(sent, 0).epsilon, by_hand, 1e-4 * by_hand) << sent;
    }
}

TEST(ScheduledPlan, IsComparedWithTheOneAskedFor) {
    const Topography topography = random_topography(5);
    const PlanConfig config = scheduled(linear_config("corn", 40));
    NoisePlan plan = test::plan(config, topography).planned.design.plan;
    PlanConfig constant = config;
    constant.noise_schedule = "constant";
    constant.round_noise = {};
    EXPECT_THROW(require_asked_schedule(plan, constant), PrivacyError);
    plan.temporal.lower(3, 0) *= 1.01;
    expect_contains(message_of<PrivacyError>([&] { require_asked_schedule(plan, config); }),
                    "the noise of its rounds is not that of --noise-schedule auto");
    plan.temporal = {};
    EXPECT_THROW(require_asked_schedule(plan, config), PrivacyError);
    EXPECT_NO_THROW(require_asked_schedule(plan, constant));
}

TEST(ScheduledPlan, HasAGridForItsQuietestRound) {
    PlanConfig constant = linear_config("ldp", 40);
    constant.noise_schedule = "constant";
    const Topography topography = random_topography(4);
    const NoisePlan equal = test::plan(constant, topography).planned.design.plan;
    const auto grid_with = [&](double quietest, double loudest) {
        TemporalFactor factor{TemporalFactor::Kind::banded, Eigen::MatrixXd::Ones(40, 1)};
        factor.lower(0, 0) = quietest;
        factor.lower(1, 0) = loudest;
        return with_schedule(equal, factor).grid_step_log2;
    };
    EXPECT_EQ(grid_with(1, 0.5), equal.grid_step_log2);
    EXPECT_EQ(grid_with(4, 0.5), equal.grid_step_log2 - 2);
    EXPECT_THROW((void)grid_with(1, 1e-12), PrivacyError);
}

void write_lines(const std::string& path, const std::vector<std::string>& lines) {
    std::ofstream file(path);
    for (const std::string& line : lines) file << line << "\n";
}

TEST(ScheduleFile, HasANumberForEveryRound) {
    const test::TemporaryFolder folder;
    PlanConfig config = linear_config("ldp", 3);
    config.noise_schedule = folder.path("noise.txt");
    write_lines(config.noise_schedule, {"# quiet, then loud", "1", " 2.5 # twice", "", "4"});
    EXPECT_EQ(round_noise_of(config, 0).relative, (std::vector<double>{1, 2.5, 4}));
    const auto refusal = [&](const std::vector<std::string>& lines) {
        write_lines(config.noise_schedule, lines);
        return message_of<DataError>([&] { (void)round_noise_of(config, 0); });
    };
    expect_contains(refusal({"1", "2"}), "noise.txt: 2 numbers for 3 rounds");
    expect_contains(refusal({"1", "2", "3", "4"}), "noise.txt:4: 4 is one number more than");
    expect_contains(refusal({"1", "0", "3"}), "noise.txt:2: 0");
    expect_contains(refusal({"1", "-2", "3"}), "noise.txt:2: -2");
    expect_contains(refusal({"1", "two", "3"}), "noise.txt:2");
    expect_contains(refusal({"1", "nan", "3"}), "noise.txt:2");
    expect_contains(refusal({"1", "40", "3"}),
                    "noise.txt:2: 40 makes noise of rounds more than 32");
    config.noise_schedule = folder.path("missing.txt");
    EXPECT_THROW((void)round_noise_of(config, 0), DataError);
}

TEST(Schedule, IsRefusedWhereItIsNotCounted) {
    const auto refusal = [](const std::function<void(PlanConfig&)>& change) {
        PlanConfig config = linear_config("corn", 20);
        change(config);
        return message_of<ConfigError>([&] { (void)round_noise_of(config, 0); });
    };
    for (const char* mechanism :
         {"mafalda", "space-time", "anti-pgd", "zip-dl", "homomorphic", "none"})
        expect_contains(refusal([&](PlanConfig& config) { config.mechanism = mechanism; }),
                        "noise-schedule: auto is not possible with mechanism");
    expect_contains(refusal([](PlanConfig& config) { config.participation = {4}; }),
                    "with --participation cyclic:4");
    expect_contains(
        refusal([](PlanConfig& config) { config.participation = {.cycle = 4, .poisson = true}; }),
        "with --participation cyclic-poisson:4");
    expect_contains(refusal([](PlanConfig& config) { config.participation.rounds_an_epoch = 5; }),
                    "with --participation allocation:5");
    expect_contains(refusal([](PlanConfig& config) { config.noise_std = 2; }), "with --noise-std");
    expect_contains(refusal([](PlanConfig& config) { config.plan_file = "plan.json"; }),
                    "with --plan");
    expect_contains(refusal([](PlanConfig& config) { config.precondition_every = 10; }),
                    "with --precondition-every");
    for (const std::string& mechanism : mechanisms().names())
        if (find_mechanism("mechanism", mechanism).distribution == StreamDistribution::laplace)
            expect_contains(refusal([&](PlanConfig& config) { config.mechanism = mechanism; }),
                            "is not Gaussian noise");
}

TEST(Schedule, IsSettledFromOptionsAlone) {
    const Topography topography = random_topography(5);
    AskedPlan asked(linear_config("corn", 30));
    const Settlement plain = settle(asked, {.topography = topography});
    const Settlement shrunk = settle(asked, {.topography = topography, .l2 = 2});
    EXPECT_EQ(plain.plan.round_noise.relative.size(), 30U);
    EXPECT_GT(shrunk.plan.round_noise.relative[0] / shrunk.plan.round_noise.relative[10],
              plain.plan.round_noise.relative[0] / plain.plan.round_noise.relative[10]);
    // The report says it.
    expect_contains(schedule_text(plain.plan), "auto: rounds have 0.7");
}

}  // namespace
}  // namespace sotto
