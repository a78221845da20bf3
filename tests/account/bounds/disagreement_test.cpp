#include <gtest/gtest.h>

#include <cmath>

#include "account/bounds/bound_fixtures.hpp"
#include "account/bounds/cancelling_noise.hpp"
#include "sotto/core/linear_algebra.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::CancellingTraining;

/// Covariance over agents of what a round's noise adds to one coordinate of their models.
MatrixXd noise_of_a_round(const CancellingTraining& training) {
    const NoisePlan& plan = training.plan;
    MatrixXd coefficients = MatrixXd::Zero(8, std::ssize(plan.streams));
    for (const NoiseRow& row : plan.rows)
        for (std::size_t j = 0; j < row.streams.size(); ++j)
            coefficients(row.receiver, row.streams[j]) +=
                training.topography.mixing.weight(row.receiver, row.sender) * plan.scale *
                row.coefficients[j] *
                std::sqrt(unit_variance(
                    plan.streams[static_cast<std::size_t>(row.streams[j])].distribution));
    return coefficients * coefficients.transpose();
}

double disagreement(const MatrixXd& second_moment) {
    const MatrixXd off_mean = MatrixXd::Identity(8, 8) - MatrixXd::Constant(8, 8, 1.0 / 8);
    return (off_mean * second_moment).trace() / 8;
}

TEST(DisagreementBound, IsNeverBelowWhatNoiseAndTheWorstGradientsDo) {
    constexpr long dimension = 3;
    for (const std::string mechanism : {"homomorphic", "zip-dl"}) {
        const CancellingTraining training(mechanism);
        const MatrixXd mixing = training.topography.mixing.dense();
        const double bound = disagreement_record().of_training(training.input(dimension)).value();
        const MatrixXd noise = noise_of_a_round(training);
        EXPECT_LE(noise.rowwise().sum().cwiseAbs().maxCoeff(), 1e-9 * noise.trace())
            << "leaves the mean alone";
        // Gradients of length G along the eigenvector that mixing shortens least.
        const SymmetricEigen eigen = symmetric_eigen(mixing);
        const VectorXd worst =
            eigen.vectors.col(6) * 0.5 / eigen.vectors.col(6).cwiseAbs().maxCoeff();
        MatrixXd covariance = MatrixXd::Zero(8, 8);
        VectorXd models = VectorXd::Zero(8);
        double largest = 0;
        for (int round = 0; round < 200; ++round) {
            covariance = mixing * covariance * mixing.transpose() + noise;
            models = mixing * (models - 0.2 * worst);
            largest = std::max(
                largest,
                dimension * disagreement(covariance) + disagreement(models * models.transpose()));
        }
        EXPECT_GE(bound, largest) << mechanism;
    }
}

TEST(DisagreementBound, IsThatOfLemma3) {
    const CancellingTraining training("homomorphic");
    const CancellingNoise terms = cancelling_noise(training.input(5)).value();
    const double left = 1 - terms.second_eigenvalue;
    EXPECT_NEAR(disagreement_record().of_training(training.input(5)).value(),
                0.04 * std::pow(terms.second_eigenvalue / left, 2) * 0.25 + terms.noise / left,
                1e-12 * terms.noise / left);
    EXPECT_FALSE(disagreement_record().of_training(CancellingTraining("ldp").input()));
}

}  // namespace
}  // namespace sotto
