#include "learn/table.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "learn/reader_fixtures.hpp"

namespace sotto {
namespace {

using test::data_file;
using test::expect_error;
using test::features_of;
using test::TemporaryFolder;

TEST(ReadTable, TakesTheLastColumnAsTargetWithOrWithoutAHeader) {
    const TemporaryFolder folder;
    const std::string rows = "1, -2.5,3\r\n\n+4,5e1,0.5\n";
    for (const std::string& text : {rows, "a,b,\"c\"\n" + rows, "\nwidth ,height,price\n" + rows}) {
        const Dataset data = read_records(folder.write("a.csv", text));
        EXPECT_EQ(data.labels, Eigen::Vector2d(3, 0.5));
        EXPECT_EQ(data.target, Target::value);
        Eigen::Matrix2d expected;
        expected << 1, 4, -2.5, 50;
        EXPECT_EQ(features_of(data), expected);
        EXPECT_TRUE(is_table(folder.path("a.csv")));
    }
}

TEST(ReadTable, SaysWhatIsWrongAndWhere) {
    const TemporaryFolder folder;
    const auto with = [&](const std::string& text) { return folder.write("a.csv", text); };
    expect_error(with("1,inf\n"), {"line 1", "finite"});
    expect_error(with("a;b\n1;3,5\n"), {"line 2", "column 2", "\"3,5\"", "decimal comma"});
    expect_error(with("a,b\n1,\"open\n2,3\n"), {"line 2", "quote", "does not end"});
    expect_error(with("a,b,a\n1,2,3\n"), {"line 1", "\"a\" appears twice"});
    expect_error(with("a\n1\n"), {"line 1"});
    expect_error(with("1,2,3\n1,2\n"), {"line 2", "2 columns", "3"});
    expect_error(with("a,b,c\n"), {"no records"});
    EXPECT_THROW((void)read_table(with("1\n2\n")), DataError);
}

TEST(ReadTable, KnowsTheNamesOfItsColumns) {
    const TemporaryFolder folder;
    using Names = std::vector<std::string>;
    const auto names = [&](const std::string& text) {
        return read_table(folder.write("a.csv", text)).names();
    };
    EXPECT_EQ(names("a,b c, \"d, \"\"e\"\"\"\n1,2,3\n"), (Names{"a", "b c", "d, \"e\""}));
    EXPECT_EQ(names("\xEF\xBB\xBF"
                    "age,sex\r\n1,2\r\n"),
              (Names{"age", "sex"}));
    EXPECT_EQ(names("1,2\n3,4\n"), Names{});
    EXPECT_EQ(names("age;\"height, cm\"\n1;2\n"), (Names{"age", "height, cm"}));
    EXPECT_EQ(names("age\theight\n1\t2\n"), (Names{"age", "height"}));
    test::expect_error(folder.write("a.csv", "a,b\n1,2,3\n"),
                       {"line 2", "3 columns", "header has 2"});
}

TEST(ReadTable, TellsNumbersTextsAndMissingCells) {
    const TemporaryFolder folder;
    const Table table = read_table(folder.write(
        "a.csv", "age,sex,note\n 50 ,\"male\",\"a\nb\"\n,female,NA\nn/a,male,NaN\n?,NULL,1.0\n"));
    ASSERT_EQ(table.records(), 4);
    const TableColumn &age = table.columns[0], &sex = table.columns[1], &note = table.columns[2];
    EXPECT_EQ(age.numbers[0], 50);
    for (const std::size_t row : {1, 2, 3}) EXPECT_TRUE(age.is_missing(row)) << row;
    EXPECT_TRUE(age.codes.empty());
    EXPECT_EQ(sex.texts, (std::vector<std::string>{"male", "female"}));
    EXPECT_EQ(sex.category(2), "male");
    EXPECT_TRUE(sex.is_missing(3));
    EXPECT_TRUE(note.is_text(0));
    EXPECT_TRUE(note.is_missing(2));
    EXPECT_EQ(note.category(3), "1") << "as where another file says 1";
}

TEST(ReadTable, JoinsFilesByTheNamesOfTheirColumns) {
    const TemporaryFolder folder;
    std::vector<Table> parts;
    parts.push_back(read_table(folder.write("a.csv", "x,y\n1,red\n2,blue\n")));
    parts.push_back(read_table(folder.write("b.csv", "y,x\ngreen,3\nred,\n")));
    const Table both = concatenated(std::move(parts));
    ASSERT_EQ(both.records(), 4);
    EXPECT_EQ(both.columns[0].numbers[2], 3);
    EXPECT_TRUE(both.columns[0].is_missing(3));
    EXPECT_EQ(both.columns[1].category(2), "green");
    EXPECT_EQ(both.columns[1].category(3), "red");
    EXPECT_EQ(both.columns[1].texts.size(), 3U);
    const Digest digest = digest_of_table(both);
    Table other = both;
    EXPECT_EQ(digest_of_table(other), digest);
    other.columns[1].texts[0] = "rad";
    EXPECT_NE(digest_of_table(other), digest);
    other = both;
    other.columns[0].numbers[0] = 7;
    EXPECT_NE(digest_of_table(other), digest);
}

TEST(ReadTable, NamesColumnsThatDoNotFitTogether) {
    const TemporaryFolder folder;
    const auto table = [&](const std::string& name, const std::string& text) {
        return read_table(folder.write(name, text));
    };
    const Table first = table("first", "age,sex,target\n50,1,7\n60,0,8\n");
    for (const auto& [text, words] : std::vector<std::pair<std::string, std::vector<std::string>>>{
             {"age,gender,target\n1,2,3\n",
              {"other", "first", "alone has \"gender\"", "lacks \"sex\""}},
             {"age,sex,bmi,target\n1,2,3,4\n", {"alone has \"bmi\""}},
             {"age,target\n1,2\n", {"lacks \"sex\""}},
             {"1,2,3\n", {"other: has not a header line", "has"}}}) {
        const std::string message = test::message_of<DataError>([&, &other = text] {
            (void)concatenated({first, table("other", other)});
        });
        for (const std::string& word : words)
            EXPECT_NE(message.find(word), std::string::npos) << message << "\nwants " << word;
    }
    EXPECT_NE(test::message_of<DataError>([&] {
                  (void)concatenated({table("a", "1,2\n"), table("b", "1,2,3\n")});
              }).find("3 columns"),
              std::string::npos);
    EXPECT_EQ(with_columns(first, {"target", "sex", "age"}, "it").columns[2].numbers[1], 60);
}

TEST(ReadTable, LearnsNothingFromNumbersOfColumnsAndRows) {
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

TEST(ReadTable, FindsTheHouses) {
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
