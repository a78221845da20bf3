#include "sotto/learn/dataset.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "learn/reader_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/learn/split.hpp"

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

TEST(Concatenate, PutsColumnsOfTablesInTheOrderOfTheFirstByTheirNames) {
    const TemporaryFolder folder;
    const auto table = [&](const std::string& name, const std::string& text) {
        return read_records(folder.write(name, text));
    };
    const Dataset first = table("first", "age,sex,target\n50,1,7\n60,0,8\n");
    const Dataset both = concatenate({first, table("second", "target,age,sex\n9,70,1\n")});
    Eigen::MatrixXd expected(2, 3);
    expected << 50, 60, 70, 1, 0, 1;
    EXPECT_EQ(features_of(both), expected);
    EXPECT_EQ(both.labels, Eigen::Vector3d(7, 8, 9));
    EXPECT_EQ(both.columns, first.columns);
    const auto refusal = [&](const std::string& text) {
        return test::message_of<DataError>([&] {
            (void)concatenate({first, table("other", text)});
        });
    };
    for (const auto& [text, words] : std::vector<std::pair<std::string, std::vector<std::string>>>{
             {"age,gender,target\n1,2,3\n",
              {"other", "first", "alone has \"gender\"", "lacks \"sex\""}},
             {"age,sex,bmi,target\n1,2,3,4\n", {"alone has \"bmi\""}},
             {"age,target\n1,2\n", {"lacks \"sex\""}},
             {"1,2,3\n", {"other: has not a header line", "has"}},
             {"age,age,target\n1,2,3\n", {"\"age\"", "\"sex\""}}}) {
        const std::string message = refusal(text);
        for (const std::string& word : words)
            EXPECT_NE(message.find(word), std::string::npos) << message << "\nwants " << word;
    }
    const Dataset twice = table("twice", "a,a,b\n1,2,3\n");
    EXPECT_EQ(concatenate({twice, twice}).records(), 2);
    EXPECT_THROW((void)with_columns(twice, {"a", "b", "a"}, "it"), DataError);
    EXPECT_EQ(with_columns(first, {"target", "sex", "age"}, "it").labels, Eigen::Vector2d(50, 60));
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

TEST(TargetAsFeature, IsTheLastColumnOfATable) {
    Dataset table;
    table.target = Target::value;
    table.dense = RealRows(2, 2);
    std::get<RealRows>(*table.dense) << 1, 2, 3, 4;
    table.labels = Eigen::Vector2d(5, 6);
    RealRows wanted(2, 3);
    wanted << 1, 2, 5, 3, 4, 6;
    EXPECT_EQ(std::get<RealRows>(with_target_as_feature(table).dense.value()), wanted);
    const Dataset labelled = random_real_data(4, 3, 1);
    EXPECT_EQ(with_target_as_feature(labelled).feature_count(), 3) << "labels are no values";
}

}  // namespace
}  // namespace sotto
