#include "design/spatial_dual.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "core/test_support.hpp"
#include "design/noise_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::uint64_t dual_problem_seed = 5;

/// S = (Lambda^1/2 M Lambda^1/2)^1/2.
MatrixXd root_of(const MatrixXd& utility, const VectorXd& lambda) {
    const VectorXd weight = lambda.cwiseSqrt();
    return Eigen::SelfAdjointEigenSolver<MatrixXd>(weight.asDiagonal() * utility *
                                                   weight.asDiagonal())
        .operatorSqrt();
}

TEST(DualPoint, IsScaledToTheBestBoundOfItsDirection) {
    for (const Eigen::Index n : {2, 7}) {
        const MatrixXd utility = random_positive_definite(n, dual_problem_seed);
        const VectorXd kappa = random_kappa(n, dual_problem_seed),
                       lambda = random_kappa(n, dual_problem_seed + 1);
        DualProblem problem(utility, kappa);
        const DualPoint point = problem.evaluate(lambda);
        // Proportional to lambda, with Tr S = kappa.lambda.
        EXPECT_TRUE(point.lambda.cwiseQuotient(lambda).isConstant(point.lambda(0) / lambda(0)));
        const MatrixXd s = root_of(utility, point.lambda);
        EXPECT_TRUE(relatively_near(s.trace(), kappa.dot(point.lambda), 1e-10));
        EXPECT_TRUE(relatively_near(
            point.bound, std::pow(root_of(utility, lambda).trace(), 2) / kappa.dot(lambda), 1e-10));
        EXPECT_TRUE(point.diagonal.isApprox(s.diagonal(), 1e-9));
        EXPECT_EQ(problem.evaluations(), 1);
    }
}

TEST(NewtonDirection, SolvesTheSystemThatTheSumOverAllPairsOfEigenvaluesGives) {
    constexpr Eigen::Index n = 6;
    const MatrixXd utility = random_positive_definite(n, dual_problem_seed);
    const VectorXd kappa = random_kappa(n, dual_problem_seed);
    DualProblem problem(utility, kappa);
    const DualPoint point = problem.evaluate(kappa.cwiseInverse());
    MatrixXd k = MatrixXd::Zero(n, n);
    for (Eigen::Index i = 0; i < n; ++i)
        for (Eigen::Index j = 0; j < n; ++j) {
            const VectorXd q = point.basis.col(i).cwiseProduct(point.basis.col(j));
            k +=
                point.root(i) * point.root(j) / (point.root(i) + point.root(j)) * q * q.transpose();
        }
    const VectorXd expected = k.llt().solve(point.diagonal - kappa.cwiseProduct(point.lambda));
    // The trapezoidal rule has a step of 1 in log t.
    EXPECT_LT((problem.newton_direction(point) - expected).norm(), 0.02 * expected.norm());
}

TEST(FeasibleCovariance, GivesEveryAgentExactlyItsPrecisionAtAnyPoint) {
    const MatrixXd utility = random_positive_definite(7, dual_problem_seed);
    const VectorXd kappa = random_kappa(7, dual_problem_seed);
    DualProblem problem(utility, kappa);
    const DualPoint point = problem.evaluate(random_kappa(7, dual_problem_seed + 1));
    const MatrixXd covariance = problem.feasible_covariance(point);
    EXPECT_TRUE(precision_of(covariance).isApprox(kappa, 1e-9));
    EXPECT_GE(cost(utility, covariance), point.bound);
    // X scaled down by 1 + gap is feasible: a bound on how far the value is from the optimum.
    EXPECT_GT(problem.gap(point), 0);
}

TEST(Maximise, EndsWhereTheBoundIsTheCostOfAFeasibleCovariance) {
    for (const std::uint64_t s : {1U, 2U, 3U}) {
        const MatrixXd utility = random_positive_definite(9, s);
        const VectorXd kappa = random_kappa(9, s);
        DualProblem problem(utility, kappa);
        SpatialOptions options;
        const DualPoint point = problem.maximise(kappa.cwiseInverse(), options);
        EXPECT_LE(problem.gap(point), options.relative_gap);
        EXPECT_TRUE(
            relatively_near(cost(utility, problem.feasible_covariance(point)), point.bound, 1e-8));
        EXPECT_LE(problem.evaluations(), 40);
        options.max_iterations = 1;
        DualProblem hurried(utility, kappa);
        EXPECT_LE(hurried.maximise(kappa.cwiseInverse(), options).bound, point.bound);
    }
}

}  // namespace
}  // namespace sotto
