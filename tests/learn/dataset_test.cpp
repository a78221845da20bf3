#include "sotto/learn/dataset.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

#include "core/numbers.hpp"
#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "learn/reader_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::all_rows;
using test::features_of;
using test::random_real_data;
using test::TemporaryFolder;

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

TEST(Concatenate, RefusesToMixKinds) {
    const TemporaryFolder folder;
    const Dataset libsvm = read_records(folder.write("a", "+1 1:1\n-1 2:1\n"));
    const Dataset csv = read_records(folder.write("b", "1,2\n3,4\n"));
    const Dataset wider = read_records(folder.write("c", "1,2,3\n"));
    EXPECT_THROW((void)concatenate({libsvm, csv}), DataError);
    EXPECT_THROW((void)concatenate({csv, wider}), DataError);
    EXPECT_EQ(concatenate({csv, csv}).labels, Eigen::Vector4d(2, 4, 2, 4));
    EXPECT_THROW((void)widened(csv, 3), DataError);
}

TEST(WithSparseFeatures, KeepsEveryValue) {
    const TemporaryFolder folder;
    const Dataset dense = read_records(folder.write("a", "1,0,2\n0,0,4\n7,8,9\n"));
    const Dataset sparse = with_sparse_features(dense);
    EXPECT_FALSE(sparse.dense);
    EXPECT_EQ(sparse.features.nonZeros(), 3);
    EXPECT_EQ(features_of(sparse), features_of(dense));
    EXPECT_EQ(sparse.labels, dense.labels);
}

TEST(MeanFeatures, AreOfTheGivenRows) {
    const Dataset data = random_real_data(12, 4, 3);
    const Eigen::MatrixXd values(data.features);
    EXPECT_LE((mean_features(data, all_rows(12)) - values.colwise().mean().transpose()).norm(),
              1e-14);
    const std::vector<Eigen::Index> two{7, 2};
    EXPECT_LE((mean_features(data, two) - 0.5 * (values.row(7) + values.row(2)).transpose()).norm(),
              1e-14);
    EXPECT_EQ(mean_features(data, {}), Eigen::VectorXd::Zero(4));
}

}  // namespace
}  // namespace sotto
