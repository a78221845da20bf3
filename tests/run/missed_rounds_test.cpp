#include "run/missed_rounds.hpp"

#include <gtest/gtest.h>

#include "run/planning_fixtures.hpp"
#include "sotto/noise/dropout_utility.hpp"
#include "sotto/plan/plan_json.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using test::config_of;
using test::expect_contains;
using test::message_of;
using test::random_topography;

MissedRounds figures(const PlanConfig& config, const Topography& topography) {
    const test::Planned planned = test::plan(config, topography);
    return *figures_of_dropouts(
        config, topography, planned.exposures, planned.budgets, planned.planned);
}

TEST(MissedRounds, PlansForThemLeaveLessThanPlansThatDoNot) {
    const Topography topography = random_topography(9);
    for (const char* mechanism : {"decor", "corn", "pairs"}) {
        PlanConfig config = config_of(mechanism);
        config.dropout_probability = 0.2;
        const test::Planned planned = test::plan(config, topography);
        const MissedRounds missed = figures(config, topography);
        EXPECT_LT(planned.planned.design.objective, *missed.planned_without * 1.00001) << mechanism;
        EXPECT_LT(planned.planned.design.objective, planned.planned.ldp_objective) << mechanism;
        config.dropout_probability = 0;
        EXPECT_LT(test::plan(config, topography).planned.design.objective,
                  missed.nobody_missing * 1.00001)
            << mechanism;
    }
}

TEST(MissedRounds, CountInTheObjectiveAndLeaveTheBudgetAsItIs) {
    const Topography topography = random_topography(7);
    PlanConfig config = config_of("pairs");
    const test::Planned without = test::plan(config, topography);
    config.dropout_probability = 0.3;
    const test::Planned with = test::plan(config, topography);
    const Eigen::MatrixXd utility =
        dropout_utility(topography.mixing, config.utility, config.rounds, 0.3);
    EXPECT_NEAR(with.planned.design.objective,
                utility.cwiseProduct(spatial_covariance(with.planned.design.plan)).sum() *
                    with.planned.kappa.minCoeff(),
                1e-6 * with.planned.design.objective);
    EXPECT_EQ(with.planned.kappa, without.planned.kappa);
    EXPECT_LE(
        (coalition_precision(with.planned.design.plan, 1).array() / with.planned.kappa.array())
            .maxCoeff(),
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
    config.dropout_probability = 0.1;
    const MissedRounds missed = figures(config, topography);
    EXPECT_FALSE(missed.planned_without);
    EXPECT_GT(test::plan(config, topography).planned.design.objective, missed.nobody_missing);
    expect_contains(text_of(missed), "with probability 0.1");
}

TEST(MissedRounds, AreRefusedWhereWhatIsLeftIsNotKnown) {
    const Topography topography = random_topography(5);
    const auto refusal = [&](PlanConfig config) {
        config.dropout_probability = 0.1;
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
