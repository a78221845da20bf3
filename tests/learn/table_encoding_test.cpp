#include "learn/table_encoding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/test_support.hpp"
#include "learn/reader_fixtures.hpp"
#include "learn/table_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::expect_refusal;
using test::features_of;
using test::message_of;
using test::predicting;
using test::table_of;
using Names = std::vector<std::string>;

TEST(Encoded, HasAPolicyForMissingCells) {
    const Table table = table_of("age,sex,y\n50,male,0\n,female,1\n60,,0\n");
    const TableShape shape = shape_of(table, predicting("y"));
    const std::string refused = message_of<DataError>([&] { (void)encoded(table, shape, {}); });
    for (const char* word : {"site.csv", "record 2", "\"age\"", "--missing indicator"})
        EXPECT_NE(refused.find(word), std::string::npos) << refused;
    Eigen::MatrixXd wanted(3, 3);
    wanted << 50, -1, 60, 0, 1, 0, 1, 0, 0;
    EXPECT_EQ(features_of(encoded(table, shape, parse_missing("value:-1"))), wanted);
    EXPECT_EQ(feature_names(shape, parse_missing("indicator")).names,
              (Names{"age", "age is missing", "sex = female", "sex = male", "sex is missing"}));
    const Dataset data = encoded(table, shape, parse_missing("indicator"));
    EXPECT_EQ(features_of(data).row(1), Eigen::RowVector3d(0, 1, 0));
    EXPECT_EQ(features_of(data).row(4), Eigen::RowVector3d(0, 0, 1));
}

TEST(Encoded, KnowsOfWhomRecordsAre) {
    TableOptions options = predicting("y");
    options.unit = "patient";
    const Table table = table_of("patient,x,y\np7,1,0\n8,2,1\np7,3,1\n8.0,4,0\n");
    const TableShape shape = shape_of(table, options);
    ASSERT_EQ(shape.features.size(), 1U) << "the unit is no feature";
    EXPECT_EQ(encoded(table, shape, {}).writers, (std::vector<int>{0, 1, 0, 1}));
    expect_refusal<DataError>("patient,x,y\na,1,0\n,2,1\n", options, {"record 2", "of whom"});
    options.unit = "y";
    expect_refusal<ConfigError>("patient,x,y\na,1,0\n", options, {"unit-column", "predict"});
    options.unit = "person";
    expect_refusal<ConfigError>("patient,x,y\na,1,0\n", options, {"unit-column", "person"});
}

TEST(Encoded, NamesACategoryThatNoTrainingDataHave) {
    const TableShape shape = shape_of(table_of("sex,y\nmale,0\nfemale,1\n"), predicting("y"));
    const Table other = table_of("y,sex\n0,unknown\n");
    const std::string message = message_of<DataError>([&] { (void)encoded(other, shape, {}); });
    EXPECT_NE(message.find("\"unknown\""), std::string::npos) << message;
    EXPECT_NE(message.find("female, male"), std::string::npos) << message;
    const Table unlabelled = table_of("more,sex\n7,male\n");
    EXPECT_EQ(features_of(encoded(unlabelled, shape, {}, false)), Eigen::Vector2d(0, 1));
}

TEST(Bounds, CutAndScaleColumnsOfNumbers) {
    TableOptions options = predicting("y");
    options.bounds = parse_bounds("age=0:100, dose=-1:3");
    const Table table = table_of("age,sex,dose,y\n50,m,3,0\n120,f,1,1\n");
    const TableShape shape = shape_of(table, options);
    const Standardisation scaling = scaling_by_bounds(shape, options);
    Eigen::MatrixXd wanted(4, 2);
    wanted << 0, 1, 0, 1, 1, 0, 1, 0;
    EXPECT_EQ(features_of(standardised(encoded(table, shape, {}), scaling)), wanted);
    options.bounds = parse_bounds("age=0:100");
    EXPECT_NE(message_of<ConfigError>([&] {
                  (void)scaling_by_bounds(shape, options);
              }).find("column \"dose\" has none"),
              std::string::npos);
    options.bounds = parse_bounds("age=0:100,dose=0:1,sex=0:1");
    EXPECT_NE(message_of<ConfigError>([&] { (void)scaling_by_bounds(shape, options); }).find("sex"),
              std::string::npos);
}

TEST(AllColumns, ArePoints) {
    EXPECT_EQ(features_of(all_columns(table_of("a,b\n1,2\n3,4\n"))),
              (Eigen::Matrix2d() << 1, 3, 2, 4).finished());
    EXPECT_NE(message_of<DataError>([] {
                  (void)all_columns(table_of("a,b\n1,x\n"));
              }).find("\"b\" is no number"),
              std::string::npos);
}

}  // namespace
}  // namespace sotto
