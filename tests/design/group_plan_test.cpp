#include "design/group_plan.hpp"

#include <gtest/gtest.h>

#include "design/noise_fixtures.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(MakeGroupPlan, AddsPrivateNoiseAndWhatTheFactorsOfTheGroupsSay) {
    const VectorXd private_variance = random_kappa(5, 3);
    const std::vector<SeedGroup> groups{{{0, 2, 3}}, {{1, 4}}, {{2, 4}}};
    const std::vector<MatrixXd> factors{
        MatrixXd::Random(3, 2), MatrixXd(2, 0), MatrixXd::Random(2, 1)};
    NoisePlan plan = make_group_plan("example", private_variance, groups, factors);
    plan.scale = 1;
    plan.validate();
    MatrixXd covariance = private_variance.asDiagonal();
    for (std::size_t k = 0; k < groups.size(); ++k)
        covariance(groups[k].members, groups[k].members) += factors[k] * factors[k].transpose();
    EXPECT_TRUE(spatial_covariance(plan).isApprox(covariance, 1e-12));
    // A group without noise has no seed to deal.
    ASSERT_EQ(plan.groups.size(), 7U);
    EXPECT_EQ(plan.groups[5].members, groups[0].members);
    EXPECT_EQ(plan.groups[6].members, groups[2].members);
    EXPECT_EQ(plan.streams.size(), 5U + 2U + 1U);
}

TEST(BlockFactor, LeavesOutNoMoreThanIsNegligible) {
    const MatrixXd root = MatrixXd::Random(5, 2);
    MatrixXd block = root * root.transpose();
    MatrixXd factor = block_factor(block, 1e-9);
    EXPECT_EQ(factor.cols(), 2);
    EXPECT_TRUE((factor * factor.transpose()).isApprox(block, 1e-12));
    block.diagonal().array() += 1e-3;
    factor = block_factor(block, 1e-2);
    EXPECT_EQ(factor.cols(), 2);
    const VectorXd missing = (block - factor * factor.transpose()).diagonal();
    EXPECT_GE(missing.minCoeff(), -1e-12);
    EXPECT_LE(missing.maxCoeff(), 1e-3 * (1 + 1e-9));
    EXPECT_EQ(block_factor(MatrixXd::Zero(3, 3), 1e-9).cols(), 0);
}

TEST(DifferenceFactor, IsOppositeAtItsTwoEnds) {
    const MatrixXd factor = difference_factor(0.3);
    EXPECT_EQ(factor(0, 0), -factor(1, 0));
    EXPECT_NEAR(factor(0, 0) * factor(0, 0), 0.3, 1e-15);
    EXPECT_EQ(difference_factor(0).cols(), 0);
}

}  // namespace
}  // namespace sotto
