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
