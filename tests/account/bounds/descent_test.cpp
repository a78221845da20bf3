#include <gtest/gtest.h>

#include "account/bounds/bound_fixtures.hpp"
#include "account/bounds/cancelling_noise.hpp"

namespace sotto {
namespace {

using test::CancellingTraining;

TEST(DescentBound, IsWhatTheorem2AddsBesideDescent) {
    CancellingTraining training("homomorphic");
    EXPECT_FALSE(descent_record().of_training(training.input())) << "needs the smoothness";
    training.smoothness = 1.5;
    const CancellingNoise terms = cancelling_noise(training.input()).value();
    // mu/2 (1 + 2 delta mu) b^2 2 delta^2 a / (1 - lambda_2) + mu^2 2 delta G^2 (eq. 30)
    const double noise = 0.1 * 1.6 * terms.noise * 2.25 / (1 - terms.second_eigenvalue);
    EXPECT_NEAR(descent_record().of_training(training.input()).value(),
                noise + 0.04 * 3 * 0.25,
                1e-12 * noise);
}

TEST(DescentBound, IsNeverBelowWhatNoiseAddsToQuadraticLosses) {
    // Loss of agent k: curvature_k / 2 |w|^2, so that models' second moments are known in every
    // round. Noise leaves the mean model alone but for gradients at models that it moved.
    CancellingTraining training("homomorphic");
    constexpr double step = 0.2, smooth = 1.5;
    training.smoothness = smooth;
    const double added = descent_record().of_training(training.input(1)).value();
    Eigen::VectorXd curvature(8);
    for (int k = 0; k < 8; ++k) curvature(k) = smooth * (k % 2 == 0 ? 1.0 : 0.1 * k);
    const Eigen::MatrixXd mixing = training.topography.mixing.dense();
    const Eigen::MatrixXd off = mixing - Eigen::MatrixXd::Identity(8, 8);
    double scale = 0;
    for (const NoiseRow& row : training.plan.rows)
        if (row.sender != row.receiver) scale = training.plan.scale * row.coefficients[0];
    const Eigen::MatrixXd noise = 2 * scale * scale * off * off.transpose();
    const Eigen::MatrixXd moves =
        mixing * (Eigen::VectorXd::Ones(8) - step * curvature).asDiagonal();
    const double mean_curvature = curvature.mean();
    Eigen::MatrixXd moments = Eigen::MatrixXd::Constant(8, 8, 0.5);
    for (int round = 0; round < 100; ++round) {
        const double before = moments.sum() / 64;
        moments = moves * moments * moves.transpose() + noise;
        const double after = moments.sum() / 64;
        EXPECT_LE(
            0.5 * mean_curvature * after,
            0.5 * mean_curvature * before -
                0.5 * step * (1 - 2 * step * smooth) * mean_curvature * mean_curvature * before +
                added)
            << round;
    }
}

}  // namespace
}  // namespace sotto
