// Accounts that agents keep for themselves: no other rank makes them run without one, nor learns
// what is in it.

#include <fmt/format.h>

#include <filesystem>

#include "hostile/stopped_run.hpp"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;

void open_account(const std::string& file, double epsilon) {
    const TempDir elsewhere;
    const Outcome outcome = run_sotto(elsewhere,
                                      one_process,
                                      {"ledger",
                                       "--open-account",
                                       file,
                                       "--epsilon",
                                       fmt::format("{}", epsilon),
                                       "--delta",
                                       "1e-5",
                                       "--quiet"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
}

nlohmann::json account(const std::string& file) {
    const TempDir elsewhere;
    const Outcome outcome =
        run_sotto(elsewhere, one_process, {"ledger", "--budget-account", file, "--json", "-"});
    return nlohmann::json::parse(outcome.out, nullptr, false);
}

TEST(BudgetAccount, ThatIsSpentEndsTheJobOfAllRanksBeforeTheFirstRound) {
    const TempDir folder;
    for (int u = 0; u < 3; ++u)
        ASSERT_NO_FATAL_FAILURE(
            open_account(folder / fmt::format("account{}", u), u == 1 ? 2.5 : 77));
    const Outcome outcome =
        run_sotto(folder, 3, short_training({"--epsilon", "3", "--budget-account", "account%r"}));
    EXPECT_EQ(outcome.exit_code, 4) << outcome.text();
    const auto errors = error_lines(outcome.err);
    ASSERT_EQ(errors.size(), 1U) << outcome.text();
    const std::string& common = errors.front();
    EXPECT_NE(common.find("agent 1: the budget account does not allow this run"), std::string::npos)
        << common;
    EXPECT_NE(content_of(folder / "account1.refusal").find("epsilon 0 of 2.5"), std::string::npos);
    EXPECT_EQ(fs::status(folder / "account1.refusal").permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
    // Figures stay with the rank whose account it is.
    for (const char* figure : {"of 2.5", "of 77", "account1"})
        EXPECT_EQ(outcome.text().find(figure), std::string::npos) << outcome.text();
    EXPECT_FALSE(fs::exists(folder / "run"));
    for (int u = 0; u < 3; ++u)
        EXPECT_TRUE(account(folder / fmt::format("account{}", u)).at("entries").empty());
    EXPECT_TRUE(all_ended(folder.path()));
}

TEST(BudgetAccount, OfOneRankAloneIsCharged) {
    const TempDir folder;
    ASSERT_NO_FATAL_FAILURE(open_account(folder / "account", 4));
    const auto start = [&] {
        return Process(disagreeing_command(
                           short_training({"--epsilon", "3", "--budget-account", "account"}),
                           short_training({"--epsilon", "3"})),
                       folder.path())
            .wait();
    };
    EXPECT_EQ(start().exit_code, 0);
    EXPECT_NEAR(account(folder / "account").at("epsilon_spent").get<double>(), 3, 1e-6);
    fs::remove_all(folder / "run");
    EXPECT_EQ(start().exit_code, 4);
}

TEST(BudgetAccount, IsNotSharedByRanks) {
    const TempDir folder;
    ASSERT_NO_FATAL_FAILURE(open_account(folder / "account", 50));
    const Outcome outcome =
        run_sotto(folder, 3, short_training({"--epsilon", "3", "--budget-account", "account"}));
    EXPECT_EQ(outcome.exit_code, 4) << outcome.text();
    EXPECT_NE(content_of(folder / "account.refusal").find("give every rank a file of its own"),
              std::string::npos)
        << outcome.text();
    EXPECT_TRUE(account(folder / "account").at("entries").empty());
}

/// Three ranks with accounts, stopped; rank 0 then resumes the run with another option.
class AccountAtResume : public ::testing::Test {
  protected:
    AccountAtResume() {
        for (int u = 0; u < 3; ++u) open_account(accounts / fmt::format("account{}", u), 50);
    }
    TempDir accounts;
};

TEST_F(AccountAtResume, IsNotDroppedByRank0) {
    StoppedRun run({"--epsilon", "3", "--budget-account", accounts / "account%r"});
    const double before = account(accounts / "account1").at("epsilon_spent");
    EXPECT_LT(before, 3);
    run.set_at_rank_0("budget-account", accounts / "account0");
    const Outcome outcome = run.resume();
    EXPECT_EQ(outcome.exit_code, 5) << outcome.text();
    EXPECT_NE(outcome.err.find("takes no --budget-account from another rank"), std::string::npos)
        << outcome.text();
    EXPECT_EQ(account(accounts / "account1").at("epsilon_spent"), before);
    EXPECT_EQ(account(accounts / "account1").at("entries").size(), 1U);
    // Nor by leaving it out.
    const std::string file = run.path("run-of-rank-0/config.ini");
    std::string without;
    for (const std::string& line : lines_of(content_of(file)))
        if (!line.starts_with("budget-account")) without += line + "\n";
    (void)run.folder().write("run-of-rank-0/config.ini", without);
    const Outcome dropped = run.resume();
    EXPECT_EQ(dropped.exit_code, 5) << dropped.text();
    EXPECT_NE(dropped.err.find("has not given"), std::string::npos) << dropped.text();
}

TEST_F(AccountAtResume, IsChargedOnce) {
    const StoppedRun run({"--epsilon", "3", "--budget-account", accounts / "account%r"});
    const auto stopped = account(accounts / "account2");
    ASSERT_EQ(stopped.at("entries").size(), 1U);
    EXPECT_EQ(stopped.at("entries").at(0).at("state"), "settled");
    EXPECT_LT(stopped.at("epsilon_spent").get<double>(), 3);
    const Outcome outcome = run.resume({"--dry-run"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_EQ(account(accounts / "account2").at("entries").size(), 1U);
}

}  // namespace
}  // namespace sotto::test
