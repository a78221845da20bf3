#include "audit/contribution_estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd random_matrix(Index rows, Index columns, std::uint64_t seed) {
    SeededRandom random(seed, "contribution estimate test");
    MatrixXd result(rows, columns);
    for (double& value : result.reshaped()) value = 2 * random.uniform() - 1;
    return result;
}

/// Innovations in two gossip steps, `extra` beside what the contributions make.
void show(ContributionEstimator& estimator,
          const ViewInnovations::Innovation& responses,
          const MatrixXd& contributions,
          const MatrixXd& extra) {
    const MatrixXd noisy = responses.whitened * contributions + extra;
    const MatrixXd noiseless = responses.noiseless * contributions;
    const Index half = noisy.rows() / 2, part = noiseless.rows() / 3;
    estimator.add({noisy.topRows(half), noiseless.topRows(part)});
    estimator.add(
        {noisy.bottomRows(noisy.rows() - half), noiseless.bottomRows(noiseless.rows() - part)});
}

TEST(ContributionEstimator, SolvesTheNormalEquations) {
    const ViewInnovations::Innovation responses{random_matrix(30, 6, 1), MatrixXd(0, 6)};
    const MatrixXd truth = random_matrix(6, 4, 2), noise = random_matrix(30, 4, 3);
    ContributionEstimator estimator(responses, 4);
    show(estimator, responses, truth, noise);
    const MatrixXd& r = responses.whitened;
    const MatrixXd inverse = (r.transpose() * r).inverse();
    const MatrixXd expected = inverse * r.transpose() * (r * truth + noise);
    EXPECT_LT((estimator.estimates() - expected).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((estimator.variances() - inverse.diagonal()).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(ContributionEstimator, TakesWhatNoNoiseCoversAsExact) {
    // Weights that grow say the same in the limit: [(R^T R + w N^T N)^-1]_uu.
    const ViewInnovations::Innovation responses{random_matrix(20, 5, 4), random_matrix(3, 5, 5)};
    const MatrixXd truth = random_matrix(5, 2, 6), noise = random_matrix(20, 2, 7);
    ContributionEstimator estimator(responses, 2);
    show(estimator, responses, truth, noise);
    constexpr double weight = 1e6;
    const MatrixXd& r = responses.whitened;
    const MatrixXd& n = responses.noiseless;
    const MatrixXd inverse = (r.transpose() * r + weight * n.transpose() * n).inverse();
    const MatrixXd expected =
        inverse * (r.transpose() * (r * truth + noise) + weight * n.transpose() * n * truth);
    EXPECT_LT((estimator.estimates() - expected).cwiseAbs().maxCoeff(), 1e-4);
    EXPECT_LT((estimator.variances() - inverse.diagonal()).cwiseAbs().maxCoeff(), 1e-4);
    EXPECT_LT((n * (estimator.estimates() - truth)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(ContributionEstimator, TellsExactFromNoisyFromHidden) {
    // Unknown 0 is seen without noise, 1 under noise, of 2 and 3 only the sum, 4 not at all.
    ViewInnovations::Innovation responses{MatrixXd::Zero(2, 5), MatrixXd::Zero(3, 5)};
    responses.noiseless(0, 0) = 0.5;
    responses.whitened(0, 1) = 0.25;
    responses.whitened(0, 0) = 10;
    responses.whitened.row(1) << 0, 0, 2, 2, 0;
    const MatrixXd truth = random_matrix(5, 3, 8);
    ContributionEstimator estimator(responses, 3);
    show(estimator, responses, truth, MatrixXd::Zero(2, 3));
    const VectorXd& variances = estimator.variances();
    EXPECT_EQ(variances(0), 0);
    EXPECT_NEAR(variances(1), 16, 1e-12);
    for (const Index hidden : {2, 3, 4}) EXPECT_TRUE(std::isinf(variances(hidden))) << hidden;
    const MatrixXd estimates = estimator.estimates();
    EXPECT_LT((estimates.topRows(2) - truth.topRows(2)).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT(estimates.row(4).norm(), 1e-12);
}

TEST(ContributionEstimator, KnowsNothingWithoutObservations) {
    const ContributionEstimator estimator({MatrixXd(0, 2), MatrixXd(0, 2)}, 3);
    EXPECT_TRUE(estimator.variances().array().isInf().all());
    EXPECT_EQ(estimator.estimates(), MatrixXd::Zero(2, 3));
}

TEST(ContributionEstimator, RefusesMoreThanItExpects) {
    ContributionEstimator estimator({random_matrix(2, 2, 9), MatrixXd(0, 2)}, 1);
    EXPECT_THROW(estimator.add({random_matrix(3, 1, 10), MatrixXd(0, 1)}), ConfigError);
}

}  // namespace
}  // namespace sotto
