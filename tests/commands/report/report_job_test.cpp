#include "commands/report/report_job.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "commands/report/report_fixtures.hpp"
#include "commands/report/report_page.hpp"
#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::quadratic_config;
using test::report_config;
using test::TemporaryFolder;
using test::train;

TEST(RecordedRun, WhoseGraphFileHasChangedIsRefused) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "ldp", 5);
    config.graph.file = folder.write("graph.edges", "0 1\n1 2\n2 3\n3 0\n");
    config.run_directory = folder.path("run");
    train(config, 4);
    EXPECT_EQ(read_recorded_run(*config.run_directory, config).rounds, 5);
    (void)folder.write("graph.edges", "0 1\n1 2\n2 3\n3 0\n0 2\n");
    expect_contains(
        message_of<DataError>([&] { (void)read_recorded_run(*config.run_directory, config); }),
        "has changed since");
}

class MakeReport : public ::testing::Test {
  protected:
    TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "ldp", 5);

    void SetUp() override {
        try {
            require_page_libraries();
        } catch (const ConfigError& error) {
            GTEST_SKIP() << error.what();
        }
        config.run_directory = folder.path("run");
        train(config, 4);
    }
    std::filesystem::path in_run(const std::string& name) const {
        return std::filesystem::path(*config.run_directory) / name;
    }
    Report report() const { return make_report(report_config(config, 1)); }
};

TEST_F(MakeReport, HoldsTheFiguresOfEveryObserver) {
    const Report made = report();
    EXPECT_TRUE(made.missing.empty());
    EXPECT_EQ(made.observers, 1 + 4 + 4) << "the eavesdropper, and every agent in both views";
    EXPECT_TRUE(made.left_out.empty());
    for (const std::string* html : {&made.page, &made.statement}) {
        expect_contains(*html, "<h3>What is not protected</h3>");
        expect_contains(*html, "<dt id=\"term-epsilon\">");
    }
    EXPECT_EQ(made.statement.find("<script"), std::string::npos);
    expect_contains(made.page, "\"guarantee\":true");
    expect_contains(made.page, "\"names\":[\"eavesdropper\",\"all-messages\",\"all-messages\"]");
    expect_contains(made.page, "\"names\":[\"\",\"node\",\"coalition\"]");
}

TEST_F(MakeReport, NamesFilesThatAreMissing) {
    for (const char* file : {"metrics.csv", "manifest.json", "summary.json"})
        std::filesystem::remove(in_run(file));
    const Report made = report();
    EXPECT_EQ(made.missing.size(), 4U);
    expect_contains(made.page, "\"manifest\":null");
    EXPECT_EQ(made.observers, 0) << "nothing vouches for the ledger that says how far the run came";
    std::filesystem::remove(in_run("ledger.json"));
    expect_contains(message_of<DataError>([&] { (void)report(); }), "ledger.json");
}

TEST_F(MakeReport, OfARunThatGoesOnIsOpenedAgainUntilItIsStopped) {
    const ReportConfig config_of_page = report_config(config, 1);
    std::filesystem::remove(in_run("summary.json"));
    const Report first = make_page(config_of_page, nullptr, LivePage{3});
    expect_contains(first.page, "<meta http-equiv=\"refresh\" content=\"3\">");
    expect_contains(first.page, "\"live\":{\"every\":3,\"written\":1");
    ASSERT_EQ(first.missing.size(), 1U) << "that it has not ended is said elsewhere";
    expect_contains(first.missing.front(), "are being computed, in up to 20 seconds");
    const ReportAccount account = report_account(config_of_page, Clock::now());
    const Report later = make_page(config_of_page, &account, LivePage{0});
    EXPECT_EQ(later.page.find("http-equiv=\"refresh\""), std::string::npos);
    expect_contains(later.page, "\"live\":{\"every\":0,");
    EXPECT_EQ(later.observers, account.observers);
    EXPECT_TRUE(later.missing.empty());
}

TEST_F(MakeReport, IsNoLivePage) { expect_contains(report().page, "\"live\":null"); }

}  // namespace
}  // namespace sotto

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

namespace sotto::cli {
namespace {

Report some_report() {
    Report report;
    report.page = std::string(1'500'000, 'x');
    report.observers = 7;
    report.missing = {"no metrics"};
    report.left_out = {"3 of 9"};
    report.seconds = 0.25;
    return report;
}

TEST(ReportResult, NamesThePageAndWhatIsNotInIt) {
    std::FILE* file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    print_report(file, some_report(), "run/report.html");
    std::rewind(file);
    std::string text(200, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    EXPECT_EQ(text,
              "report     run/report.html (1.5 MB, 7 observers, 0.25 s)\n"
              "missing    no metrics\n"
              "left out   3 of 9\n");
}

TEST(ReportResult, IsAJsonObjectOfTheSame) {
    EXPECT_EQ(json_of_report(some_report(), "run/report.html"),
              nlohmann::ordered_json::parse(R"({"path": "run/report.html", "bytes": 1500000,
                  "observers": 7, "missing": ["no metrics"], "left_out": ["3 of 9"],
                  "seconds": 0.25})"));
}

}  // namespace
}  // namespace sotto::cli
