#include "planning/budgets.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "planning/planning_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {
namespace {

using test::config_of;
using test::expect_contains;
using test::message_of;
using test::plan;
using test::Planned;
using test::random_topography;
using test::TemporaryFolder;

TEST(BuildBudgets, GiveEveryAgentTheConfiguredOne) {
    const PlanConfig config = config_of("corn");
    const auto budgets = build_budgets(config, 3);
    ASSERT_EQ(budgets.size(), 3u);
    for (const auto& budget : budgets) {
        EXPECT_EQ(budget.epsilon, 10);
        EXPECT_EQ(budget.limit, PrivacyLoss::gaussian(gdp_mu(10, 1e-5)));
    }
    // Without noise there is nothing to promise.
    for (const auto& budget : build_budgets(config_of("none"), 3))
        EXPECT_EQ(budget.limit, PrivacyLoss());
    for (const auto& budget : build_budgets(config_of("laplace"), 3))
        EXPECT_EQ(budget.limit, PrivacyLoss::pure(10));
    EXPECT_THROW((void)build_budgets(config_of("corm"), 3), ConfigError);
    for (const double bad : {0.0, -1.0, std::nan("")}) {
        PlanConfig wrong = config;
        wrong.epsilon = bad;
        EXPECT_THROW((void)build_budgets(wrong, 3), ConfigError);
    }
}

TEST(BuildBudgets, ReadsBothFormatsOfAFile) {
    const TemporaryFolder folder;
    PlanConfig config = config_of("ldp");
    for (const char* text :
         {"1\n2.5\n\n# comment\n4 # of agent 2\n", "2 4\n0 1\n1 2.5\n", "1, 2.5\r\n0,1\r\n2\t4"}) {
        config.budgets_file = folder.write("budgets.txt", text);
        const auto budgets = build_budgets(config, 3);
        ASSERT_EQ(budgets.size(), 3u);
        EXPECT_EQ(budgets[0].epsilon, 1);
        EXPECT_EQ(budgets[1].epsilon, 2.5);
        EXPECT_EQ(budgets[2].epsilon, 4);
        for (const auto& budget : budgets)
            EXPECT_EQ(budget.limit, PrivacyLoss::gaussian(gdp_mu(budget.epsilon, config.delta)));
    }
}

TEST(BuildBudgets, RefusesFilesThatLeaveDoubt) {
    const TemporaryFolder folder;
    PlanConfig config = config_of("ldp");
    const auto refusal = [&](const std::string& text) {
        config.budgets_file = folder.write("budgets.txt", text);
        try {
            (void)build_budgets(config, 3);
        } catch (const Error& error) {
            expect_contains(error.what(), "budgets.txt");
            return std::string(error.what());
        }
        ADD_FAILURE() << "accepted: " << text;
        return std::string();
    };
    expect_contains(refusal("1\n2\n"), "2 budgets for 3 agents");
    expect_contains(refusal("1\n2\n3\n4\n"), "one budget more than there are agents, 3");
    expect_contains(refusal("0 1\n2 3\n"), "2 budgets for 3 agents");
    expect_contains(refusal(""), "0 budgets for 3 agents");
    expect_contains(refusal("0 1\n1 2\n1 3\n2 4\n"), "agent 1 appears twice");
    expect_contains(refusal("0 1\n1 2\n3 3\n"), ":3");
    expect_contains(refusal("0 1\n1 2\n-1 3\n"), ":3");
    expect_contains(refusal("0 1\n1 2\n3\n"), "mixed");
    expect_contains(refusal("9\n0 1\n1 2\n2 3\n"), "mixed");
    expect_contains(refusal("0 1 2\n"), ":1");
    expect_contains(refusal("1\ntwo\n3\n"), "two");
    expect_contains(refusal("1\nnan\n3\n"), ":2");
    expect_contains(refusal("1\n-2\n3\n"), "-2");
    expect_contains(refusal("1\n0\n3\n"), ":2");
    config.budgets_file = folder.path("missing.txt");
    EXPECT_THROW((void)build_budgets(config, 3), DataError);
}

TEST(BuildExposures, FollowShardsBatchesAndParticipation) {
    PlanConfig config = config_of("ldp");
    config.clip_norm = 0.5;
    config.rounds = 103;
    config.batch_size = 10;
    const std::vector<Eigen::Index> records{100, 41, 10};
    for (const auto& exposure : build_exposures(config, 3, records)) {
        EXPECT_EQ(exposure.sensitivity, 2 * 0.5);
        EXPECT_EQ(exposure.sensitivity_squared_over_rounds, 103);
    }
    config.adjacency = Adjacency::record;
    for (const auto& exposure : build_exposures(config, 3, records)) {
        EXPECT_DOUBLE_EQ(exposure.sensitivity, 2 * 0.5 / 10);
        EXPECT_EQ(exposure.sensitivity_squared_over_rounds, 103);
        EXPECT_EQ(exposure.batch_size, 10);
    }
    config.participation = {4};
    const Eigen::Index batches[] = {25, 11, 3};  // ceil(N/4)
    for (const bool zero_out : {false, true}) {
        config.adjacency = zero_out ? Adjacency::record_zero_out : Adjacency::record;
        const auto exposures = build_exposures(config, 3, records);
        for (std::size_t u = 0; u < 3; ++u) {
            EXPECT_EQ(exposures[u].batch_size, batches[u]);
            EXPECT_DOUBLE_EQ(exposures[u].sensitivity,
                             (zero_out ? 1 : 2) * 0.5 / static_cast<double>(batches[u]));
            EXPECT_EQ(exposures[u].sensitivity_squared_over_rounds, 26);  // ceil(103/4)
        }
    }
    // Without data only the batch size is known.
    config.participation = {1};
    for (const auto& exposure : build_exposures(config, 3, {})) EXPECT_EQ(exposure.batch_size, 10);
}

TEST(BuildExposures, RefusesBatchesAndCyclesThatDoNotFit) {
    PlanConfig config = config_of("ldp");
    config.adjacency = Adjacency::record;
    config.batch_size = 11;
    expect_contains(message_of<ConfigError>([&] {
                        (void)build_exposures(config, 3, {100, 41, 10});
                    }),
                    "batch-size: 11");
    config.participation = {11};
    EXPECT_THROW((void)build_exposures(config, 3, {100, 41, 10}), ConfigError);
    config.participation = {2};
    config.adjacency = Adjacency::agent;
    EXPECT_THROW((void)build_exposures(config, 3, {100, 41, 10}), ConfigError);
}

TEST(ConfiguredNoise, IsThatOfTheMechanismsPlan) {
    const Topography topography = random_topography(5);
    for (const auto& mechanism : mechanisms().records()) {
        const auto [planned, exposures, budgets] =
            test::plan(config_of(mechanism.name), topography);
        EXPECT_EQ(configured_noise(config_of(mechanism.name)), planned.design.plan.distribution())
            << mechanism.name;
    }
}

TEST(PrecisionOfStd, GivesBackTheStandardDeviation) {
    EXPECT_DOUBLE_EQ(precision_of_std(0.5, StreamDistribution::gaussian), 4);
    // Laplace noise of scale b has variance 2 b^2, and its precision is 1/b^2.
    const double scale = 3;
    EXPECT_DOUBLE_EQ(precision_of_std(std::sqrt(2.0) * scale, StreamDistribution::laplace),
                     1 / (scale * scale));
}

TEST(CountPlan, CountsRoundsAsThePlanCorrelatesThem) {
    const Topography topography = random_topography(6);
    for (const std::string name : {"ldp", "anti-pgd", "homomorphic"}) {
        const PlanConfig config = config_of(name);
        const auto [planned, exposures, budgets] = test::plan(config, topography);
        const NoisePlan& plan = planned.design.plan;
        const Eigen::VectorXd squared =
            run_sensitivity_squared(plan, plan_use(config, topography.mixing), config.rounds);
        for (std::size_t u = 0; u < 6; ++u) {
            EXPECT_EQ(exposures[u].sensitivity_squared_over_rounds,
                      squared(static_cast<Eigen::Index>(u)));
            EXPECT_EQ(budgets[u].noise, plan.distribution());
            EXPECT_EQ(budgets[u].epsilon, 10);
        }
    }
}

TEST(CountPlan, CalibratesBudgetsForTheNoiseOfThePlan) {
    const Topography topography = random_topography(6);
    const PlanConfig pairs = config_of("pairs");
    const NoisePlan laplace = test::plan(config_of("laplace"), topography).planned.design.plan;
    const CountedPlan counted = count_plan(laplace, pairs, topography, count_rounds(pairs, 6, {}));
    for (const PrivacyBudget& budget : counted.budgets)
        EXPECT_EQ(budget.limit, PrivacyLoss::pure(10));
}

TEST(CountPlan, WithNoiseGivenTheBudgetIsWhatItSpends) {
    const Topography topography = random_topography(6);
    for (const std::string name : {"ldp", "pairs", "laplace"}) {
        PlanConfig config = config_of(name);
        config.noise_std = 4;
        const auto [planned, exposures, budgets] = test::plan(config, topography);
        const NoisePlan& plan = planned.design.plan;
        const auto reached =
            coalition_guarantees(plan, plan.coalition_size, exposures, config.delta);
        for (std::size_t u = 0; u < 6; ++u) {
            EXPECT_EQ(budgets[u].epsilon, budgets[u].limit.epsilon(budgets[u].delta).upper);
            EXPECT_LE(reached[u].epsilon, budgets[u].epsilon * (1 + 1e-6)) << name;
        }
    }
}

TEST(CountPlan, RefusesWhatItCannotCount) {
    const Topography topography = random_topography(4);
    PlanConfig config = config_of("laplace");
    const NoisePlan laplace = test::plan(config, topography).planned.design.plan;
    config.adjacency = Adjacency::record;
    expect_contains(
        message_of<ConfigError>([&] { (void)count_plan(laplace, config, topography, {}); }),
        "adjacency: 'record' is not possible");
    const PlanConfig zip = config_of("zip-dl");
    const NoisePlan per_receiver = test::plan(zip, topography).planned.design.plan;
    Topography changing = topography;
    changing.later_mixing.push_back(topography.mixing);
    expect_contains(
        message_of<ConfigError>([&] { (void)count_plan(per_receiver, zip, changing, {}); }),
        "mixing-schedule: not possible");
}

UnrestrictedNoise beside(const PlanConfig& config, const Topography& topography) {
    const Planned made = plan(config, topography);
    return unrestricted_noise(config, topography, made.planned.design.plan, made.planned.kappa);
}

TEST(UnrestrictedNoise, StandsBesideTheObjectiveOfThePlanItself) {
    const Topography topography = random_topography(5);
    for (const char* mechanism : {"mafalda", "space-time", "anti-pgd"}) {
        const PlanConfig config = config_of(mechanism);
        const Planned made = plan(config, topography);
        const UnrestrictedNoise noise = beside(config, topography);
        EXPECT_NEAR(noise.plan, made.planned.design.objective, 1e-6 * noise.plan) << mechanism;
    }
    PlanConfig config = config_of("corn");
    config.utility = {Utility::Kind::trajectory, 0};
    config.rounds = 10;
    EXPECT_NEAR(beside(config, topography).plan,
                plan(config, topography).planned.design.objective,
                1e-6 * beside(config, topography).plan);
}

TEST(UnrestrictedNoise, IsNeverAboveWhatAPlanLeaves) {
    const Topography topography = random_topography(5);
    for (const char* mechanism : {"ldp", "decor", "corn", "pairs", "mafalda", "space-time"}) {
        PlanConfig config = config_of(mechanism);
        config.rounds = 12;
        const UnrestrictedNoise noise = beside(config, topography);
        EXPECT_GE(noise.ratio(), 1) << mechanism;
        EXPECT_GE(noise.ratio_of_equal(), 1 - 1e-6) << mechanism;
        EXPECT_LE(noise.any.lower_bound, noise.equal.value) << mechanism;
        EXPECT_LE(noise.any.relative_gap(), 1e-6) << mechanism;
        expect_contains(text_of(noise), "any C");
    }
}

TEST(UnrestrictedNoise, OfAgentsWithBudgetsOfTheirOwnAndOneRoundIsThatOfThePlan) {
    const test::TemporaryFolder folder;
    PlanConfig config = config_of("corn");
    config.rounds = 1;
    config.utility = {Utility::Kind::one_step, 1};
    config.budgets_file = folder.write("budgets.txt", "1\n2\n4\n8\n");
    EXPECT_NEAR(beside(config, random_topography(4)).ratio(), 1, 1e-5);
}

TEST(UnrestrictedNoise, IsRefusedWhereLimitsAreOfAnotherKind) {
    const Topography topography = random_topography(5);
    for (const char* mechanism : {"none", "cdp", "laplace", "zip-dl"})
        expect_contains(
            message_of<ConfigError>([&] { (void)beside(config_of(mechanism), topography); }),
            "unrestricted-bound: on is not possible");
    PlanConfig config = config_of("ldp");
    config.rounds = 81;
    expect_contains(message_of<ConfigError>([&] { (void)beside(config, topography); }),
                    "rounds: 81 rounds of 5 agents");
}

}  // namespace
}  // namespace sotto
