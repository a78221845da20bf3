#include "planning/missed_rounds.hpp"

#include <gtest/gtest.h>

#include "planning/planning_fixtures.hpp"
#include "sotto/design/dropout_utility.hpp"
#include "sotto/plan/plan_json.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using test::config_of;
using test::expect_contains;
using test::message_of;
using test::random_topography;

struct ForMissedRounds {
    PlannedNoise planned;
    MissedRounds missed;
};

ForMissedRounds plan_with(double probability,
                          const PlanConfig& config,
                          const Topography& topography) {
    const int agents = topography.graph.agents();
    const auto exposures = build_exposures(config, agents, {});
    const auto budgets = build_budgets(config, agents);
    PlannedNoise planned =
        plan_for_missed_rounds(config, topography, exposures, budgets, probability);
    const MissedRounds missed =
        figures_of_dropouts(planned, config, topography, exposures, budgets, probability);
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
