

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "design/temporal_utility.hpp"
#include "plan/lagged_noise.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(Mafalda, HasUnitColumnsThatDoNotMeetInARoundOfTheSamePattern) {
    // X = C_time^T C_time: X_tt = 1, and X_st = 0 for s = t mod cycle, so that sens2 is the number
    // of participations and R stays diag(1 / kappa).
    const Setting setting = settings({6}).front();
    const Eigen::VectorXd kappa = random_kappa(6, 31);
    DesignInput input = setting.input(10, kappa);
    input.rounds = 20;
    input.participation = {5};
    for (const TemporalShape& shape : {TemporalShape{},
                                       TemporalShape{TemporalShape::Kind::banded, 3, 0},
                                       TemporalShape{TemporalShape::Kind::banded, 8, 0},
                                       TemporalShape{TemporalShape::Kind::dense, 0, 7}}) {
        SCOPED_TRACE(name_of(shape));
        input.temporal = shape;
        const Design design = design_of("mafalda", input);
        const Eigen::MatrixXd factor = dense_factor(design.plan.temporal, 20);
        const Eigen::MatrixXd gram = factor.transpose() * factor;
        EXPECT_TRUE(gram.diagonal().isOnes(1e-12));
        for (int s = 0; s < 20; ++s)
            for (int t = 0; t < s; ++t) {
                if ((s - t) % 5 != 0) continue;
                EXPECT_NEAR(gram(s, t), 0, 1e-12) << s << " " << t;
            }
        EXPECT_GT(gram.cwiseAbs().sum(), 21);
        EXPECT_TRUE(spatial_covariance(design.plan)
                        .isApprox(kappa.cwiseInverse().asDiagonal().toDenseMatrix(), 1e-9));
        EXPECT_LE(design.lower_bound, design.objective * (1 + 1e-12));
    }
}

TEST(Mafalda, PlansMoreRoundsThanADenseFactorAllows) {
    const Graph graph = make_graph(Topology::ring, 6);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.rounds = 2500;
    input.participation = {10};
    input.kappa = Eigen::VectorXd::Ones(6);
    EXPECT_TRUE(
        contains(message_of<ConfigError>([&] { (void)design_of("mafalda", input); }), "one-lag"));
    input.temporal = {TemporalShape::Kind::one_lag, 0, 0};
    const Design lagged = design_of("mafalda", input);
    input.temporal = {TemporalShape::Kind::banded, 5, 0};
    const Design wide = design_of("mafalda", input);
    DesignInput alone = input;
    alone.utility = {Utility::Kind::trajectory, 0};
    const double independent = design_of("ldp", alone).objective;
    EXPECT_LT(lagged.objective, 0.5 * independent);
    EXPECT_LT(wide.objective, 0.5 * independent);
    EXPECT_EQ(wide.plan.temporal.lower.cols(), 6);
    EXPECT_NEAR(temporal_sensitivity_squared(wide.plan.temporal, {10}, 2500), 250, 1e-6);
    input.temporal = {TemporalShape::Kind::dense, 0, 50};
    const Design restarted = design_of("mafalda", input);
    EXPECT_LT(restarted.objective, wide.objective);
    EXPECT_GE(restarted.lower_bound, restarted.objective * (1 - 1e-5));
    EXPECT_NEAR(temporal_sensitivity_squared(restarted.plan.temporal, {10}, 2500), 250, 1e-6);
    input.temporal = {TemporalShape::Kind::banded, 10, 0};
    EXPECT_TRUE(
        contains(message_of<ConfigError>([&] { (void)design_of("mafalda", input); }), "2500"));
}

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

using namespace test;

/// Noise of all models of all rounds, round by round: sum_t ||sum_s W^(t-s+1) (C^-1)_s.||^2.
double direct_trajectory(const MixingMatrix& mixing, const TemporalFactor& factor, long rounds) {
    const Eigen::MatrixXd w = mixing.dense();
    const Eigen::MatrixXd inverse = dense_factor(factor, rounds).inverse();
    const Eigen::Index n = w.rows();
    Eigen::MatrixXd state = Eigen::MatrixXd::Zero(n, n * rounds);  // by (z of round s, agent)
    double sum = 0;
    for (Eigen::Index t = 0; t < rounds; ++t) {
        for (Eigen::Index s = 0; s <= t; ++s)
            state.middleCols(s * n, n) += inverse(t, s) * Eigen::MatrixXd::Identity(n, n);
        state = (w * state).eval();
        sum += state.squaredNorm();
    }
    return sum;
}

TEST(AntiPgd, StatesTheObjectiveOfNoiseThatIsCorrelatedOverRounds) {
    for (const auto rule : {MixingRule::metropolis, MixingRule::row_stochastic})
        for (const long cycle : {1L, 3L}) {
            const Graph graph = make_graph(Topology::star, 5);
            const MixingMatrix mixing = MixingMatrix::from_rule(graph, rule);
            DesignInput input;
            input.graph = &graph;
            input.mixing = &mixing;
            input.utility = {Utility::Kind::trajectory, 0};
            input.rounds = 7;
            input.participation = {cycle};
            input.kappa = Eigen::VectorXd::Constant(5, 0.25);
            const Design design = design_of("anti-pgd", input);
            const TemporalFactor& factor = design.plan.temporal;
            const double sensitivity = temporal_sensitivity_squared(factor, {cycle}, 7);
            const double participations = temporal_sensitivity_squared({}, {cycle}, 7);
            EXPECT_TRUE(
                relatively_near(design.objective,
                                direct_trajectory(mixing, factor, 7) * sensitivity / participations,
                                1e-10));
            EXPECT_TRUE(
                spatial_covariance(design.plan)
                    .isApprox(4 * sensitivity / participations * Eigen::MatrixXd::Identity(5, 5),
                              1e-12));
        }
}

TEST(AntiPgd, AddsDifferencesOfConsecutiveNormals) {
    const Setting setting = settings({5}).front();
    DesignInput input = setting.input(10);
    input.rounds = 4;
    const NoisePlan plan = design_of("anti-pgd", input).plan;
    const Eigen::MatrixXd inverse = dense_factor(plan.temporal, 4).inverse();
    Eigen::MatrixXd expected = Eigen::MatrixXd::Identity(4, 4);
    expected.diagonal(-1).setConstant(-1);
    EXPECT_TRUE(inverse.isApprox(expected, 1e-15));
}

}  // namespace
}  // namespace sotto
