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

TEST(TableShape, RefusesTextsThatHardlyRepeat) {
    const auto visits = [](int persons, int each) {
        std::string text = "patient,age,y\n";
        for (int i = 0; i < persons * each; ++i)
            text += "p" + std::to_string(i % persons) + "," + std::to_string(20 + i % 60) + "," +
                    (i % 3 == 0 ? "yes" : "no") + "\n";
        return text;
    };
    TableOptions options = predicting("y");
    expect_refusal<DataError>(
        visits(400, 3),
        options,
        {"\"patient\" has 400 different texts in 1200 records", "--ignore \"patient\""});
    EXPECT_EQ(shape_of(table_of(visits(40, 5)), options).features.front().categories.size(), 40U);
    EXPECT_EQ(shape_of(table_of(visits(30, 1)), options).features.front().categories.size(), 30U);
    options.categorical = {"patient"};
    EXPECT_EQ(shape_of(table_of(visits(400, 3)), options).features.size(), 2U);
    options = predicting("y");
    options.unit = "patient";
    EXPECT_EQ(shape_of(table_of(visits(400, 3)), options).features.size(), 1U);
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
    EXPECT_THROW((void)parse_bounds("age=0:5e-324"), ConfigError) << "half of it is 0";
    options.bounds = parse_bounds("age=0:100");
    EXPECT_NE(message_of<ConfigError>([&] {
                  (void)scaling_by_bounds(shape, options);
              }).find("column \"dose\" has none"),
              std::string::npos);
    options.bounds = parse_bounds("age=0:100,dose=0:1,sex=0:1");
    EXPECT_NE(message_of<ConfigError>([&] { (void)scaling_by_bounds(shape, options); }).find("sex"),
              std::string::npos);
}

TEST(Bounds, AreOfAValueToPredictToo) {
    TableOptions options = predicting("price");
    options.target = TargetKind::value;
    options.bounds = parse_bounds("rooms=0:10,price=0:500");
    const Table table = table_of("rooms,price\n5,250\n10,400\n3,900\n");
    const TableShape shape = shape_of(table, options);
    EXPECT_EQ(scaled_columns(shape), (std::vector<std::string>{"rooms", "price"}));
    const Dataset data = standardised(encoded(table, shape, {}), scaling_by_bounds(shape, options));
    EXPECT_EQ(data.labels, Eigen::Vector3d(0, 0.6, 1));
    options.bounds = parse_bounds("rooms=0:10");
    EXPECT_NE(message_of<ConfigError>([&] {
                  (void)scaling_by_bounds(shape, options);
              }).find("column \"price\" has none"),
              std::string::npos);
}

TEST(Bounds, NameColumnsWithoutAHeaderByTheirNumbers) {
    TableOptions options;
    const Table table = table_of("1,2,10\n3,4,20\n");
    const TableShape shape = shape_of(table, options);
    options.bounds = parse_bounds("1=0:4,column 2=0:4,3=0:40");
    const Standardisation scaling = scaling_by_bounds(shape, options);
    EXPECT_EQ(scaling.features[0], scaling.features[1]);
    EXPECT_EQ(scaling.target, (ColumnScaling{.mean = 20, .deviation = 20, .low = 0, .high = 40}));
    options.bounds = parse_bounds("1=0:4,2=0:4,4=0:40");
    EXPECT_NE(
        message_of<ConfigError>([&] { (void)scaling_by_bounds(shape, options); }).find("\'4\'"),
        std::string::npos);
}

TEST(Bounds, OfTheHousesHardlyCutThem) {
    const auto path = test::data_file("cal_housing.data.gz");
    if (!path) GTEST_SKIP() << "SOTTO_DATA_DIR is not set";
    TableOptions options;
    options.bounds = parse_bounds(SOTTO_SOURCE_DIR "/examples/housing/bounds");
    const Table table = read_table(*path);
    const TableShape shape = shape_of(table, options);
    const Dataset data = encoded(table, shape, {});
    const Standardisation scaling = scaling_by_bounds(shape, options);
    Standardisation uncut = scaling;
    for (ColumnScaling& column : uncut.features) column = {column.mean, column.deviation};
    uncut.target = {scaling.target.mean, scaling.target.deviation};
    const Eigen::MatrixXd lost =
        features_of(standardised(data, scaling)) - features_of(standardised(data, uncut));
    // Block groups of more than 5000 people, and incomes of 15.0001.
    EXPECT_LT((lost.cwiseAbs().array() > 1e-9).cast<double>().mean(), 0.02);
    EXPECT_EQ(standardised(data, scaling).labels, standardised(data, uncut).labels);
}

/// Of the columns a and y, with bounds from 0 to 10 and from 100 to 300; sex is not scaled.
struct TwoScaledColumns {
    TableOptions options = [] {
        TableOptions two = predicting("y");
        two.target = TargetKind::value;
        two.bounds = parse_bounds("a=0:10,y=100:300");
        return two;
    }();
    Table table = table_of("sex,a,y\nm,2,100\nf,6,300\nm,7,150\n");
    TableShape shape = shape_of(table, options);
    [[nodiscard]] Standardisation of(const Eigen::Vector4d& moments) const {
        return scaling_by_moments(shape, options, moments);
    }
};

TEST(ScalingByMoments, IsThatOfTheDataWithinBounds) {
    const TwoScaledColumns two;
    const auto rows = test::all_rows(3);
    const Dataset data = encoded(two.table, two.shape, {});
    const Dataset z = standardised(data, scaling_by_bounds(two.shape, two.options));
    const Eigen::VectorXd number = features_of(z).row(2).transpose();
    const Standardisation by_moments = two.of(
        {number.mean(), z.labels.mean(), number.squaredNorm() / 3, z.labels.squaredNorm() / 3});
    const Standardisation by_data = standardisation_of(data, rows, {false, false, true});
    EXPECT_EQ(by_moments.features[0], ColumnScaling{});
    for (const auto& [found, wanted] : {std::pair{by_moments.features[2], by_data.features[2]},
                                        {by_moments.target, by_data.target}}) {
        EXPECT_NEAR(found.mean, wanted.mean, 1e-12);
        EXPECT_NEAR(found.deviation, wanted.deviation, 1e-12);
    }
    EXPECT_EQ(by_moments.features[2].low, 0);
    EXPECT_EQ(by_moments.target.high, 300);
    EXPECT_EQ(by_moments.target.scaled(1e9), by_moments.target.scaled(300));
}

TEST(ScalingByMoments, IsOfUseWhateverNoiseHasMadeOfThem) {
    const TwoScaledColumns two;
    const Standardisation bounds = scaling_by_bounds(two.shape, two.options);
    const double infinite = infinity;
    for (const double mean : {0.0, 0.5, -1.0, -7.0, 1e300, infinite, -infinite, not_a_number})
        for (const double square :
             {0.0, 0.25, 1.0, -3.0, 1e300, infinite, -infinite, not_a_number}) {
            const Standardisation scaling = two.of({mean, 0.1, square, 0.05});
            const ColumnScaling& column = scaling.features[2];
            EXPECT_TRUE(column.mean >= 0 && column.mean <= 10) << mean << ' ' << square;
            EXPECT_TRUE(column.deviation >= 0.0499 && column.deviation <= 5) << column.deviation;
            EXPECT_LT(std::abs(column.scaled(1e300)), 201);
            EXPECT_NEAR(scaling.target.mean, 210, 1e-9) << "by itself";
            EXPECT_NEAR(scaling.target.deviation, 20, 1e-9);
        }
    EXPECT_EQ(two.of({0.5, 0, 0.25, 0.0}), bounds) << "no variance is left";
    EXPECT_EQ(two.of({not_a_number, infinity, 0.5, 0.5}), bounds);
    EXPECT_NEAR(two.of({0.5, 0, 0.25 + 1e-9, 0}).features[2].deviation, 0.05, 1e-12)
        << "nearly constant";
    EXPECT_NE(message_of<DataError>([&] {
                  (void)scaling_by_moments(two.shape, two.options, Eigen::Vector2d(0, 1));
              }).find("2 moments for 2 columns"),
              std::string::npos);
}

TEST(ScalingByMoments, DoesNotBlowUpWhatNoiseHides) {
    const TwoScaledColumns two;
    const auto scaled_with = [&](const Eigen::Vector4d& moments, double noise) {
        return scaling_by_moments(two.shape, two.options, moments, noise);
    };
    const auto hidden = [&](const Eigen::Vector4d& moments, double noise) {
        return columns_hidden_by_noise(two.shape, two.options, scaled_with(moments, noise), noise);
    };
    // Bounds of "a" are 0 and 10; a variance of .01 is less than the noise of .04.
    const Eigen::Vector4d narrow(0.5, 0, 0.26, 0.5), none(0.5, 0, 0.1, 0.5);
    EXPECT_NEAR(scaled_with(narrow, 0).features[2].deviation, 0.5, 1e-12);
    for (const Eigen::Vector4d& moments : {narrow, none}) {
        EXPECT_NEAR(scaled_with(moments, 0.04).features[2].deviation, 1, 1e-12);
        EXPECT_NEAR(scaled_with(moments, 0.04).features[2].mean, 7.5, 1e-12);
        EXPECT_EQ(hidden(moments, 0.04), std::vector<std::string>{"a"});
        EXPECT_EQ(scaled_with(moments, 7).features[2].deviation, 5) << "at most that of bounds";
    }
    EXPECT_TRUE(hidden(narrow, 0.001).empty());
    EXPECT_EQ(hidden(narrow, 7), (std::vector<std::string>{"a", "y"}));
    EXPECT_EQ(columns_hidden_by_noise(
                  two.shape, two.options, scaling_by_bounds(two.shape, two.options), 0),
              (std::vector<std::string>{"a", "y"}));
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
