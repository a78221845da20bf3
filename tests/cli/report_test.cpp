// `sotto report` and `sotto account --run` as a user runs them. What the page does in a browser:
// tests/report.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <ranges>

#include "program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

const Arguments graph_and_plan{"--topology",
                               "ring",
                               "--agents",
                               "6",
                               "--rounds",
                               "20",
                               "--mechanism",
                               "decor",
                               "--step-schedule",
                               "inverse-sqrt",
                               "--final-gossip",  // partial views have figures of their own
                               "0"};

Arguments with(Arguments first, const Arguments& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
}

/// A run in the folder "run".
void train(const TempDir& directory, const Arguments& more = {}) {
    const Outcome outcome =
        run_sotto(directory,
                  one_process,
                  with(with({"train", "--task", "quadratic", "--run-directory", "run", "--quiet"},
                            graph_and_plan),
                       more));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
}

bool built_without_libraries(const Outcome& outcome) {
    return outcome.exit_code == 2 && outcome.err.find("node-d3") != std::string::npos;
}

TEST(Report, WritesOnePageIntoTheRunsDirectory) {
    const TempDir directory;
    train(directory);
    const Outcome outcome = run_sotto(directory, one_process, {"report", "run", "--json", "-"});
    if (built_without_libraries(outcome)) GTEST_SKIP() << outcome.err;
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json.at("path"), "run/report.html");
    EXPECT_EQ(json.at("missing"), Json::array());
    EXPECT_GE(json.at("observers").get<long>(), 63) << "all coalitions of up to five agents";
    EXPECT_EQ(json.at("bytes"), std::filesystem::file_size(directory / "run/report.html"));

    const Outcome elsewhere = run_sotto(
        directory,
        one_process,
        {"report", "--run-directory", "run", "--out", "page.html", "--coalition-size", "1"});
    EXPECT_EQ(elsewhere.exit_code, 0) << elsewhere.text();
    EXPECT_TRUE(std::filesystem::exists(directory / "page.html"));
}

TEST(Report, EndsWithItsTimeAndSaysWhatIsLeftOut) {
    const TempDir directory;
    // Every figure of a run that is secretly sampled takes milliseconds.
    const Outcome trained = run_sotto(directory,
                                      one_process,
                                      {"train",
                                       "--agents",
                                       "20",
                                       "--adjacency",
                                       "record-add-remove",
                                       "--tune",
                                       "off",
                                       "--batch-size",
                                       "8",
                                       "--rounds",
                                       "50",
                                       "--run-directory",
                                       "run",
                                       "--quiet"});
    ASSERT_EQ(trained.exit_code, 0) << trained.text();
    const Outcome outcome = run_sotto(
        directory, one_process, {"report", "run", "--time-limit", "3", "--json", "j.json"});
    if (built_without_libraries(outcome)) GTEST_SKIP() << outcome.err;
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const Json json = json_of(directory / "j.json");
    EXPECT_LT(json.at("seconds").get<double>(), 30);
    EXPECT_GE(json.at("observers").get<long>(), 2);
    ASSERT_EQ(json.at("left_out").size(), 1U) << json;
    const std::string left_out = json.at("left_out")[0];
    EXPECT_NE(left_out.find("of 6196 observers"), std::string::npos) << left_out;
    EXPECT_NE(left_out.find("--time-limit 3;"), std::string::npos) << left_out;
    EXPECT_NE(outcome.out.find("left out   " + left_out), std::string::npos) << outcome.text();
}

TEST(Report, WritesThePlainStatementAlone) {
    const TempDir directory;
    train(directory);
    const Outcome outcome =
        run_sotto(directory, one_process, {"report", "run", "--statement", "statement.html"});
    if (built_without_libraries(outcome)) GTEST_SKIP() << outcome.err;
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const std::string statement = content_of(directory / "statement.html");
    for (const char* part : {"Who takes part",
                             "What is not protected",
                             "sotto train --topology ring --agents 6 --mechanism decor",
                             "id=\"term-epsilon\""})
        EXPECT_NE(statement.find(part), std::string::npos) << part;
    EXPECT_EQ(statement.find("<script"), std::string::npos);
}

TEST(Report, RefusesWhatIsNoRun) {
    const TempDir directory;
    train(directory);
    const auto refused = [&](const Arguments& arguments, int code, const std::string& part) {
        const Outcome outcome = run_sotto(directory, one_process, with({"report"}, arguments));
        if (built_without_libraries(outcome)) return;
        EXPECT_EQ(outcome.exit_code, code) << outcome.text();
        EXPECT_EQ(lines_of(outcome.err).size(), 1U) << outcome.text();
        EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.text();
    };
    refused({}, 2, "which run");
    refused({"nowhere"}, 2, "nowhere holds no run");
    refused({"run", "other"}, 2, "--run-directory");
    refused({"run", "--coalition-size", "6"}, 2, "0 to 5");
    refused({"run", "--time-limit", "-1"}, 2, "--time-limit");
    refused({"run", "--out", "nowhere/page.html"}, 2, "nowhere/page.html");
    std::ofstream(directory / "run/ledger.json") << "{";
    refused({"run"}, 3, "ledger.json");
}

TEST(AccountOfARun, IsThatOfItsPlanAndOptions) {
    const TempDir directory;
    train(directory);
    const auto account = [&](const Arguments& arguments, int ranks = one_process) {
        const Outcome outcome = run_sotto(
            directory, ranks, with({"account", "--quiet", "--json", "out.json"}, arguments));
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
        Json json = json_of(directory / "out.json");
        json.erase("seconds");
        return json;
    };
    for (const std::string view : {"all-nodes", "all-messages:1,3", "worst-coalition:2"}) {
        const Json of_run = account({"--run", "run", "--view", view});
        EXPECT_EQ(of_run,
                  account(with(graph_and_plan, {"--plan", "run/plan.json", "--view", view})))
            << view;
        EXPECT_EQ(of_run, account({"--run", "run", "--view", view}, 3)) << view;
    }
    for (const Arguments& useless : {Arguments{"--epsilon", "3"}, Arguments{"--rounds", "7"}}) {
        const Outcome outcome =
            run_sotto(directory, one_process, with({"account", "--run", "run"}, useless));
        EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
        EXPECT_NE(outcome.err.find(useless.front() + ": has no meaning with --run"),
                  std::string::npos)
            << outcome.text();
    }
}

// With what is measured before the rounds, and secretly sampled batches.
TEST(AccountOfARun, FindsThePairThatLearnsMostOfAFirstRun) {
    const TempDir directory;
    const Arguments first{"train",
                          "--data",
                          directory.write("data.svm", small_data(400)),
                          "--adjacency",
                          "record-add-remove",
                          "--epsilon",
                          "2",
                          "--agents",
                          "5",
                          "--quiet",
                          "--json",
                          "out.json"};
    const auto json_after = [&](const Arguments& arguments) {
        const Outcome outcome = run_sotto(directory, one_process, arguments);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
        return json_of(directory / "out.json");
    };
    const Json dry = json_after(with(first, {"--dry-run"}));
    const Json run = json_after(with(first, {"--run-directory", "run"}));
    EXPECT_EQ(dry.at("bytes_estimated"), run.at("bytes_sent"));
    const auto account = [&](const std::string& view) {
        return json_after(
            {"account", "--run", "run", "--view", view, "--quiet", "--json", "out.json"});
    };
    std::map<int, double> worst;
    for (int a = 0; a < 5; ++a)
        for (int b = a + 1; b < 5; ++b) {
            const Json named = account(fmt::format("all-messages:{},{}", a, b));
            for (const Json& pair : named.at("pairs")) {
                double& most = worst[pair.at("target").get<int>()];
                most = std::max(most, pair.at("epsilon").get<double>());
            }
        }
    const Json found = account("worst-all-messages:2");
    ASSERT_EQ(found.at("pairs").size(), 5U);
    for (const Json& pair : found.at("pairs"))
        EXPECT_EQ(pair.at("epsilon").get<double>(), worst.at(pair.at("target").get<int>()));
    EXPECT_GE(found.at("worst_coalition").at("upper_epsilon").get<double>() * (1 + 1e-3),
              std::ranges::max(worst | std::views::values));
    EXPECT_GT(std::ranges::max(worst | std::views::values), run.at("epsilon").get<double>());
}

}  // namespace
}  // namespace sotto::test
