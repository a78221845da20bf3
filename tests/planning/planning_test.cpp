#include "planning/planning.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "config/run_fixtures.hpp"
#include "core/numbers.hpp"
#include "design/changing_utility.hpp"
#include "fuzz/support.hpp"
#include "planning/planning_fixtures.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/noise_plan.hpp"
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

TEST(PlanNoise, MeetsEveryAgentsBudgetAndUsesItUp) {
    const Topography topography = random_topography(8);
    for (const auto& mechanism : mechanisms().records()) {
        if (!mechanism.needs_budget) continue;
        const Planned result = plan(config_of(mechanism.name), topography);
        const NoisePlan& noise = result.planned.design.plan;
        EXPECT_EQ(noise.mechanism, mechanism.name);
        EXPECT_TRUE(result.planned.solved);
        std::vector<int> everybody{0, 1, 2, 3, 4, 5, 6, 7};
        EXPECT_NO_THROW(verify_agents_protected(
            noise, everybody, result.exposures, result.budgets, noise.coalition_size));
        double largest = 0;
        for (const auto& guarantee :
             coalition_guarantees(noise, noise.coalition_size, result.exposures, 1e-5)) {
            EXPECT_LE(guarantee.epsilon, 10 * (1 + 1e-6)) << mechanism.name;
            largest = std::max(largest, guarantee.epsilon);
        }
        EXPECT_NEAR(largest, 10, 1e-5) << mechanism.name;
    }
}

TEST(PlanNoise, RanksTheMechanisms) {
    const Topography topography = random_topography(8);
    std::map<std::string, double> objective;
    for (const std::string name : {"ldp", "cdp", "decor", "corn"}) {
        const PlannedNoise planned = plan(config_of(name), topography).planned;
        objective[name] = planned.design.objective;
        EXPECT_DOUBLE_EQ(planned.ldp_objective,
                         plan(config_of("ldp"), topography).planned.design.objective);
        EXPECT_DOUBLE_EQ(planned.cdp_objective,
                         plan(config_of("cdp"), topography).planned.design.objective);
    }
    EXPECT_LT(objective["cdp"], objective["corn"]);
    EXPECT_LT(objective["corn"], objective["decor"]);
    EXPECT_LT(objective["decor"], objective["ldp"]);
}

TEST(PlanNoise, FollowsUnequalShardsAndBudgets) {
    const TemporaryFolder folder;
    const Topography topography = random_topography(4);
    PlanConfig config = config_of("ldp");
    config.adjacency = Adjacency::record;
    config.participation = {3};
    config.budgets_file = folder.write("budgets.txt", "1\n2\n4\n8\n");
    const std::vector<Eigen::Index> records{30, 60, 90, 300};
    for (const std::string name : {"ldp", "decor", "corn", "cdp"}) {
        config.mechanism = name;
        const Planned result = plan(config, topography, records);
        const auto reached =
            guarantees(result.planned.design.plan, {}, result.exposures, config.delta);
        for (std::size_t u = 0; u < 4; ++u) {
            const double target = std::ldexp(1.0, static_cast<int>(u));
            EXPECT_LE(reached[u].epsilon, target * (1 + 1e-6)) << name;
            // Private noise, and free covariance, spend every budget.
            if (name == "ldp" || name == "corn") {
                EXPECT_NEAR(reached[u].epsilon, target, 1e-4 * target) << name << ", agent " << u;
            }
            const double sensitivity = 2 * config.clip_norm / (static_cast<double>(records[u]) / 3);
            EXPECT_NEAR(result.planned.kappa(static_cast<Eigen::Index>(u)),
                        std::pow(gdp_mu(target, config.delta) / sensitivity, 2) / 34,
                        1e-6 * result.planned.kappa(static_cast<Eigen::Index>(u)));
        }
    }
}

TEST(PlanNoise, ReadsBackThePlanItWrote) {
    const TemporaryFolder folder;
    const Topography topography = random_topography(6);
    for (const auto& mechanism : mechanisms().records()) {
        PlanConfig config = config_of(mechanism.name);
        const Planned solved = plan(config, topography);
        config.plan_file =
            folder.write(mechanism.name + ".json", to_json(solved.planned.design.plan));
        config.mechanism = "corn";  // the file decides
        const Planned read = plan(config, topography);
        EXPECT_EQ(read.planned.design.plan.hash(), solved.planned.design.plan.hash());
        EXPECT_EQ(read.planned.design.plan.mechanism, mechanism.name);
        EXPECT_FALSE(read.planned.solved);
        if (mechanism.needs_budget && read.planned.design.plan.entry == NoiseEntry::gradient) {
            EXPECT_NEAR(read.planned.design.objective,
                        solved.planned.design.objective,
                        1e-6 * solved.planned.design.objective)
                << mechanism.name;
        }
        expect_contains(message_of<ConfigError>([&] { (void)plan(config, random_topography(7)); }),
                        "made for 6 agents");
    }
    PlanConfig config = config_of("corn");
    config.plan_file = folder.write("no.json", "{}");
    expect_contains(message_of<DataError>([&] { (void)plan(config, topography); }), "no.json");
    config.plan_file = folder.path("missing.json");
    EXPECT_THROW((void)plan(config, topography), DataError);
}

TEST(PlanNoise, RefusesChoicesTheMechanismDoesNotLeave) {
    const Topography topography = random_topography(5);
    const auto refusal = [&](const PlanConfig& config) {
        return message_of<ConfigError>([&] { (void)plan(config, topography); });
    };
    PlanConfig config = config_of("corn");
    config.common_variance = true;
    expect_contains(refusal(config), "common-variance: mechanism corn cannot choose it");
    config = config_of("ldp");
    config.seed_groups = "edges";
    expect_contains(refusal(config),
                    "seed-groups: mechanism ldp has its own (allowed with pairs, corn-hbc, decor)");
    config = config_of("pairs");
    config.temporal.restart = 5;
    expect_contains(refusal(config), "temporal: mechanism pairs has no temporal factor");
    config = config_of("space-time");
    config.spatial_mechanism = "mafalda";
    expect_contains(refusal(config), "spatial-mechanism: mafalda is not possible");
}

TEST(PlanNoise, OfAGivenStandardDeviationHidesOneRoundByIt) {
    const Topography topography = random_topography(6);
    for (const std::string name : {"ldp", "corn", "anti-pgd"}) {
        PlanConfig config = config_of(name);
        config.noise_std = 3;
        const NoisePlan noise = plan(config, topography).planned.design.plan;
        EXPECT_NEAR(observed_precision(noise, {}).maxCoeff(), 1.0 / 9, 1e-7) << name;
    }
    PlanConfig config = config_of("ldp");
    config.noise_std = 3;
    config.plan_file = "plan.json";
    expect_contains(message_of<ConfigError>([&] { (void)plan(config, topography); }),
                    "--noise-std: not possible with --plan");
}

TEST(CoalitionSizeOf, IsAsConfiguredOrTheMechanismsOwn) {
    PlanConfig config = config_of("pairs");
    EXPECT_EQ(coalition_size_of(config, 8, nullptr), 1);
    EXPECT_EQ(coalition_size_of(config, 1, nullptr), 0) << "no more than there are others";
    config.coalition_size = 3;
    EXPECT_EQ(coalition_size_of(config, 8, nullptr), 3);
    EXPECT_THROW((void)coalition_size_of(config, 3, nullptr), ConfigError);
    config.mechanism = "corn";
    expect_contains(message_of<ConfigError>([&] { (void)coalition_size_of(config, 8, nullptr); }),
                    "coalition-size: 3 is not allowed with mechanism corn");
    // A plan of a file says it itself.
    config = config_of("corn");
    config.plan_file = "plan.json";
    NoisePlan given;
    given.coalition_size = 2;
    EXPECT_EQ(coalition_size_of(config, 8, &given), 2);
    EXPECT_EQ(coalition_size_of(config, 8, nullptr), 0);
    config.coalition_size = 1;
    EXPECT_EQ(coalition_size_of(config, 8, &given), 1);
}

TEST(PlanInput, MakesThePlanOfPlanNoise) {
    const Topography topography = random_topography(6);
    for (const char* mechanism : {"ldp", "corn", "mafalda"}) {
        const PlanConfig config = config_of(mechanism);
        const DesignInput input =
            plan_input(config, topography, count_rounds(config, 6, {}), std::nullopt);
        EXPECT_EQ(input.kappa.size(), 6);
        EXPECT_EQ(input.graph, &topography.graph);
        const PlannedNoise planned = planned_for(input, config, std::nullopt, true);
        EXPECT_TRUE(planned.solved);
        EXPECT_EQ(planned.design.plan.hash(),
                  test::plan(config, topography).planned.design.plan.hash());
    }
}

TEST(PlanInput, OfAGivenUtilityIsSolvedForIt) {
    const Topography topography = random_topography(5);
    const PlanConfig config = config_of("ldp");
    DesignInput input = plan_input(config, topography, count_rounds(config, 5, {}), std::nullopt);
    input.given_utility = Eigen::MatrixXd::Identity(5, 5);
    EXPECT_NEAR(planned_for(input, config, std::nullopt, true).design.objective, 5, 1e-9);
}

struct ForMissedRounds {
    PlannedNoise planned;
    MissedRounds missed;
};

ForMissedRounds plan_with(double probability,
                          const PlanConfig& config,
                          const Topography& topography) {
    const CountedRounds rounds = count_rounds(config, topography.graph.agents(), {});
    PlannedNoise planned = plan_for_missed_rounds(config, topography, rounds, probability);
    const MissedRounds missed =
        figures_of_dropouts(planned, config, topography, rounds, probability);
    return {std::move(planned), missed};
}

TEST(MissedRounds, PlansForThemLeaveLessThanPlansThatDoNot) {
    const Topography topography = random_topography(9);
    for (const char* mechanism : {"decor", "corn", "pairs"}) {
        const PlanConfig config = config_of(mechanism);
        const auto [planned, missed] = plan_with(0.2, config, topography);
        EXPECT_LT(planned.design.objective, *missed.planned_without * 1.00001) << mechanism;
        EXPECT_LT(planned.design.objective, planned.ldp_objective) << mechanism;
        EXPECT_LT(missed.published, planned.design.objective) << mechanism;
        EXPECT_LT(test::plan(config, topography).planned.design.objective,
                  missed.nobody_missing * 1.00001)
            << mechanism;
    }
}

TEST(MissedRounds, CountInTheObjectiveAndLeaveTheBudgetAsItIs) {
    const Topography topography = random_topography(7);
    const PlanConfig config = config_of("pairs");
    const PlannedNoise with = plan_with(0.3, config, topography).planned;
    const Eigen::MatrixXd utility =
        dropout_utility(topography.mixing, config.utility, config.rounds, 0.3);
    EXPECT_NEAR(
        with.design.objective,
        utility.cwiseProduct(spatial_covariance(with.design.plan)).sum() * with.kappa.minCoeff(),
        1e-6 * with.design.objective);
    EXPECT_EQ(with.kappa, test::plan(config, topography).planned.kappa);
    EXPECT_LE((coalition_precision(with.design.plan, 1).array() / with.kappa.array()).maxCoeff(),
              1 + 1e-9);
}

TEST(MissedRounds, RateAPlanThatIsGiven) {
    const Topography topography = random_topography(6);
    const test::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "plan.json";
    PlanConfig config = config_of("pairs");
    write_file_atomically(file.string(),
                          to_json(test::plan(config, topography).planned.design.plan));
    config.plan_file = file.string();
    const auto [planned, missed] = plan_with(0.1, config, topography);
    EXPECT_FALSE(missed.planned_without);
    EXPECT_GT(planned.design.objective, missed.nobody_missing);
    expect_contains(text_of(missed), "with probability 0.1");
}

TEST(MissedRounds, AreRefusedWhereWhatIsLeftIsNotKnown) {
    const Topography topography = random_topography(5);
    const auto refusal = [&](const PlanConfig& config) {
        return message_of<ConfigError>([&] { require_possible_dropouts(config, topography); });
    };
    for (const char* mechanism : {"none", "cdp", "mafalda", "zip-dl"})
        expect_contains(refusal(config_of(mechanism)), std::string("mechanism: ") + mechanism);
    PlanConfig config = config_of("pairs");
    config.gossip_steps = 2;
    expect_contains(refusal(config), "gossip-steps: 2");
    config = config_of("pairs");
    config.momentum = 0.5;
    expect_contains(refusal(config), "momentum: 0.5");
    config = config_of("pairs");
    config.final_gossip.reset();
    expect_contains(refusal(config), "final-gossip: auto");
    config = config_of("pairs");
    config.average = parse_average("--average", "tail:0.5");
    expect_contains(refusal(config), "average: tail:0.5");
}

}  // namespace
}  // namespace sotto
