#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/lagged_noise.hpp"
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

}  // namespace
}  // namespace sotto
