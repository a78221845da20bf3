#include "learn/csv.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/temporary_folder.hpp"
#include "learn/reader_fixtures.hpp"

namespace sotto {
namespace {

using test::data_file;
using test::expect_error;
using test::features_of;
using test::TemporaryFolder;

TEST(ReadCsv, TakesTheLastColumnAsTargetWithOrWithoutAHeader) {
    const TemporaryFolder folder;
    const std::string rows = "1, -2.5,3\r\n\n+4,5e1,0.5\n";
    for (const std::string& text : {rows, "a,b,\"c\"\n" + rows, "\nwidth ,height,price\n" + rows}) {
        const Dataset data = read_records(folder.write("a.csv", text));
        EXPECT_EQ(data.labels, Eigen::Vector2d(3, 0.5));
        EXPECT_EQ(data.target, Target::value);
        Eigen::Matrix2d expected;
        expected << 1, 4, -2.5, 50;
        EXPECT_EQ(features_of(data), expected);
    }
}

TEST(ReadCsv, SaysWhatIsWrongAndWhere) {
    const TemporaryFolder folder;
    const auto with = [&](const std::string& text) { return folder.write("a.csv", text); };
    expect_error(with("1,2,3\n1,x,3\n"), {"line 2", "column 2", "\"x\""});
    expect_error(with("1,x,3\n1,2,3\n"), {"line 1", "column 2"});  // no header: it has numbers
    expect_error(with("a,b\n1,nan\n"), {"line 2", "finite"});
    expect_error(with("1,inf\n"), {"line 1", "finite"});
    expect_error(with("1,\n"), {"column 2", "\"\""});
    expect_error(with("1,2,3\n1,2\n"), {"line 2", "2 columns", "3"});
    expect_error(with("a,b,c\n"), {"no records"});
    EXPECT_THROW((void)read_csv(with("1\n2\n")), DataError);
}

TEST(ReadCsv, KnowsTheNamesOfItsColumns) {
    const TemporaryFolder folder;
    using Names = std::vector<std::string>;
    EXPECT_EQ(read_records(folder.write("a.csv", "a,b c, \"d, \"\"e\"\"\"\n1,2,3\n")).columns,
              (Names{"a", "b c", "d, \"e\""}));
    EXPECT_EQ(read_records(folder.write("a.csv",
                                        "\xEF\xBB\xBF"
                                        "age,sex\r\n1,2\r\n"))
                  .columns,
              (Names{"age", "sex"}));
    EXPECT_EQ(read_records(folder.write("a.csv", "1,2\n3,4\n")).columns, Names{});
    test::expect_error(folder.write("a.csv", "a,b\n1,2,3\n"),
                       {"line 2", "3 columns", "header has 2"});
}

TEST(ReadCsv, LearnsNothingFromNumbersOfColumnsAndRows) {
    const TemporaryFolder folder;
    const auto with = [&](const std::string& text) { return folder.write("a.csv", text); };
    expect_error(with("0,1,2\n5,6,7\n"), {"line 1", "numbers of columns", "names"});
    expect_error(with("0,1\n5,6\n"), {"line 1", "numbers of columns"});
    EXPECT_EQ(read_records(with("x,y\n0,1\n5,6\n")).records(), 2) << "a record below names";
    EXPECT_EQ(read_records(with("1,2,3\n5,6,7\n")).records(), 2);
    expect_error(with(",a,b\n0,1,2\n1,3,4\n"), {"line 1", "column 1", "no name", "index=False"});
    expect_error(with("\"\",a,b\n7,1,2\n9,3,4\n"), {"line 1", "column 1"});
    expect_error(with("a,,b\n7,1,2\n9,3,4\n"), {"line 1", "column 2"});
    expect_error(with("Unnamed: 0,a,b\n7,1,2\n"), {"line 1", "column 1", "Unnamed: 0"});
    expect_error(with("id,a,b\n0,1,2\n1,3,4\n2,5,6\n"), {"column 1, \"id\",", "0, 1, 2, ... to 2"});
    expect_error(with("0,5,2\n1,3,4\n2,5,6\n"), {"column 1 counts the records"});
    EXPECT_EQ(read_records(with("0,5,2\n1,3,4\n")).records(), 2) << "two may be by chance";
    EXPECT_EQ(read_records(with("1,5,2\n2,3,4\n3,5,6\n")).records(), 3);
}

TEST(ReadCsv, FindsTheHouses) {
    const auto path = data_file("cal_housing.data.gz");
    if (!path) GTEST_SKIP() << "SOTTO_DATA_DIR is not set";
    const Dataset data = read_records(*path);
    EXPECT_EQ(data.records(), 20640);
    EXPECT_EQ(data.feature_count(), 8);
    EXPECT_NEAR(data.labels.mean(), 206855.82, 0.01);
    EXPECT_EQ(data.labels.minCoeff(), 14999);
}

}  // namespace
}  // namespace sotto
