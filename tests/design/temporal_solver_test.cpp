#include "sotto/design/temporal_solver.hpp"

#include <gtest/gtest.h>

#include "design/noise_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/design/temporal_utility.hpp"

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

}  // namespace
}  // namespace sotto
