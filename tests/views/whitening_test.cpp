#include "views/whitening.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

/// factor factor^T with random entries.
Eigen::MatrixXd random_covariance(int size, int rank) {
    SeededRandom random(2, "whitening", static_cast<std::uint64_t>(100 * size + rank));
    Eigen::MatrixXd factor(size, rank);
    for (double& value : factor.reshaped()) value = random.normal();
    return factor * factor.transpose();
}

TEST(Whiten, MakesUnitCovarianceOfWhatTheNoiseCovers) {
    for (const auto& [size, rank] : {std::pair{1, 1}, {6, 6}, {6, 4}, {9, 1}, {5, 0}}) {
        const Eigen::MatrixXd covariance = random_covariance(size, rank);
        const Whitening found = whiten(covariance, 1e-12);
        EXPECT_EQ(found.rows.rows(), rank);
        EXPECT_EQ(found.blind.rows(), size - rank);
        const Eigen::MatrixXd white = found.rows * covariance * found.rows.transpose();
        EXPECT_TRUE(white.isApprox(Eigen::MatrixXd::Identity(rank, rank), 1e-8));
        EXPECT_LE((found.blind * covariance).cwiseAbs().sum(), 1e-10);
        const Eigen::MatrixXd basis = found.blind * found.blind.transpose();
        EXPECT_TRUE(basis.isApprox(Eigen::MatrixXd::Identity(size - rank, size - rank), 1e-10));
    }
}

TEST(Whiten, TakesWhatIsBelowTheFloorForRounding) {
    const Eigen::MatrixXd covariance = Eigen::Vector3d(1, 1e-6, 1e-9).asDiagonal();
    EXPECT_EQ(whiten(covariance, 1e-12).rows.rows(), 3);
    EXPECT_EQ(whiten(covariance, 1e-8).rows.rows(), 2);
    EXPECT_EQ(whiten(covariance, 2).rows.rows(), 0);
    EXPECT_EQ(whiten(Eigen::MatrixXd(0, 0), 0).blind.rows(), 0);
}

TEST(Whitening, ShowsWithoutNoiseWhatLeavesTheRangeOfTheCovariance) {
    const Whitening found = whiten(random_covariance(4, 2), 1e-12);
    const Eigen::VectorXd bare = found.blind.row(0).transpose();
    const Eigen::VectorXd covered = random_covariance(4, 2).col(1);
    EXPECT_TRUE(found.shows_without_noise(bare));
    EXPECT_FALSE(found.shows_without_noise(covered));
    EXPECT_FALSE(found.shows_without_noise(1e-10 * bare)) << "rounding";
    EXPECT_FALSE(whiten(random_covariance(3, 3), 0).shows_without_noise(Eigen::VectorXd::Ones(3)));
}

}  // namespace
}  // namespace sotto
