#include "commands/plan/plan_json.hpp"

#include "planning/planning_fixtures.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using test::config_of;
using test::Json;
using test::plan;
using test::Planned;
using test::random_topography;

Json json_of(const Planned& result, const PlanConfig& config) {
    return Json::parse(plan_report_json(result.planned, config, result.exposures, result.budgets));
}

TEST(PlanReportJson, SaysTheSameAsThePlan) {
    const Topography topography = random_topography(5);
    for (const auto& mechanism : mechanisms().records()) {
        const PlanConfig config = config_of(mechanism.name);
        const Planned result = plan(config, topography);
        const Json json = json_of(result, config);
        const NoisePlan& noise = result.planned.design.plan;
        EXPECT_EQ(json["mechanism"], mechanism.name);
        EXPECT_EQ(json["agents"], 5);
        EXPECT_EQ(json["per_agent"].size(), 5u);
        EXPECT_EQ(json["plan_hash"], to_hex(noise.hash()));
        EXPECT_EQ(json["infinite"], !mechanism.needs_budget);
        if (!mechanism.needs_budget) {
            for (const char* key : {"epsilon", "mu", "kappa", "epsilon_target"})
                EXPECT_TRUE(json[key].is_null()) << key;
            EXPECT_EQ(json["max_variance"], 0);
            continue;
        }
        EXPECT_NEAR(json["epsilon"].get<double>(), 10, 1e-5);
        EXPECT_EQ(json["epsilon_target"], 10);
        EXPECT_EQ(json["kappa"].get<double>(), result.planned.kappa.minCoeff());
        const bool on_gradients = noise.entry == NoiseEntry::gradient;
        EXPECT_EQ(json["objective"].is_null(), !on_gradients);
        EXPECT_EQ(json["independent_variance"].is_null(), !on_gradients);
        EXPECT_EQ(json["mu"].is_null(), noise.distribution() == StreamDistribution::laplace);
        const Eigen::VectorXd variances = on_gradients ? spatial_covariance(noise).diagonal().eval()
                                                       : largest_message_variance(noise);
        const double tolerance = 1e-12 * std::max(1.0, variances.maxCoeff());
        for (std::size_t u = 0; u < 5; ++u) {
            EXPECT_EQ(json["per_agent"][u]["agent"], u);
            EXPECT_NEAR(json["per_agent"][u]["noise_std"].get<double>(),
                        std::sqrt(variances(static_cast<Eigen::Index>(u))),
                        tolerance);
        }
        EXPECT_NEAR(json["max_variance"].get<double>(), variances.maxCoeff(), tolerance);
    }
}

TEST(PlanReportJson, GivesEveryAgentItsOwnFigures) {
    const test::TemporaryFolder folder;
    PlanConfig config = config_of("ldp");
    config.adjacency = Adjacency::record;
    config.participation = {3};
    config.budgets_file = folder.write("budgets.txt", "1\n2\n4\n8\n");
    const Planned result = plan(config, random_topography(4), {30, 60, 90, 300});
    const Json json = json_of(result, config);
    EXPECT_EQ(json["adjacency"], "record");
    EXPECT_EQ(json["participation"], "cyclic:3");
    EXPECT_EQ(json["epsilon_target"], 1);
    EXPECT_EQ(json["sensitivity_squared"], 34);
    for (std::size_t u = 0; u < 4; ++u) {
        const Json& agent = json["per_agent"][u];
        EXPECT_EQ(agent["sensitivity"], result.exposures[u].sensitivity);
        EXPECT_EQ(agent["sensitivity_squared"], 34);
        EXPECT_EQ(agent["kappa"], result.planned.kappa(static_cast<Eigen::Index>(u)));
        EXPECT_NEAR(agent["epsilon"].get<double>(), 1 << u, 1e-4 * (1 << u));
    }
}

TEST(PlanReportJson, SaysWhatSecureSumsHideWhereTheyAreAskedFor) {
    const PlanConfig config = config_of("ldp");
    const Planned result = plan(config, random_topography(5));
    EXPECT_FALSE(json_of(result, config).contains("secure_sums"));
    SumHiding hiding;
    hiding.asked = 2;
    const Json json = Json::parse(plan_report_json(
        result.planned, config, result.exposures, result.budgets, std::optional(hiding)));
    EXPECT_EQ(json["secure_sums"]["withstand"], 2);
}

TEST(PlanReportJson, SaysHowTheCycleWasChosen) {
    const Topography topography = random_topography(5);
    const PlanConfig config = config_of("ldp");
    Planned result = plan(config, topography);
    EXPECT_FALSE(json_of(result, config).contains("cycle_choice"));
    result.planned.choices.cycle = {{{1, 0, 8}, {2, 1, 6}, {4, 3, 10}}, 1};
    const Json choice = json_of(result, config)["cycle_choice"];
    EXPECT_EQ(choice["cycle"], 2);
    EXPECT_EQ(choice["reason"], text_of(result.planned.choices.cycle));
    ASSERT_EQ(choice["candidates"].size(), 3U);
    EXPECT_EQ(choice["candidates"][2]["band"], 3);
    EXPECT_EQ(choice["candidates"][2]["noise"], 10);
    EXPECT_EQ(choice["candidates"][1]["relative_noise"], 0.75);
}

TEST(PlanReportJson, SaysHowTheTemporalFactorWasChosen) {
    const Topography topography = random_topography(5);
    const PlanConfig config = config_of("ldp");
    Planned result = plan(config, topography);
    EXPECT_FALSE(json_of(result, config).contains("temporal_choice"));
    result.planned.choices.temporal = {.candidates = {{{TemporalShape::Kind::banded, 7, 20}, 8},
                                                      {{TemporalShape::Kind::one_lag, 0, 20}, 6}},
                                       .chosen = 1,
                                       .reach = 19,
                                       .against_dense = "which is too much"};
    const Json choice = json_of(result, config)["temporal_choice"];
    EXPECT_EQ(choice["temporal"], "one-lag");
    EXPECT_EQ(choice["reason"],
              "one-lag, begun anew every 20 rounds: dense noise would keep 19 rounds, which is too "
              "much; banded:7, begun anew every 20 rounds leaves 1.33 times as much");
    ASSERT_EQ(choice["candidates"].size(), 2U);
    EXPECT_EQ(choice["candidates"][0]["temporal"], "banded:7");
    EXPECT_EQ(choice["candidates"][0]["noise"], 8);
}

TEST(PlanReportJson, SaysWhatAnyCorrelationWouldLeaveWhereItIsAskedFor) {
    PlanConfig config = config_of("space-time");
    config.rounds = 8;
    const Topography topography = random_topography(4);
    const Planned result = plan(config, topography);
    EXPECT_FALSE(json_of(result, config).contains("unrestricted"));
    const UnrestrictedNoise noise =
        unrestricted_noise(config, topography, result.planned.design.plan, result.planned.kappa);
    const Json json = Json::parse(plan_report_json(
        result.planned, config, result.exposures, result.budgets, {}, {}, {}, noise));
    EXPECT_EQ(json["unrestricted"]["plan"], noise.plan);
    EXPECT_EQ(json["unrestricted"]["any"]["value"], noise.any.value);
    EXPECT_EQ(json["unrestricted"]["any"]["lower_bound"], noise.any.lower_bound);
    EXPECT_EQ(json["unrestricted"]["any"]["ratio"], noise.ratio());
    EXPECT_EQ(json["unrestricted"]["equal_columns"]["value"], noise.equal.value);
}

}  // namespace
}  // namespace sotto
