#include "commands/watch/kept_account.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "commands/report/report_fixtures.hpp"

namespace sotto {
namespace {

using test::message_of;
using test::quadratic_config;
using test::report_config;
using test::TemporaryFolder;
using test::train;

class AccountOfPages : public ::testing::Test {
  protected:
    TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "ldp", 5);
    ReportConfig page;

    void SetUp() override {
        config.run_directory = folder.path("run");
        train(config, 4);
        page = report_config(config, 1);
    }
    /// Follows the ledger until there is an account.
    static const ReportAccount* next(KeptAccount& account, const std::string& ledger) {
        for (int i = 0; i < 3000 && account.last() == nullptr; ++i) {
            account.follow(ledger);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return account.last();
    }
    static bool finished(KeptAccount& account) {
        for (int i = 0; i < 3000; ++i) {
            if (account.finish()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return false;
    }
    /// What is computed from now on lacks the graph.
    void lose_history() const { std::filesystem::remove(folder.path("run/history.json")); }
};

TEST_F(AccountOfPages, IsComputedBesideThemAndOnceForALedger) {
    KeptAccount account(page);
    account.follow("ledger");
    EXPECT_EQ(account.last(), nullptr) << "it is computed beside the page that is written first";
    ASSERT_NE(next(account, "ledger"), nullptr);
    EXPECT_EQ(account.last()->observers, 9);
    lose_history();
    // Longer than ten times what it took.
    std::this_thread::sleep_for(std::chrono::duration<double>(12 * account.last()->seconds));
    for (int i = 0; i < 100; ++i) {
        account.follow("ledger");
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    EXPECT_EQ(account.last()->observers, 9) << "nothing was computed again";
    for (int i = 0; i < 3000 && account.last()->observers > 0; ++i) {
        account.follow("another ledger");
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(account.last()->observers, 0) << "of another ledger it was";
}

TEST_F(AccountOfPages, IsTriedAgainWhereItLacksSomething) {
    const std::string history = folder.path("run/history.json"), aside = folder.path("aside");
    std::filesystem::rename(history, aside);
    KeptAccount account(page);
    ASSERT_NE(next(account, "ledger"), nullptr);
    EXPECT_FALSE(account.last()->missing.empty());
    std::filesystem::rename(aside, history);
    for (int i = 0; i < 3000 && !account.last()->missing.empty(); ++i) {
        account.follow("ledger");
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(account.last()->missing.empty());
}

TEST_F(AccountOfPages, IsComputedOnceMoreWhenTheRunHasEnded) {
    KeptAccount account(page);
    ASSERT_NE(next(account, "ledger"), nullptr);
    lose_history();
    ASSERT_TRUE(finished(account));
    EXPECT_EQ(account.last()->observers, 0);
    EXPECT_TRUE(account.finish()) << "it stays";
    account.go_on();
    EXPECT_FALSE(account.finish());
    EXPECT_TRUE(finished(account));
}

TEST_F(AccountOfPages, HandsOnWhatIsRefused) {
    page.coalition_size = 4;
    KeptAccount account(page);
    EXPECT_NE(message_of<ConfigError>([&] { (void)next(account, "ledger"); }).find("0 to 3"),
              std::string::npos);
}

}  // namespace
}  // namespace sotto
