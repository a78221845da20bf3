// Several runs on the same data: what they come to, and accounts that refuse one too many.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <memory>

#include "program.hpp"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;

/// @param more options and values; what is there already is replaced.
Arguments training(const std::string& run, const Arguments& more = {}) {
    Arguments arguments{"train",
                        "--task",
                        "quadratic",
                        "--agents",
                        "3",
                        "--topology",
                        "complete",
                        "--rounds",
                        "20",
                        "--mechanism",
                        "ldp",
                        "--epsilon",
                        "3",
                        "--eval-every",
                        "1000000000",
                        "--quiet",
                        "--threads",
                        "1",
                        "--run-directory",
                        run};
    for (std::size_t i = 0; i < more.size(); i += 2) {
        const auto place = std::ranges::find(arguments, more[i]);
        if (place == arguments.end())
            arguments.insert(arguments.end(), {more[i], more[i + 1]});
        else
            *std::next(place) = more[i + 1];
    }
    return arguments;
}

void open_account(const TempDir& folder, const std::string& file, const Arguments& more = {}) {
    Arguments arguments{"ledger", "--open-account", file, "--epsilon", "5", "--delta", "1e-5"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_sotto(folder, one_process, arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
}

nlohmann::json shown(const TempDir& folder, const std::string& account) {
    const Outcome outcome =
        run_sotto(folder, one_process, {"ledger", "--budget-account", account, "--json", "-"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    return nlohmann::json::parse(outcome.out, nullptr, false);
}

TEST(LedgerCommand, AddsUpRunsOnTheSameData) {
    const TempDir folder;
    for (const char* name : {"a", "b"})
        ASSERT_EQ(run_sotto(folder, one_process, training(name)).exit_code, 0);
    const Outcome outcome =
        run_sotto(folder, one_process, {"ledger", "a", "b", "a", "--json", "sum.json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_NE(outcome.out.find("all 2 runs together"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("a and a are one run"), std::string::npos) << outcome.out;
    const auto sum = json_of(folder / "sum.json");
    const double mu = json_of(folder / "a/summary.json").at("mu");
    EXPECT_NEAR(sum.at("worst").at("mu").get<double>(), std::sqrt(2) * mu, 1e-9);
    // Nothing but runs with one adjacency.
    ASSERT_EQ(run_sotto(folder,
                        one_process,
                        {"train",
                         "--agents",
                         "3",
                         "--topology",
                         "complete",
                         "--rounds",
                         "5",
                         "--adjacency",
                         "record",
                         "--quiet",
                         "--run-directory",
                         "c"})
                  .exit_code,
              0);
    expect_refused(folder, {"ledger", "a", "c"}, 2, "do not add up");
    expect_refused(folder, {"ledger", "nowhere"}, 3, "it holds no run");
    expect_refused(folder, {"ledger"}, 2, "which runs?");
    expect_refused(folder, {"ledger", "a", "--budget-account", "b"}, 2, "one at a time");
    expect_refused(folder, {"ledger", "--open-account", "x", "--epsilon", "3"}, 2, "--delta");
    expect_refused(folder, {"ledger", "a", "--epsilon", "3"}, 2, "of a new account");
}

/// Its first checkpoint is there: only then it has a config.ini, and --resume goes on with it.
bool has_begun(const std::string& run) { return fs::exists(run + "/config.ini"); }

TEST(LedgerCommand, CountsTwoContinuationsOfOneRun) {
    const TempDir folder;
    {
        Process process(
            sotto_command(
                one_process,
                training(
                    "k",
                    {"--rounds", "100000000", "--epsilon", "2", "--checkpoint-every", "1000"})),
            folder.path());
        const bool reached = happens([&] { return has_checkpoint(folder / "k", 0); });
        process.signal_group(SIGKILL);
        (void)process.wait();
        ASSERT_TRUE(reached);
    }
    fs::copy(folder / "k", folder / "k2", fs::copy_options::recursive);
    // What was planned counts of a run that goes on, as nobody knows how far it came.
    for (const char* copy : {"k", "k2"}) {
        Process process(sotto_command(one_process, {"train", "--resume", copy, "--quiet"}),
                        folder.path());
        const bool begun =
            happens([&] { return json_of(folder / copy + "/ledger.json")["phases"].size() > 1; });
        process.signal_group(SIGKILL);
        (void)process.wait();
        ASSERT_TRUE(begun);
    }
    const auto together = [&](const Arguments& runs) {
        Arguments arguments{"ledger"};
        arguments.insert(arguments.end(), runs.begin(), runs.end());
        arguments.insert(arguments.end(), {"--json", "-"});
        const Outcome outcome = run_sotto(folder, one_process, arguments);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
        return nlohmann::json::parse(outcome.out, nullptr, false);
    };
    EXPECT_NEAR(together({"k"})["worst"]["epsilon"].get<double>(), 2, 1e-3);
    EXPECT_NEAR(together({"k", "k"})["worst"]["epsilon"].get<double>(), 2, 1e-3);
    // Almost all of the rounds twice, with keys of their own: sqrt(2) times mu.
    const auto both = together({"k", "k2"});
    EXPECT_NEAR(both["worst"]["epsilon"].get<double>(), 2.98, 0.1) << both.dump();
    EXPECT_EQ(both["runs"].size(), 2U);
    EXPECT_NE(both["notes"].dump().find("are continuations of one run"), std::string::npos);
}

TEST(BudgetAccount, RefusesTheThirdOfThreeRuns) {
    const TempDir folder;
    ASSERT_NO_FATAL_FAILURE(open_account(folder, "mine"));
    for (const char* name : {"a", "b"}) {
        Arguments arguments = training(name, {"--budget-account", "mine"});
        std::erase(arguments, "--quiet");
        const Outcome outcome = run_sotto(folder, one_process, arguments);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
        EXPECT_NE(outcome.out.find("with this run (mine, not signed)"), std::string::npos)
            << outcome.out;
    }
    expect_refused(
        folder, training("c", {"--budget-account", "mine"}), 4, "is spent by 2 other runs");
    EXPECT_FALSE(fs::exists(folder / "c"));
    EXPECT_EQ(shown(folder, "mine").at("entries").size(), 2U);
}

TEST(BudgetAccount, LetsOneOfTwoRunsAtOnceGoOn) {
    const TempDir folder;
    ASSERT_NO_FATAL_FAILURE(open_account(folder, "mine"));
    std::vector<std::unique_ptr<Process>> runs;
    for (const char* name : {"a", "b"})
        runs.push_back(std::make_unique<Process>(
            sotto_command(one_process,
                          training(name, {"--budget-account", "mine", "--epsilon", "4"})),
            folder.path()));
    std::vector<int> codes;
    for (const auto& process : runs) codes.push_back(process->wait().exit_code);
    std::ranges::sort(codes);
    EXPECT_EQ(codes, (std::vector<int>{0, 4}));
    EXPECT_EQ(shown(folder, "mine").at("entries").size(), 1U);
}

TEST(BudgetAccount, KeepsTheWholeRunWhenItsProcessIsKilled) {
    const TempDir folder;
    ASSERT_NO_FATAL_FAILURE(open_account(folder, "mine"));
    Process process(sotto_command(one_process,
                                  training("a",
                                           {"--budget-account",
                                            "mine",
                                            "--checkpoint-every",
                                            "100",
                                            "--rounds",
                                            "100000000"})),
                    folder.path());
    ASSERT_TRUE(happens([&] { return has_begun(folder / "a"); }));
    process.signal_group(SIGKILL);
    (void)process.wait();
    auto account = shown(folder, "mine");
    EXPECT_NEAR(account.at("epsilon_spent").get<double>(), 3, 1e-6);
    EXPECT_EQ(account.at("entries").at(0).at("state"), "reserved");
    // Somebody else has no place beside it; the run itself goes on.
    expect_refused(folder,
                   training("b", {"--budget-account", "mine", "--epsilon", "4.5"}),
                   4,
                   "is spent by 1 other run");
    const Outcome resumed = run_sotto(folder, one_process, {"train", "--resume", "a", "--dry-run"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.text();
}

TEST(BudgetAccount, ThatWasTamperedWithIsRefused) {
    const TempDir folder;
    ASSERT_NO_FATAL_FAILURE(open_account(folder, "mine"));
    std::string text = content_of(folder / "mine");
    text.replace(text.find("5.0"), 3, "500");
    (void)folder.write("mine", text);
    fs::permissions(folder / "mine", fs::perms::owner_read | fs::perms::owner_write);
    expect_refused(folder, training("a", {"--budget-account", "mine"}), 3, "it was changed");
    expect_refused(folder, training("a", {"--budget-account", "none"}), 2, "--open-account");
}

TEST(BudgetAccount, CountsEveryTrainingOfASweep) {
    const TempDir folder;
    ASSERT_NO_FATAL_FAILURE(open_account(folder, "mine"));
    (void)folder.write("sweep.ini",
                       "task = logistic\nagents = 3\ntopology = complete\nrounds = 10\n"
                       "mechanism = ldp\nepsilon = 1\nbatch-size = 8\n"
                       "step-size = 0.1 0.01\nchoose-further = 0\nseed = 1\nthreads = 1\n"
                       "keep-runs = off\nbudget-account = mine\n");
    const Arguments sweep{"sweep", "sweep.ini", "--output", "swept", "--json", "first.json"};
    const Outcome outcome = run_sotto(folder, one_process, sweep);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_NE(outcome.out.find("privacy    3 trainings together: epsilon "), std::string::npos)
        << outcome.out;
    const auto account = shown(folder, "mine");
    ASSERT_EQ(account.at("entries").size(), 3U);
    const auto privacy = json_of(folder / "first.json").at("privacy");
    EXPECT_EQ(privacy.at("runs"), 3);
    EXPECT_NEAR(
        privacy.at("epsilon").get<double>(), account.at("epsilon_spent").get<double>(), 1e-9);
    // Nothing is trained, or spent, again: the account is no input of a training.
    const Outcome again = run_sotto(folder, one_process, sweep);
    EXPECT_EQ(again.exit_code, 0) << again.text();
    EXPECT_EQ(json_of(folder / "first.json").at("reused"), 3);
    EXPECT_EQ(shown(folder, "mine").at("entries").size(), 3U);
    // The ledgers are there without the runs.
    const Outcome sum = run_sotto(folder, one_process, {"ledger", "swept"});
    EXPECT_NE(sum.out.find("all 3 runs together"), std::string::npos) << sum.text();
}

}  // namespace
}  // namespace sotto::test
