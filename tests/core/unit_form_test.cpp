#include "core/unit_form.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "core/linear_algebra.hpp"
#include "core/seeded_random.hpp"

namespace sotto {
namespace {

TEST(TightBounds, OfRoundsThatOnlyAddUpAreTheSum) {
    Eigen::MatrixXd gram = Eigen::MatrixXd::Constant(4, 4, 0.5);
    gram.diagonal().setConstant(2);
    const TightBounds bounds = tight_bounds(gram, 1e-9, 1e300);
    EXPECT_DOUBLE_EQ(bounds.lower, gram.sum());
    EXPECT_DOUBLE_EQ(bounds.upper, gram.sum());
}

TEST(TightBounds, OfThreeOpposedRoundsAreReachedAtAnAngle) {
    // Unit vectors at 120 degrees: 3 (1 + 0.5).
    Eigen::MatrixXd gram = Eigen::MatrixXd::Constant(3, 3, -0.5);
    gram.diagonal().setOnes();
    const TightBounds bounds = tight_bounds(gram, 1e-8, 1e300);
    EXPECT_NEAR(bounds.lower, 4.5, 1e-6);
    EXPECT_NEAR(bounds.upper, 4.5, 1e-6);
}

TEST(TightBounds, HoldForEveryChoiceOfVectorsAndCloseUp) {
    for (const int size : {5, 40, 100}) {
        SeededRandom random(8, "tight bounds", static_cast<std::uint64_t>(size));
        Eigen::MatrixXd factor(size, size);
        for (double& value : factor.reshaped()) value = random.normal();
        const Eigen::MatrixXd gram = factor.transpose() * factor;
        const TightBounds bounds = tight_bounds(gram, 1e-4, 1e300);
        EXPECT_LE(bounds.lower, bounds.upper);
        EXPECT_LE(bounds.upper, bounds.lower * (1 + 1e-3));
        EXPECT_LE(bounds.lower, size * symmetric_eigenvalues(gram)(size - 1) * (1 + 1e-12));
        for (int trial = 0; trial < 50; ++trial) {
            Eigen::MatrixXd vectors(3, size);
            for (double& value : vectors.reshaped()) value = random.normal();
            vectors.colwise().normalize();
            EXPECT_LE((vectors.transpose() * vectors).cwiseProduct(gram).sum(),
                      bounds.upper * (1 + 1e-12));
        }
    }
}

TEST(TightBounds, EndAtABoundKnownBeforehand) {
    Eigen::MatrixXd gram = Eigen::MatrixXd::Constant(3, 3, -0.5);
    gram.diagonal().setOnes();
    EXPECT_LE(tight_bounds(gram, 1e-8, 4.6).upper, 4.6);
}

}  // namespace
}  // namespace sotto
