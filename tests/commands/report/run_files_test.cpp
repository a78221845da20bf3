#include "commands/report/run_files.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::TemporaryFolder;
using OrderedJson = nlohmann::ordered_json;

TEST(RunFiles, AreJsonOrAReasonWhyNot) {
    const TemporaryFolder folder;
    const RunFile read = json_of_run(folder.write("good.json", R"({"a": [1, null]})"));
    EXPECT_EQ(read.content, OrderedJson::parse(R"({"a": [1, null]})"));
    EXPECT_TRUE(read.problem.empty());
    const RunFile damaged = json_of_run(folder.write("bad.json", "{\"a\":"));
    EXPECT_TRUE(damaged.content.is_null());
    expect_contains(damaged.problem, "bad.json");
    expect_contains(json_of_run(folder.path("none.json")).problem, "none.json");
}

TEST(RunFiles, HaveMetricsByColumns) {
    const TemporaryFolder folder;
    const RunFile read = metrics_of_run(
        folder.write("metrics.csv", "round,loss,epsilon\n0,1.5,\n10,,2e-3\n\n20,1\n"));
    EXPECT_EQ(
        read.content,
        OrderedJson::parse(
            R"({"round": [0, 10, 20], "loss": [1.5, null, 1], "epsilon": [null, 0.002, null]})"));
    const RunFile empty = metrics_of_run(folder.write("empty.csv", ""));
    EXPECT_EQ(empty.content, OrderedJson::object());
    expect_contains(empty.problem, "empty.csv: cannot be read (empty)");
}

TEST(RunFiles, ShowOptionsByGroupsWithoutTheNoiseSeed) {
    const OrderedJson groups = options_of(
        "agents = 3\n# Graph\nagents = 4\nmixing = a = b\n# Empty\n# Run\nnoise-seed = 77\nno "
        "option\n");
    EXPECT_EQ(groups, OrderedJson::parse(R"([
        {"title": "Graph", "options": [["agents", "4"], ["mixing", "a = b"]]},
        {"title": "Run", "options": [["noise-seed", "given, not shown here"]]}])"));
}

TEST(RunFiles, KeepKeysOutOfThePage) {
    const OrderedJson manifest = OrderedJson::parse(
        R"({"version": "1", "seed_commitments": {}, "public_keys": [], "transcript": "x"})");
    EXPECT_EQ(without_keys(manifest), OrderedJson::parse(R"({"version": "1"})"));
    EXPECT_TRUE(without_keys(OrderedJson()).is_null());
}

}  // namespace
}  // namespace sotto
