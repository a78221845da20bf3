// `sotto watch` as a user runs it, beside trainings. What the page does in a browser: tests/report.

#include <csignal>
#include <fstream>
#include <optional>

#include "program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

const std::string refresh = "<meta http-equiv=\"refresh\" content=\"1\">";

/// What the page holds; nothing where it is not there yet.
std::optional<Json> data_of(const std::string& page) {
    if (!std::filesystem::exists(page)) return std::nullopt;
    const std::string text = content_of(page);
    const std::string begin = R"(<script type="application/json" id="data">)";
    const std::size_t at = text.find(begin) + begin.size();
    return Json::parse(text.substr(at, text.find("</script>", at) - at));
}

long rows_of(const std::string& page) {
    const auto data = data_of(page);
    return data ? static_cast<long>(data->at("metrics").at("round").size()) : 0;
}

Arguments training(const std::string& rounds) {
    return {"train",
            "--agents",
            "4",
            "--topology",
            "ring",
            "--mechanism",
            "ldp",
            "--task",
            "quadratic",
            "--rounds",
            rounds,
            "--eval-every",
            "1000",
            "--run-directory",
            "run",
            "--quiet"};
}

class Watch : public ::testing::Test {
  protected:
    TempDir directory;
    const std::string page = directory / "run/live.html";

    void SetUp() override {
        const Outcome outcome = run_sotto(directory, one_process, {"watch", "none/run"});
        if (outcome.err.find("node-d3") != std::string::npos) GTEST_SKIP() << outcome.err;
    }
    [[nodiscard]] Arguments watching() const {
        return sotto_command(one_process,
                             {"watch", "run", "--every", "1", "--coalition-size", "1"});
    }
    /// The page of `sotto report` about the same run.
    [[nodiscard]] std::string reported() const {
        const Outcome outcome =
            run_sotto(directory,
                      one_process,
                      {"report", "run", "--out", "report.html", "--coalition-size", "1"});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
        return content_of(directory / "report.html");
    }
    void expect_live_page_that_grows() const {
        ASSERT_TRUE(happens([&] { return rows_of(page) > 1; })) << "there is no page";
        EXPECT_NE(content_of(page).find(refresh), std::string::npos);
        EXPECT_EQ(data_of(page)->at("live").at("every"), 1);
        EXPECT_EQ(std::filesystem::status(page).permissions() & std::filesystem::perms(0777),
                  std::filesystem::perms(0600));
        const long rows = rows_of(page);
        ASSERT_TRUE(happens([&] { return rows_of(page) > rows; })) << "it does not grow";
        ASSERT_TRUE(happens([&] { return !data_of(page)->at("graph").is_null(); }));
    }
    void expect_page_of_the_report() const {
        const std::string text = content_of(page);
        EXPECT_EQ(text.find("http-equiv=\"refresh\""), std::string::npos);
        EXPECT_EQ(text, reported());
    }
};

TEST_F(Watch, BegunBeforeTheTrainingItFollowsItToItsEnd) {
    Process watch(watching(), directory.path());
    ASSERT_TRUE(happens([&] { return watch.has_written(); })) << "it does not say that it waits";
    Process train(sotto_command(one_process, training("1000000")), directory.path());
    expect_live_page_that_grows();
    const Outcome trained = train.wait();
    EXPECT_EQ(trained.exit_code, 0) << trained.text();
    const Outcome watched = watch.wait();
    EXPECT_EQ(watched.exit_code, 0) << watched.text();
    EXPECT_EQ(watched.err, "");
    const auto lines = lines_of(watched.out);
    ASSERT_EQ(lines.size(), 3U) << watched.text();
    EXPECT_TRUE(lines[0].starts_with("waiting    for a run to begin in run")) << lines[0];
    EXPECT_TRUE(lines[1].starts_with("live       run/live.html;")) << lines[1];
    EXPECT_TRUE(lines[2].starts_with("report     run/live.html (")) << lines[2];
    expect_page_of_the_report();
}

TEST_F(Watch, LeavesTheTrainingAloneWhenItIsStopped) {
    Process train(sotto_command(one_process, training("100000000000")), directory.path());
    for (const int signal : {SIGINT, SIGTERM}) {
        std::filesystem::remove(page);
        Process watch(watching(), directory.path());
        ASSERT_TRUE(happens([&] { return rows_of(page) > 1; })) << "there is no page";
        watch.signal_group(signal);
        const Outcome watched = watch.wait();
        EXPECT_EQ(watched.exit_code, 128 + signal) << watched.text();
        EXPECT_LT(watched.seconds, 10);
        EXPECT_EQ(content_of(page).find("http-equiv=\"refresh\""), std::string::npos);
        EXPECT_EQ(data_of(page)->at("live").at("every"), 0);
    }
    const long rows = static_cast<long>(lines_of(content_of(directory / "run/metrics.csv")).size());
    EXPECT_TRUE(happens([&] {
        return static_cast<long>(lines_of(content_of(directory / "run/metrics.csv")).size()) > rows;
    }));
    std::filesystem::remove(page);
    Process watch(watching(), directory.path());
    expect_live_page_that_grows();
    train.signal_group(SIGINT);
    const Outcome trained = train.wait();
    EXPECT_EQ(trained.exit_code, 8) << trained.text();
    const Outcome watched = watch.wait();
    EXPECT_EQ(watched.exit_code, 0) << watched.text();
    EXPECT_EQ(data_of(page)->at("ledger").at("status"), "interrupted");
    expect_page_of_the_report();
}

TEST_F(Watch, StoppedBeforeARunHasBegunEndsAtOnce) {
    Process watch(sotto_command(one_process, {"watch", directory / "run"}), directory.path());
    ASSERT_TRUE(happens([&] { return watch.has_written(); })) << "it does not say that it waits";
    watch.signal(SIGTERM);
    EXPECT_EQ(watch.wait().exit_code, 128 + SIGTERM);
    EXPECT_FALSE(std::filesystem::exists(directory / "run"));
}

TEST_F(Watch, WritesThePageOfAFinishedRunOnce) {
    const Outcome trained = run_sotto(directory, one_process, training("200"));
    ASSERT_EQ(trained.exit_code, 0) << trained.text();
    const Outcome watched = run_sotto(
        directory, one_process, {"watch", "run", "--coalition-size", "1", "--json", "j.json"});
    EXPECT_EQ(watched.exit_code, 0) << watched.text();
    expect_page_of_the_report();
    const Json json = json_of(directory / "j.json");
    EXPECT_EQ(json.at("path"), "run/live.html");
    EXPECT_EQ(json.at("observers"), 9);
    EXPECT_EQ(json.at("bytes"), std::filesystem::file_size(page));
}

TEST_F(Watch, EndsWithTheFailureOfARun) {
    const Outcome trained = run_sotto(directory, one_process, training("200"));
    ASSERT_EQ(trained.exit_code, 0) << trained.text();
    std::ofstream(directory / "run/failure.txt") << "rank 2, round 7: lost\n";
    const Outcome watched =
        run_sotto(directory, one_process, {"watch", "run", "--coalition-size", "1"});
    EXPECT_EQ(watched.exit_code, 0) << watched.text();
    EXPECT_EQ(data_of(page)->at("failure"), "rank 2, round 7: lost\n");
    expect_page_of_the_report();
}

TEST_F(Watch, RefusesWhereNoRunCanBegin) {
    const Outcome trained = run_sotto(directory, one_process, training("200"));
    ASSERT_EQ(trained.exit_code, 0) << trained.text();
    (void)directory.write("file", "text");
    const auto refused = [&](const Arguments& arguments, const std::string& part) {
        Arguments all{"watch"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        expect_refused(directory, all, 2, part);
    };
    refused({}, "which run");
    refused({"none/run"}, "neither none/run nor ");
    refused({"file"}, "file is not a directory");
    refused({"run", "--every", "0"}, "--every");
    refused({"run", "--every", "0.5"}, "--every");
    refused({"run", "--time-limit", "-1"}, "--time-limit");
    refused({"run", "--coalition-size", "4"}, "0 to 3");
    refused({"run", "--out", "nowhere/page.html"}, "nowhere/page.html");
}

}  // namespace
}  // namespace sotto::test
