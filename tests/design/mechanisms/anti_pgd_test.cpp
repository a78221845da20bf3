#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/lagged_noise.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

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
