// Noise that changes over rounds, as a user trains and audits with it.

#include <algorithm>
#include <filesystem>

#include "program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

constexpr int ranks = 3;

const Arguments& schedule() {
    static const Arguments options{"--agents",
                                   "6",
                                   "--rounds",
                                   "15",
                                   "--epsilon",
                                   "2",
                                   "--step-schedule",
                                   "linear",
                                   "--final-gossip",
                                   "0"};
    return options;
}

Arguments with(Arguments command, const Arguments& more) {
    command.insert(command.end(), schedule().begin(), schedule().end());
    command.insert(command.end(), more.begin(), more.end());
    return command;
}

/// Lines with the relative noise of 15 rounds.
std::string relative_noise(int last) {
    std::string text;
    for (int t = 0; t < 14; ++t) text += std::to_string(2 + t % 3) + "\n";
    return text + std::to_string(last) + "\n";
}

TEST(NoiseSchedule, OfATrainingOverMpiHasTheLedgerOfTheAccount) {
    const TempDir directory;
    const std::string data = directory.write("data.svm", small_data(90));
    directory.write("noise.txt", relative_noise(5));
    for (const std::string kind : {"auto", "noise.txt"}) {
        const Outcome trained = run_sotto(
            directory,
            ranks,
            with(
                {"train", "--data", data, "--quiet"},
                {"--batch-size", "5", "--noise-schedule", kind, "--run-directory", "run-" + kind}));
        ASSERT_EQ(trained.exit_code, 0) << trained.text();
        const Outcome accounted = run_sotto(
            directory,
            one_process,
            with({"account"},
                 {"--noise-schedule", kind, "--view", "all-messages:1", "--json", "account.json"}));
        ASSERT_EQ(accounted.exit_code, 0) << accounted.text();
        const Json ledger = json_of(directory / ("run-" + kind + "/ledger.json"));
        const Json pairs = json_of(directory / "account.json").at("pairs");
        double account = 0;
        for (const Json& pair : pairs)
            account = std::max(account, pair.at("epsilon").get<double>());
        EXPECT_NEAR(ledger.at("headline").at("epsilon").get<double>(), account, 1e-6 * account);
        EXPECT_NEAR(account, 2, 1e-3);
        // It is in the plan, and the run says so.
        const Json plan = json_of(directory / ("run-" + kind + "/plan.json"));
        EXPECT_EQ(plan.at("temporal").at("kind"), "banded");
        EXPECT_NE(content_of(directory / ("run-" + kind + "/config.ini"))
                      .find("noise-schedule = " + kind),
                  std::string::npos);
    }
}

TEST(NoiseSchedule, IsTheNoiseThatMessagesOverMpiHave) {
    const TempDir directory;
    const Outcome outcome = run_sotto(
        directory,
        ranks,
        with({"audit"}, {"--mechanism", "pairs", "--noise-schedule", "auto", "--json", "a.json"}));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const Json result = json_of(directory / "a.json");
    EXPECT_EQ(result.at("consistent"), true) << outcome.text();
    EXPECT_EQ(result.at("noise_as_accounted"), true) << outcome.text();
}

TEST(NoiseSchedule, OfEveryRanksOwnFileMustBeThePlans) {
    const TempDir directory;
    const std::string data = directory.write("data.svm", small_data(90));
    std::filesystem::create_directory(directory / "own");
    directory.write("noise.txt", relative_noise(5));
    directory.write("own/noise.txt", relative_noise(6));
    const auto outcome_in = [&](const std::string& folder) {
        // Options agree, what the file of that name holds may not.
        const Arguments options = with({"train", "--data", data, "--quiet"},
                                       {"--batch-size",
                                        "5",
                                        "--noise-schedule",
                                        "noise.txt",
                                        "--run-directory",
                                        directory / ("run-" + folder)});
        const Arguments elsewhere{"sh", "-c", "cd " + folder + " && exec \"$0\" \"$@\""};
        return Process(disagreeing_command(options, options, elsewhere), directory.path()).wait();
    };
    const Outcome differs = outcome_in("own");
    EXPECT_EQ(differs.exit_code, 4) << differs.text();
    EXPECT_NE(differs.text().find("the noise of its rounds is not that of --noise-schedule "
                                  "noise.txt"),
              std::string::npos)
        << differs.text();
    const Outcome agrees = outcome_in(".");
    EXPECT_EQ(agrees.exit_code, 0) << agrees.text();
}

TEST(NoiseSchedule, OfRanksWithOtherOptionsIsRefused) {
    const TempDir directory;
    const auto options = [](const std::string& kind) {
        return with({"train", "--task", "quadratic", "--quiet"},
                    {"--noise-schedule", kind, "--run-directory", "run"});
    };
    const Outcome outcome =
        Process(disagreeing_command(options("constant"), options("auto")), directory.path()).wait();
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_NE(outcome.text().find("noise-schedule"), std::string::npos) << outcome.text();
}

}  // namespace
}  // namespace sotto::test
