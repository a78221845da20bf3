#include "learn/leaf.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/temporary_folder.hpp"
#include "learn/reader_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_error;
using test::features_of;
using test::TemporaryFolder;

TEST(ReadLeaf, KeepsWritersRecordsAndLabels) {
    const TemporaryFolder folder;
    const std::string first =
        R"({"users": ["ada", "bob"], "num_samples": [2, 1], "hierarchies": [["x"], {"y": 1}],
            "user_data": {"bob": {"y": [7], "x": [[5, 6]]},
                          "ada": {"x": [[0.5, 1], [[2], [3e0]]], "y": [0, 61]}}})";
    for (const std::string& path :
         {folder.write("a.json", first), folder.write_gzip("a.gz", "\n " + first)}) {
        const Dataset data = read_records(path);
        Eigen::MatrixXd expected(2, 3);
        expected << 5, 0.5, 2, 6, 1, 3;
        EXPECT_EQ(features_of(data), expected);
        EXPECT_EQ(data.labels, Eigen::Vector3d(7, 0, 61));
        EXPECT_EQ(data.writers, (std::vector<int>{1, 0, 0}));
        EXPECT_EQ(data.target, Target::label);
    }
    const Dataset both =
        concatenate({read_leaf(folder.path("a.json")), read_leaf(folder.path("a.gz"))});
    EXPECT_EQ(both.writers, (std::vector<int>{1, 0, 0, 3, 2, 2}));
    EXPECT_EQ(select_rows(both, std::vector<Eigen::Index>{4, 0}).writers, (std::vector<int>{2, 1}));
}

TEST(ReadLeaf, SaysWhatIsWrongAndWhere) {
    const TemporaryFolder folder;
    const auto with = [&](const std::string& text) { return folder.write("a.json", text); };
    const auto user = [&](const std::string& data) {
        return with(R"({"users": ["ada"], "num_samples": [1], "user_data": {"ada": )" + data +
                    "}}");
    };
    EXPECT_NO_THROW((void)read_leaf(user(R"({"x": [[1]], "y": [2]})")));
    expect_error(with("{\"users\": [}"), {"byte 12", "JSON"});
    expect_error(with("{}"), {"no records"});
    expect_error(user(R"({"x": [[1], [1, 2]], "y": [2, 2]})"), {"ada", "record 2", "2 features"});
    expect_error(user(R"({"x": [1], "y": [2]})"), {"array of arrays"});
    expect_error(user(R"({"x": ["text"], "y": [2]})"), {"\"x\" holds a text"});
    expect_error(user(R"({"x": [[]], "y": [2]})"), {"no features"});
    expect_error(user(R"({"x": [[1]], "y": [2.5]})"), {"label 2.5"});
    expect_error(user(R"({"x": [[1]], "y": [-1]})"), {"label -1"});
    expect_error(user(R"({"x": [[1]], "y": [1, 2]})"), {"1 records", "2 labels"});
    expect_error(user(R"({"x": [[1], [2]], "y": [1, 2]})"), {"num_samples"});
    expect_error(user(R"({"x": [[1]], "y": [2]}, "ada": {"x": [[1]], "y": [2]})"), {"twice"});
    expect_error(user(R"({"x": [[1]], "y": [2]}, "eve": {"x": [[1]], "y": [2]})"), {"eve"});
    expect_error(with(R"({"users": ["a", "b"], "user_data": {"a": {"x": [[1]], "y": [2]}}})"),
                 {"\"b\" has no data"});
    expect_error(with(R"({"users": ["a", "a"]})"), {"twice"});
    expect_error(with("{" + std::string(100000, '[')), {"byte"});
}

}  // namespace
}  // namespace sotto
