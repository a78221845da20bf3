// Mixing that changes from round to round, in graph and plan.

#include <gtest/gtest.h>

#include "account/account_subject.hpp"
#include "config/run_fixtures.hpp"
#include "design/changing_utility.hpp"
#include "planning/planning.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::ring;
using test::TemporaryFolder;

TEST(BuildTopography, ReadsAStackOfMixingMatricesAsASchedule) {
    const TemporaryFolder folder;
    const Graph graph = ring(4);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    const Eigen::MatrixXd lazy =
        MixingMatrix::from_rule(graph, MixingRule::lazy_metropolis).dense();
    Eigen::MatrixXd stack(8, 4);
    stack << mixing.dense(), lazy;
    GraphConfig config;
    config.topology.topology = Topology::ring;
    config.topology.agents = 4;
    const auto with = [&](const std::string& name) {
        config.mixing_schedule = folder.path(name);
        return build_topography(config, 1).topography;
    };
    write_npy(folder.path("stack.npy"), stack);
    const Topography topography = with("stack.npy");
    PlanConfig plan;
    plan.rounds = 10;
    const auto phases = phases_of(topography, {}, plan, "");
    ASSERT_EQ(phases.size(), 1u);
    EXPECT_EQ(phases[0].mixing.at(2).dense(), mixing.dense());
    EXPECT_EQ(phases[0].mixing.at(3).dense(), lazy);
    expect_contains(message_of<ConfigError>([&] { (void)phases_of(topography, {}, plan, "4:2"); }),
                    "not possible with --mixing-schedule");
    write_npy(folder.path("bad.npy"), Eigen::MatrixXd(stack.topRows(6)));
    expect_contains(message_of<DataError>([&] { (void)with("bad.npy"); }), "6 x 4");
    stack(5, 0) = 0.9;
    write_npy(folder.path("sum.npy"), stack);
    expect_contains(message_of<DataError>([&] { (void)with("sum.npy"); }), "matrix 1");
    config.mixing_schedule = "randon";
    expect_contains(message_of<ConfigError>([&] { (void)build_topography(config, 1); }), "random");
}

TEST(PlanNoise, RefusesMechanismsMadeForOneMixingMatrixWhereMixingChanges) {
    GraphConfig graph;
    graph.topology.topology = Topology::ring;
    graph.topology.agents = 5;
    graph.mixing_schedule = "random";
    const Topography topography = build_topography(graph, 8).topography;
    ASSERT_EQ(topography.later_mixing.size(), 7u);
    PlanConfig config;
    config.rounds = 8;
    const auto plan = [&](const std::string& mechanism) {
        config.mechanism = mechanism;
        const CountedRounds rounds = count_rounds(config, 5, {});
        const PlannedNoise planned = plan_noise(config, topography, rounds);
        (void)count_plan(planned.design.plan, config, topography, rounds);
        return planned.design;
    };
    for (const char* mechanism : {"zip-dl", "homomorphic"})
        expect_contains(message_of<ConfigError>([&] { (void)plan(mechanism); }),
                        "mixing-schedule: not possible with mechanism " + std::string(mechanism));
    {
        const Design design = plan("anti-pgd");
        const Eigen::MatrixXd utility = spatial_utility(
            topography.schedule(), design.plan.temporal, std::vector<double>(8, 1.0));
        const auto exposures = build_exposures(config, 5, {});
        const double kappa = precision_limit(build_budgets(config, 5).front(), exposures.front());
        const double left = utility.cwiseProduct(spatial_covariance(design.plan)).sum();
        EXPECT_NEAR(design.objective, left * kappa, 1e-6 * left * kappa);
    }
    // The plan is solved for the schedule: its objective is that of the noise it injects.
    for (const char* mechanism : {"ldp", "corn", "pairs"}) {
        const Design design = plan(mechanism);
        const Eigen::MatrixXd utility =
            utility_matrix(topography.schedule(), config.utility, config.rounds, 1);
        const Eigen::MatrixXd covariance = spatial_covariance(design.plan);
        const double left = utility.cwiseProduct(covariance).sum();
        const double alone = utility.diagonal().sum();
        const auto exposures = build_exposures(config, 5, {});
        const double kappa = precision_limit(build_budgets(config, 5).front(), exposures.front());
        EXPECT_NEAR(design.objective, left * kappa, 1e-6 * left * kappa) << mechanism;
        EXPECT_LE(design.objective, alone * (1 + 1e-9));
    }
}

}  // namespace
}  // namespace sotto
