#include "commands/watch/watch_command.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <filesystem>
#include <thread>

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
    static const ReportAccount* next(LiveAccount& account, const std::string& ledger) {
        for (int i = 0; i < 3000 && account.last() == nullptr; ++i) {
            account.follow(ledger);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return account.last();
    }
    static bool finished(LiveAccount& account) {
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
    LiveAccount account(page);
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
    LiveAccount account(page);
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
    LiveAccount account(page);
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
    LiveAccount account(page);
    EXPECT_NE(message_of<ConfigError>([&] { (void)next(account, "ledger"); }).find("0 to 3"),
              std::string::npos);
}

const std::string refreshes = "<meta http-equiv=\"refresh\" content=\"1\">";

bool is_live(const std::string& page) { return page.find(refreshes) != std::string::npos; }

/// Writes a page after every fifth round, and fails where it is to.
struct Watcher final : TrainingListener {
    void on_round(long completed, long, const Ledger&) override {
        if (completed == fail_after) throw std::runtime_error("lost");
        if (completed % 5 != 0) return;
        if (!live)
            live.emplace(page, 1, [this](const std::string& text) { pages.push_back(text); });
        EXPECT_FALSE(live->update()) << "it has not ended";
    }
    ReportConfig page;
    long fail_after = 0;
    std::vector<std::string> pages;
    std::optional<LiveReport> live;
};

double processor_seconds() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

class LiveReportOfARun : public ::testing::Test {
  protected:
    TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "ldp", 20);
    Watcher watcher;

    void SetUp() override {
        try {
            require_page_libraries();
        } catch (const ConfigError& error) {
            GTEST_SKIP() << error.what();
        }
        config.run_directory = folder.path("run");
        config.evaluate_every = 1;
        watcher.page = report_config(config, 1);
    }
    void train(const std::function<bool()>& stop_requested = [] { return false; }) {
        const auto network = make_memory_network(4, 1);
        (void)run_training(config, *network, watcher, stop_requested);
    }
    /// Stopped soon after the second page, long before its last round.
    void train_until_stopped() {
        config.plan.rounds = 20000;
        watcher.page = report_config(config, 1);
        train([&] { return watcher.pages.size() >= 2; });
    }
    /// The page that is the last.
    std::optional<Report> last_page() {
        std::optional<Report> last;
        for (int i = 0; i < 3000 && !(last = watcher.live->update()); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return last;
    }
};

TEST_F(LiveReportOfARun, GrowsWithItAndEndsAsTheReport) {
    train();
    ASSERT_EQ(watcher.pages.size(), 4U);
    for (const std::string& page : watcher.pages) EXPECT_TRUE(is_live(page));
    expect_contains(watcher.pages.front(), "\"metrics\":{\"round\":[0,1,2,3,4],");
    expect_contains(watcher.pages.front(), "are being computed");
    expect_contains(watcher.pages[1], "\"metrics\":{\"round\":[0,1,2,3,4,5,6,7,8,9],");
    const std::optional<Report> last = last_page();
    ASSERT_TRUE(last);
    EXPECT_FALSE(is_live(last->page));
    EXPECT_EQ(last->page, watcher.pages.back());
    EXPECT_EQ(last->page, make_report(watcher.page).page);
    EXPECT_EQ(last->observers, 9);
}

TEST_F(LiveReportOfARun, EndsWhereTheRunFails) {
    watcher.fail_after = 12;
    EXPECT_THROW(train(), std::runtime_error);
    EXPECT_FALSE(watcher.live->update()) << "somebody may resume it";
    EXPECT_TRUE(is_live(watcher.pages.back()));
    const std::optional<Report> last = last_page();
    ASSERT_TRUE(last);
    expect_contains(last->page, "\"failure\":\"");
    EXPECT_EQ(last->page, make_report(watcher.page).page);
}

TEST_F(LiveReportOfARun, EndsWhereTheRunIsInterrupted) {
    train_until_stopped();
    const std::optional<Report> last = last_page();
    ASSERT_TRUE(last);
    expect_contains(last->page, "\"status\":\"interrupted\"");
    EXPECT_EQ(last->page, make_report(watcher.page).page);
}

TEST_F(LiveReportOfARun, IsNotLiveWhenNobodyWatches) {
    train_until_stopped();
    watcher.live->stop();
    EXPECT_FALSE(is_live(watcher.pages.back()));
    expect_contains(watcher.pages.back(), "\"live\":{\"every\":0,");
    const std::size_t before = watcher.pages.size();
    std::filesystem::remove(folder.path("run/ledger.json"));
    watcher.live->stop();
    EXPECT_EQ(watcher.pages.size(), before) << "there is nothing to make it of";
}

TEST_F(LiveReportOfARun, WaitsForFilesThatAreBeingReplaced) {
    train_until_stopped();
    const std::string ledger = folder.path("run/ledger.json"), aside = folder.path("aside");
    std::filesystem::rename(ledger, aside);
    const std::size_t before = watcher.pages.size();
    EXPECT_FALSE(watcher.live->update());
    EXPECT_EQ(watcher.pages.size(), before);
    std::filesystem::rename(aside, ledger);
    EXPECT_FALSE(watcher.live->update());
    EXPECT_EQ(watcher.pages.size(), before + 1);
}

TEST_F(LiveReportOfARun, PausesForSecondsAndForMoreWherePagesTakeLong) {
    train();
    EXPECT_GE(watcher.live->pause(), 1);
    const double start = processor_seconds();
    LiveReport slow(watcher.page, 1, [&](const std::string&) {
        while (processor_seconds() < start + 0.15) {
        }
    });
    (void)slow.update();
    EXPECT_GE(slow.pause(), 2);
}

std::string ledger(const std::string& status, int completed) {
    return R"({"status": ")" + status + R"(", "rounds": {"planned": 9, "completed": )" +
           std::to_string(completed) + "}}";
}

std::string summary(bool interrupted, int rounds) {
    return std::string(R"({"interrupted": )") + (interrupted ? "true" : "false") +
           R"(, "rounds": )" + std::to_string(rounds) + "}";
}

class StateOfARun : public ::testing::Test {
  protected:
    TemporaryFolder folder;
    [[nodiscard]] RunState state() const { return run_state(folder.path()); }
    void begin() const {
        (void)folder.write("config.ini", "agents = 3\n");
        (void)folder.write("ledger.json", ledger("running", 0));
    }
};

TEST_F(StateOfARun, HasBegunWhenItsConfigurationIsWritten) {
    EXPECT_EQ(run_state(folder.path("none")), RunState::not_begun);
    (void)folder.write("ledger.json", ledger("running", 0));
    EXPECT_EQ(state(), RunState::not_begun);
    (void)folder.write("config.ini", "agents = 3\n");
    EXPECT_EQ(state(), RunState::going_on);
}

TEST_F(StateOfARun, IsCompletedWhenItsSummaryIsWritten) {
    begin();
    (void)folder.write("ledger.json", ledger("completed", 9));
    EXPECT_EQ(state(), RunState::going_on) << "models are being written";
    (void)folder.write("summary.json", summary(true, 4));
    EXPECT_EQ(state(), RunState::going_on) << "that is of the start before";
    (void)folder.write("summary.json", summary(false, 9));
    EXPECT_EQ(state(), RunState::completed);
}

TEST_F(StateOfARun, IsStoppedWhereItIsInterruptedOrFails) {
    begin();
    (void)folder.write("ledger.json", ledger("interrupted", 6));
    (void)folder.write("summary.json", summary(true, 4));
    EXPECT_EQ(state(), RunState::going_on) << "that is of the start before";
    (void)folder.write("summary.json", summary(true, 6));
    EXPECT_EQ(state(), RunState::stopped);
    (void)folder.write("ledger.json", ledger("running", 6));
    EXPECT_EQ(state(), RunState::going_on) << "resumed";
    (void)folder.write("failure.txt", "rank 1: lost\n");
    EXPECT_EQ(state(), RunState::stopped);
}

TEST_F(StateOfARun, GoesOnWhereFilesCannotBeRead) {
    begin();
    for (const char* text : {"", "{", "[]", "{\"status\": 3}"}) {
        (void)folder.write("ledger.json", text);
        EXPECT_EQ(state(), RunState::going_on) << text;
    }
    (void)folder.write("ledger.json", ledger("completed", 9));
    for (const char* text : {"", "{", "[]", "{}"}) {
        (void)folder.write("summary.json", text);
        EXPECT_EQ(state(), RunState::going_on) << text;
    }
    (void)folder.write("audit.json", "{}");
    EXPECT_EQ(state(), RunState::completed);
}

}  // namespace
}  // namespace sotto
