#include "design/temporal_solver.hpp"

#include <gtest/gtest.h>

#include "core/linear_algebra.hpp"
#include "core/test_support.hpp"
#include "design/noise_fixtures.hpp"
#include "design/temporal_fixtures.hpp"
#include "design/temporal_utility.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(TemporalGram, MeetsItsConstraintsWithACertificateAndNoFeasibleNeighbourIsBetter) {
    const Graph graph = test::sample_graphs({12}).back().graph;
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    for (const long cycle : {1L, 2L, 5L, 12L, 24L, 40L}) {
        constexpr Index rounds = 24;
        const MatrixXd h = temporal_utility(mixing,
                                            MatrixXd::Identity(graph.agents(), graph.agents()),
                                            std::vector<double>(rounds, 1.0));
        const TemporalSolution solution = solve_temporal_gram(h, cycle);
        for (Index s = 0; s < rounds; ++s)
            for (Index t = 0; t < rounds; ++t) {
                EXPECT_EQ(solution.gram(s, t), solution.gram(t, s));
                if (s == t) {
                    EXPECT_EQ(solution.gram(s, t), 1);
                } else if ((s - t) % cycle == 0) {
                    EXPECT_EQ(solution.gram(s, t), 0);
                }
            }
        EXPECT_NEAR((h * solution.gram.inverse()).trace(), solution.value, 1e-9 * solution.value);
        EXPECT_LE(solution.relative_gap(), 1e-6) << "cycle " << cycle;
        EXPECT_GE(solution.relative_gap(), -1e-12);
        EXPECT_EQ(cycle == 1, solution.gram.isIdentity(0)) << "cycle " << cycle;
        SeededRandom random(7, "other gram matrices");
        for (int i = 0; i < 20; ++i) {
            MatrixXd other = solution.gram;
            for (Index t = 0; t < rounds; ++t)
                for (Index s = t + 1; s < rounds; ++s)
                    if ((s - t) % cycle != 0)
                        other(s, t) = other(t, s) = other(s, t) + 1e-3 * random.normal();
            const Eigen::LLT<MatrixXd> cholesky(other);
            if (cholesky.info() != Eigen::Success) continue;
            EXPECT_GE(cholesky.solve(h).trace(), solution.lower_bound);
        }
    }
}

TEST(TemporalFactor, IsLowerTriangularWithTheGramMatrixAsked) {
    MatrixXd gram = test::random_positive_definite(9, 2);
    const MatrixXd c = temporal_factor_of(gram);
    EXPECT_TRUE(c.isLowerTriangular());
    EXPECT_GT(c.diagonal().minCoeff(), 0);
    EXPECT_LT((c.transpose() * c - gram).norm(), 1e-12 * gram.norm());
    gram(0, 0) = -1;
    EXPECT_THROW((void)temporal_factor_of(gram), ConfigError);
    EXPECT_THROW((void)solve_temporal_gram(gram, 2), ConfigError);
    EXPECT_THROW((void)solve_temporal_gram(MatrixXd::Identity(3, 3), 0), ConfigError);
}

using namespace test;

TEST(BandedFactorOfManyRounds, IsAsGoodAsTheCertifiedOneOfFew) {
    for (const long restart : {0L, 16L})
        for (const long band : {1L, 3L, 6L}) {
            SCOPED_TRACE(testing::Message() << "band " << band << ", restart " << restart);
            const MixingMatrix mixing = mixing_of(MixingRule::metropolis);
            const ShapedFactor certified = shaped(mixing, 60, 7, banded_shape(band, restart));
            const SymmetricEigen eigen = symmetric_eigen(mixing.dense());
            const ShapedFactor found = solve_banded_factor(
                eigen.values, VectorXd::Ones(few_agents), falling_steps(60), 7, band, restart);
            EXPECT_TRUE(relatively_near(found.value, cost_of(mixing, found.factor, 60, 7), 1e-9));
            EXPECT_NEAR(temporal_sensitivity_squared(found.factor, {7}, 60), 9, 1e-9);
            EXPECT_GE(found.value, certified.lower_bound);
            EXPECT_LE(found.value, certified.value * 1.001);
        }
    EXPECT_THROW((void)solve_banded_factor(VectorXd::Ones(1), VectorXd::Ones(1), {}, 4, 4),
                 ConfigError);
}

using namespace test;

TEST(OneLagFactor, HasTheBestNumberAtItsOwnSensitivity) {
    for (const MixingRule rule : {MixingRule::metropolis, MixingRule::row_stochastic})
        for (const long restart : {0L, 8L}) {
            const MixingMatrix mixing = mixing_of(rule);
            const ShapedFactor found =
                shaped(mixing, 30, 6, {TemporalShape::Kind::one_lag, 0, restart});
            EXPECT_TRUE(relatively_near(cost_of(mixing, found.factor, 30, 6), found.value, 1e-10));
            EXPECT_GT(-found.factor.lower(1, 1), 0.1);
            for (double rho = 0; rho <= 1; rho += 1.0 / 64) {
                TemporalFactor other = found.factor;
                for (Index t = 0; t < 30; ++t)
                    if (other.lower(t, 1) != 0) other.lower(t, 1) = -rho;
                EXPECT_GE(cost_of(mixing, other, 30, 6), found.value * (1 - 1e-9)) << rho;
            }
        }
}

TEST(OneLagFactor, LeavesRoundsIndependentWhereNothingIsCorrelated) {
    // H diagonal: any correlation only adds.
    const ShapedFactor found = solve_one_lag_factor(VectorXd::Ones(9), VectorXd::Zero(9), 3, 0);
    EXPECT_NEAR(found.factor.lower.col(1).norm(), 0, 1e-6);
    EXPECT_NEAR(found.value, 9, 1e-9);
    EXPECT_TRUE(std::isnan(found.lower_bound));
}

}  // namespace
}  // namespace sotto
