#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/design/temporal_utility.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(SpaceTime, BeatsItsPartsOverEverySpatialMechanismAndKeepsItsCoalitions) {
    const Graph graph = make_graph(Topology::erdos_renyi, 6, 2, 0.5);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.utility = {Utility::Kind::trajectory, 0};
    input.rounds = 20;
    input.participation = {5};
    input.kappa = random_kappa(6, unequal_kappa_seed);
    const double independent = design_of("ldp", input).objective;
    const double mafalda = design_of("mafalda", input).objective;
    EXPECT_LT(mafalda, independent);
    for (const std::string name : {"ldp", "decor", "corn", "pairs", "corn-hbc"}) {
        SCOPED_TRACE(name);
        const Mechanism& spatial = find_mechanism("spatial-mechanism", name);
        ask_like_the_program(input, spatial);
        input.spatial = &spatial;
        const Design both = design_of("space-time", input);
        EXPECT_LE(both.objective, mafalda * (1 + 1e-9));
        EXPECT_LE(both.objective, spatial.design(input).objective * (1 + 1e-9));
        EXPECT_EQ(both.plan.coalition_size, input.coalition_size);
        EXPECT_TRUE(std::isnan(both.lower_bound));
        // sens2 is the number of participations, so kappa holds as it is.
        EXPECT_NEAR(temporal_sensitivity_squared(both.plan.temporal, {5}, 20), 4, 1e-9);
        const Eigen::VectorXd precision = coalition_precision(both.plan, input.coalition_size);
        EXPECT_LE(precision.cwiseQuotient(input.kappa).maxCoeff(), 1 + 1e-9);
        // What is stated is what the plan's own noise leaves.
        EXPECT_TRUE(relatively_near(
            cost(temporal_utility(mixing, spatial_covariance(both.plan), design_steps(input)),
                 (both.plan.temporal.lower.transpose() * both.plan.temporal.lower).inverse()) *
                input.kappa.minCoeff(),
            both.objective,
            1e-6));
    }
}

TEST(SpaceTime, RefusesWhatItCannotImprove) {
    const Graph graph = make_graph(Topology::ring, 5);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.rounds = 10;
    input.kappa = Eigen::VectorXd::Ones(5);
    input.spatial = &find_mechanism("spatial-mechanism", "corn");
    for (const char* name : {"mafalda", "space-time"}) {
        EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)design_of(name, input); }),
                             "participation: every"));
        input.participation = {5};
        input.rounds = 2001;
        EXPECT_TRUE(
            contains(message_of<ConfigError>([&] { (void)design_of(name, input); }), "2001"));
        input.rounds = 10;
        input.participation = {};
    }
    input.participation = {5};
    input.spatial = &find_mechanism("spatial-mechanism", "cdp");
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)design_of("space-time", input); }),
                         "spatial-mechanism: cdp"));
}

TEST(SpaceTime, CorrelatesAgentsAsItsSpatialPartDoes) {
    const Graph graph = make_graph(Topology::ring, 6);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.rounds = 12;
    input.participation = {4};
    input.kappa = Eigen::VectorXd::Ones(6);
    input.spatial = &find_mechanism("spatial-mechanism", "decor");
    const NoisePlan plan = design_of("space-time", input).plan;
    // s2 I + c L, whatever the temporal factor.
    const Eigen::MatrixXd covariance = spatial_covariance(plan);
    const double edge_variance = -covariance(0, 1);
    EXPECT_GT(edge_variance, 0);
    const Eigen::MatrixXd rest = covariance - edge_variance * laplacian_of(graph);
    EXPECT_TRUE(rest.isApprox(rest(0, 0) * Eigen::MatrixXd::Identity(6, 6), 1e-9));
}

}  // namespace
}  // namespace sotto
