#include "sotto/learn/synthetic.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <memory>
#include <variant>

#include "sotto/core/error.hpp"
#include "sotto/learn/logistic.hpp"

namespace sotto {
namespace {

TEST(SyntheticBinary, HasTheShapeOfA9a) {
    const Dataset data = synthetic_binary(20000, 3);
    EXPECT_EQ(data.records(), 20000);
    EXPECT_EQ(data.feature_count(), 123);
    EXPECT_EQ(data.features.nonZeros(), 14 * 20000);
    EXPECT_EQ(data.features.coeffs().minCoeff(), 1);
    EXPECT_EQ(data.features.coeffs().maxCoeff(), 1);
    EXPECT_EQ((data.labels.array().abs() == 1).count(), 20000);
    // One category of every group: row sums over the columns of a group are 1.
    const Eigen::MatrixXd dense(data.features);
    int first = 0;
    for (const int size : {5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41}) {
        EXPECT_TRUE((dense.middleCols(first, size).rowwise().sum().array() == 1).all());
        // Skewed: the first category is the commonest.
        EXPECT_GE(dense.col(first).sum(), dense.col(first + size - 1).sum());
        first += size;
    }
    EXPECT_EQ(first, 123);
}

TEST(SyntheticBinary, DependsOnRecordsAndSeedOnly) {
    const Dataset a = synthetic_binary(500, 3), b = synthetic_binary(500, 3);
    EXPECT_EQ(a.labels, b.labels);
    EXPECT_EQ(Eigen::MatrixXd(a.features), Eigen::MatrixXd(b.features));
    EXPECT_NE(a.labels, synthetic_binary(500, 4).labels);
    EXPECT_THROW((void)synthetic_binary(0, 1), ConfigError);
}

TEST(SyntheticBinary, IsLearnableByLogisticRegressionAndAQuarterPositive) {
    const Dataset train = synthetic_binary(20000, 1);
    const auto fresh = std::make_shared<const Dataset>(synthetic_binary(20000, 2));
    EXPECT_NEAR((train.labels.array() == 1).cast<double>().mean(), 0.24, 0.02);

    const auto objective = make_logistic_objective(train, fresh);
    Eigen::VectorXd model = Eigen::VectorXd::Zero(objective->dimension());
    for (int step = 0; step < 12; ++step) {
        auto curvature = objective->curvature_sum(model);
        ASSERT_TRUE(curvature.has_value());
        curvature->gradient += model;  // a small ridge: one-hot groups and a bias are collinear
        curvature->hessian.diagonal().array() += 1;
        model -= curvature->hessian.ldlt().solve(curvature->gradient);
    }
    const LossSum result = objective->test_loss(model, 0, 1);
    const double accuracy = result.correct / static_cast<double>(result.records);
    EXPECT_GE(accuracy, 0.83);
    EXPECT_LE(accuracy, 0.86);
}

TEST(SyntheticValues, AreDeterministicAndNoLongerThanOne) {
    for (const std::uint64_t seed : {1u, 9u}) {
        const Dataset data = synthetic_values(4000, seed);
        const auto& values = std::get<RealRows>(data.dense.value());
        EXPECT_EQ(data.records(), 4000);
        EXPECT_LE(values.rowwise().norm().maxCoeff(), 1);
        EXPECT_GE(values.minCoeff(), 0);
        EXPECT_EQ(values, std::get<RealRows>(synthetic_values(4000, seed).dense.value()));
        EXPECT_NE(values, std::get<RealRows>(synthetic_values(4000, seed + 1).dense.value()));
        // Uniform from 0 to a: mean a/2, standard error a / sqrt(12 N).
        const double longest = 1 / std::sqrt(8.0);
        for (Eigen::Index k = 0; k < 8; ++k)
            EXPECT_NEAR(values.col(k).mean(), longest / 2, 5 * longest / std::sqrt(12.0 * 4000))
                << "seed " << seed;
    }
    EXPECT_THROW((void)synthetic_values(0, 1), ConfigError);
}

}  // namespace
}  // namespace sotto
