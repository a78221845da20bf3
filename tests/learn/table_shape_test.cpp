#include "learn/table_shape.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/temporary_folder.hpp"
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
using test::TemporaryFolder;

TEST(MissingPolicies, HaveNames) {
    EXPECT_EQ(name_of(parse_missing("value:-1")), "value:-1");
    EXPECT_EQ(name_of(parse_missing("refuse")), "refuse");
    EXPECT_THROW((void)parse_missing("median"), ConfigError);
    EXPECT_THROW((void)parse_missing("value:"), ConfigError);
}

TEST(Bounds, AreReadFromTextOrAFile) {
    for (const char* text : {"age",
                             "age=1",
                             "age=2:1",
                             "age=1:1",
                             "age=0:inf",
                             "age=a:b",
                             "age=0:1,age=0:2",
                             "",
                             "age=nan:1"})
        EXPECT_THROW((void)parse_bounds(text), ConfigError) << text;
    const TemporaryFolder folder;
    EXPECT_EQ(parse_bounds(folder.write("bounds", "# known limits\nage = 0:100\n\ndose=-1:3\n")),
              parse_bounds("age=0:100,dose=-1:3"));
}

using Names = std::vector<std::string>;

constexpr const char* patients =
    "id,age,sex,readmitted,stage\n"
    "a,50,male,yes,2\n"
    "b,60,female,no,10\n"
    "c,70,male,no,1\n";

TEST(TableShape, KnowsClassesNumbersAndCategories) {
    TableOptions options = predicting("readmitted");
    options.ignore = {"id"};
    options.categorical = {"stage"};
    const Table table = table_of(patients);
    const TableShape shape = shape_of(table, options);
    EXPECT_EQ(shape.label, "readmitted");
    EXPECT_EQ(shape.target, Target::label);
    EXPECT_EQ(shape.label_names, (Names{"no", "yes"}));
    ASSERT_EQ(shape.features.size(), 3U);
    EXPECT_EQ(shape.features[0], (ColumnShape{"age", ColumnShape::Kind::numbers}));
    EXPECT_EQ(shape.features[1],
              (ColumnShape{"sex", ColumnShape::Kind::categories, {"female", "male"}}));
    EXPECT_EQ(shape.features[2],
              (ColumnShape{"stage", ColumnShape::Kind::categories, {"1", "2", "10"}}))
        << "in natural order";
    EXPECT_EQ(feature_names(shape, {}).names,
              (Names{"age", "sex = female", "sex = male", "stage = 1", "stage = 2", "stage = 10"}));
    const Dataset data = encoded(table, shape, {});
    EXPECT_EQ(data.labels, Eigen::Vector3d(1, 0, 0));
    Eigen::MatrixXd wanted(6, 3);
    wanted << 50, 60, 70, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0;
    EXPECT_EQ(features_of(data), wanted);
}

TEST(TableShape, TakesWholeNumbersForClassesAndOthersForValues) {
    const auto target = [](const std::string& labels, TargetKind kind = TargetKind::automatic) {
        TableOptions options = predicting("y");
        options.target = kind;
        return shape_of(
            table_of("x,y\n1," + labels.substr(0, 3) + "\n2," + labels.substr(3) + "\n"), options);
    };
    EXPECT_EQ(target("0.01").labels, (LabelSet{0, 1}));
    EXPECT_EQ(target("0.51").target, Target::value);
    EXPECT_EQ(target("0.01", TargetKind::value).target, Target::value);
    std::string prices = "x,y\n";
    for (int i = 0; i < 50; ++i) prices += "1," + std::to_string(100 * (i % 40)) + "\n";
    EXPECT_EQ(shape_of(table_of(prices), predicting("y")).target, Target::value);
    std::string many = "x,y\n";
    for (int i = 0; i < 101; ++i) many += "1," + std::to_string(7 * i) + "\n";
    EXPECT_EQ(shape_of(table_of(many), predicting("y")).target, Target::value);
    TableOptions classes = predicting("y");
    classes.target = TargetKind::classes;
    EXPECT_EQ(shape_of(table_of(many), classes).labels.size(), 101U);
    expect_refusal<DataError>("x,y\n1,0.5\n2,1\n", classes, {"column \"y\"", "0.5", "whole"});
}

TEST(TableShape, MakesTwoClassesOfWhatIsAboveANumber) {
    const Table table = table_of("x,y\n1,0\n2,3\n3,1\n");
    const TableShape shape = shape_of(table, predicting("y>1"));
    EXPECT_EQ(shape.label_names, (Names{"y <= 1", "y > 1"}));
    EXPECT_EQ(encoded(table, shape, {}).labels, Eigen::Vector3d(0, 1, 0));
    EXPECT_EQ(shape_of(table_of("x,y>1\n1,0\n2,3\n"), predicting("y>1")).labels, (LabelSet{0, 3}))
        << "a column of that name comes first";
    expect_refusal<ConfigError>("x,y\n1,a\n2,b\n", predicting("y>1"), {"column of numbers"});
}

TEST(TableShape, AsksForTheColumnToPredict) {
    expect_refusal<ConfigError>(patients, {}, {"--label \"stage\"", "id, age, sex, readmitted"});
    expect_refusal<ConfigError>(patients, predicting("readmited"), {"readmited", "readmitted"});
    TableOptions options = predicting("readmitted");
    options.ignore = {"sexx"};
    expect_refusal<ConfigError>(patients, options, {"ignore", "sexx", "sex"});
    options.ignore = {"readmitted"};
    expect_refusal<ConfigError>(patients, options, {"ignore", "column to predict"});
    const TableShape unnamed = shape_of(table_of("1,2,0\n3,4,1\n"), predicting("3"));
    EXPECT_EQ(unnamed.label, "column 3");
    EXPECT_EQ(unnamed.labels, (LabelSet{0, 1}));
    EXPECT_EQ(shape_of(table_of("1,2,0\n3,4,1\n"), {}).target, Target::value);
    expect_refusal<ConfigError>("1,2,0\n3,4,1\n", predicting("4"), {"4", "1 to 3"});
}

TEST(TableShape, RefusesWhatNothingIsLearntFrom) {
    const TableOptions options = predicting("y");
    expect_refusal<DataError>("when,y\n2021-03-04,a\n2021-03-05,b\n",
                              options,
                              {"\"when\"", "dates", "2021-03-04", "--ignore"});
    expect_refusal<DataError>("when,y\n3/4/2021,a\n31/12/2021,b\n", options, {"dates"});
    expect_refusal<DataError>("age,y\n50,a\nunknown,b\n60,a\n",
                              options,
                              {"record 2", "\"unknown\"", "2 other cells", "--categorical"});
    expect_refusal<DataError>("x,y\n1,a\n2,\n", options, {"record 2", "predicted and is missing"});
    expect_refusal<DataError>("y,x\na,1\nb,2\n", {.label = "y", .ignore = {"x"}}, {"no column"});
    std::string names = "name,y\n";
    for (int i = 0; i < 1001; ++i) names += "n" + std::to_string(i) + ",a\n";
    expect_refusal<DataError>(names, options, {"\"name\"", "1000", "--ignore"});
}

TEST(TableShape, IsThatOfAllSites) {
    const Table a = table_of("age,city,y\n50,?,yes\n60,?,no\n"),
                b = table_of("age,city,y\n?,Bern,no\n?,Basel,maybe\n");
    const TableOptions options = predicting("y");
    const TableShape both = united(shape_of(a, options), shape_of(b, options), "rank 1");
    EXPECT_EQ(both.label_names, (Names{"maybe", "no", "yes"}));
    EXPECT_EQ(both.features[0].kind, ColumnShape::Kind::numbers);
    EXPECT_EQ(both.features[1],
              (ColumnShape{"city", ColumnShape::Kind::categories, {"Basel", "Bern"}}));
    const MissingPolicy indicator = parse_missing("indicator");
    const Dataset data = encoded(a, both, indicator);
    Eigen::MatrixXd wanted(5, 2);
    wanted << 50, 60, 0, 0, 0, 0, 0, 0, 1, 1;
    EXPECT_EQ(features_of(data), wanted);
    EXPECT_EQ(data.labels, Eigen::Vector2d(2, 1));
    EXPECT_TRUE(std::isnan(features_of(encoded(b, both, indicator))(0, 0))) << "until it is scaled";

    const TableShape texts = shape_of(table_of("age,city,y\nold,Bern,no\n"), options);
    const auto message =
        message_of<DataError>([&] { (void)united(shape_of(a, options), texts, "rank 2"); });
    EXPECT_EQ(message,
              "column \"age\" of rank 2 has texts, of the others numbers (--categorical \"age\" "
              "takes all as categories)");
    EXPECT_NE(message_of<DataError>([&] {
                  (void)united(shape_of(a, options),
                               shape_of(table_of("age,city,y\n1,Bern,0.5\n"), options),
                               "rank 2");
              }).find("--label-kind"),
              std::string::npos);
}

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
              }).find("\"b\" is not a number"),
              std::string::npos);
}

}  // namespace
}  // namespace sotto
