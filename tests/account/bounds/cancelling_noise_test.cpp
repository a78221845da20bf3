#include "account/bounds/cancelling_noise.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "account/bounds/bound_fixtures.hpp"
#include "sotto/core/linear_algebra.hpp"

namespace sotto {
namespace {

using test::CancellingTraining;

TEST(CancellingNoise, OfThePapersOwnNoiseIsWhatThePaperWrites) {
    const CancellingTraining training("homomorphic");
    const auto terms = cancelling_noise(training.input(3));
    ASSERT_TRUE(terms);
    EXPECT_EQ(terms->step, 0.2);
    EXPECT_EQ(terms->gradient_norm, 0.5);
    const Eigen::MatrixXd mixing = training.topography.mixing.dense();
    const Eigen::VectorXd eigenvalues = symmetric_eigenvalues(mixing);
    EXPECT_NEAR(terms->second_eigenvalue,
                std::max(eigenvalues(eigenvalues.size() - 2), -eigenvalues(0)),
                1e-9);
    // a = max_k (1 - a_kk) + (1 - a_kk)^2 / a_kk^2 (eq. 29); 2 b^2 a of each of three coordinates.
    double scale = 0, a = 0;
    for (const NoiseRow& row : training.plan.rows)
        if (row.sender != row.receiver) scale = training.plan.scale * row.coefficients[0];
    for (int k = 0; k < 8; ++k) {
        const double away = 1 - mixing(k, k);
        a = std::max(a, away + away * away / (mixing(k, k) * mixing(k, k)));
    }
    EXPECT_NEAR(terms->noise, 3 * 2 * scale * scale * a, 1e-9 * terms->noise);
}

TEST(CancellingNoise, IsOfPlansThatTheAssumptionsHoldOf) {
    EXPECT_TRUE(cancelling_noise(CancellingTraining("zip-dl").input()));
    EXPECT_FALSE(cancelling_noise(CancellingTraining("laplace").input())) << "does not cancel";
    EXPECT_FALSE(cancelling_noise(CancellingTraining("ldp").input())) << "is on gradients";
    EXPECT_FALSE(cancelling_noise(CancellingTraining("none").input()));
    EXPECT_FALSE(cancelling_noise(CancellingTraining("zip-dl", "row-stochastic").input()))
        << "weights are not symmetric";
    CancellingTraining training("homomorphic");
    training.config.steps.kind = StepSchedule::Kind::inverse;
    EXPECT_FALSE(cancelling_noise(training.input())) << "the step falls";
    training = CancellingTraining("homomorphic");
    training.topography.later_mixing.push_back(training.topography.mixing);
    EXPECT_FALSE(cancelling_noise(training.input())) << "weights change";
    training = CancellingTraining("homomorphic");
    training.plan.rows[0].coefficients[0] *= 1.01;
    EXPECT_FALSE(cancelling_noise(training.input())) << "no longer cancels";
}

}  // namespace
}  // namespace sotto
