#include "design/best_noise.hpp"

#include <gtest/gtest.h>

#include "design/noise_fixtures.hpp"
#include "sotto/design/spatial_solver.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;

TEST(GivenNoise, IsAlwaysTheSame) {
    const MatrixXd covariance = test::random_positive_definite(5, 1);
    const MatrixXd utility = test::random_positive_definite(5, 2);
    const NoiseAnswer answer = given_noise(covariance)(utility);
    EXPECT_EQ(answer.covariance, covariance);
    EXPECT_DOUBLE_EQ(answer.value, (utility * covariance).trace());
}

TEST(FreeNoise, IsTheOptimumAtThePriceOfVariance) {
    const Eigen::VectorXd ones = Eigen::VectorXd::Ones(8);
    for (const double price : {0.0, 0.3}) {
        const BestNoise noise = free_noise(price);
        for (const std::uint64_t seed : {3U, 4U}) {
            const MatrixXd priced =
                test::random_positive_definite(8, seed) + price * MatrixXd::Identity(8, 8);
            const NoiseAnswer answer = noise(priced - price * MatrixXd::Identity(8, 8));
            const SpatialSolution best = solve_spatial_covariance(priced, ones);
            EXPECT_NEAR(answer.value, best.value, 1e-5 * best.value);
            EXPECT_LE((test::precision_of(answer.covariance) - ones).maxCoeff(), 1e-6);
        }
    }
}

TEST(FreeNoise, StaysFiniteWhereMIsSingular) {
    const MatrixXd mean = MatrixXd::Constant(6, 6, 1.0 / 6);
    const NoiseAnswer answer = free_noise()(mean);
    EXPECT_TRUE(answer.covariance.allFinite());
    EXPECT_NEAR(answer.value, 1.0 / 6, 1e-3);
}

}  // namespace
}  // namespace sotto
