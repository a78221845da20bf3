#include "sotto/learn/dataset.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/learn/objective.hpp"
#include "test_data.hpp"

namespace sotto {
namespace {

using sotto::testing::all_rows;
using sotto::testing::random_real_data;

TEST(Concatenate, StacksRowsAndPadsColumns) {
    const Dataset a = random_real_data(5, 3, 1), b = random_real_data(4, 6, 2);
    const Dataset both = concatenate({a, b});
    Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(9, 6);
    expected.topLeftCorner(5, 3) = Eigen::MatrixXd(a.features);
    expected.bottomRows(4) = Eigen::MatrixXd(b.features);
    EXPECT_EQ(Eigen::MatrixXd(both.features), expected);
    EXPECT_EQ(both.labels.head(5), a.labels);
    EXPECT_EQ(both.labels.tail(4), b.labels);
    EXPECT_TRUE(both.features.isCompressed());
    EXPECT_THROW((void)concatenate({}), DataError);
}

TEST(SelectRows, KeepsTheGivenOrder) {
    const Dataset data = random_real_data(12, 7, 3);
    const std::vector<Eigen::Index> rows{11, 0, 5, 5, 3};
    const Dataset chosen = select_rows(data, rows);
    ASSERT_EQ(chosen.records(), 5);
    EXPECT_EQ(chosen.feature_count(), 7);
    const Eigen::MatrixXd dense(data.features), picked(chosen.features);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto row = static_cast<Eigen::Index>(i);
        EXPECT_EQ(picked.row(row), dense.row(rows[i]));
        EXPECT_EQ(chosen.labels[row], data.labels[rows[i]]);
    }
    EXPECT_EQ(select_rows(data, {}).records(), 0);
    for (const Eigen::Index outside : {-1, 12})
        EXPECT_THROW((void)select_rows(data, std::vector<Eigen::Index>{outside}), DataError);
}

TEST(SelectRows, OfASplitConcatenatedAgainGivesTheSameRecords) {
    const Dataset data = random_real_data(40, 5, 4);
    const Split split = split_rows(40, 0.3, 7);
    const Dataset both =
        concatenate({select_rows(data, split.train), select_rows(data, split.test)});
    EXPECT_EQ(both.features.nonZeros(), data.features.nonZeros());
    EXPECT_DOUBLE_EQ(both.features.sum(), data.features.sum());
    EXPECT_EQ(both.labels.sum(), data.labels.sum());
}

TEST(SplitRows, GivesDisjointAscendingPartsThatCoverAllRows) {
    for (const Eigen::Index records : {2, 3, 10, 1001})
        for (const double fraction : {1e-9, 0.2, 0.5, 1 - 1e-9}) {
            const Split split = split_rows(records, fraction, 4);
            EXPECT_TRUE(std::is_sorted(split.train.begin(), split.train.end()));
            EXPECT_TRUE(std::is_sorted(split.test.begin(), split.test.end()));
            EXPECT_FALSE(split.train.empty());
            EXPECT_FALSE(split.test.empty());
            std::vector<Eigen::Index> merged;
            std::merge(split.train.begin(),
                       split.train.end(),
                       split.test.begin(),
                       split.test.end(),
                       std::back_inserter(merged));
            EXPECT_EQ(merged, all_rows(records));
        }
    EXPECT_EQ(split_rows(1000, 0.2, 1).test.size(), 200U);
    EXPECT_EQ(split_rows(1000, 0.2, 1).test, split_rows(1000, 0.2, 1).test);
    EXPECT_NE(split_rows(1000, 0.2, 1).test, split_rows(1000, 0.2, 2).test);
}

TEST(SplitRows, RefusesFractionsOutsideTheOpenUnitInterval) {
    for (const double fraction : {0.0, 1.0, -0.1, 2.0, not_a_number})
        EXPECT_THROW((void)split_rows(10, fraction, 1), ConfigError) << fraction;
    EXPECT_THROW((void)split_rows(1, 0.5, 1), DataError);
}

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

}  // namespace
}  // namespace sotto
