#include "commands/report/report_account.hpp"

#include <gtest/gtest.h>

#include "commands/report/report_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::quadratic_config;
using test::report_config;
using test::TemporaryFolder;
using test::train;

TEST(ReportAccount, HasGraphNoiseAndWhatObserversLearn) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "decor", 5);
    config.run_directory = folder.path("run");
    train(config, 4);
    const ReportAccount account = report_account(report_config(config, 1), Clock::now());
    EXPECT_EQ(account.graph.at("labels").size(), 4U);
    EXPECT_EQ(account.views.size(), 2U);
    EXPECT_FALSE(account.pictures.empty());
    EXPECT_EQ(account.observers, 1 + 4 + 4);
    EXPECT_TRUE(account.missing.empty());
    EXPECT_GT(account.seconds, 0);
    expect_contains(message_of<ConfigError>(
                        [&] { (void)report_account(report_config(config, 4), Clock::now()); }),
                    "0 to 3");
}

TEST(ReportAccount, SaysWhyThereIsNone) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "ldp", 5);
    config.graph.file = folder.write("graph.edges", "0 1\n1 2\n2 3\n3 0\n");
    config.run_directory = folder.path("run");
    train(config, 4);
    (void)folder.write("graph.edges", "0 1\n1 2\n2 3\n3 0\n0 2\n");
    const ReportAccount account = report_account(report_config(config), Clock::now());
    EXPECT_TRUE(account.graph.is_null());
    EXPECT_EQ(account.observers, 0);
    ASSERT_EQ(account.missing.size(), 1U);
    expect_contains(account.missing.front(), "has changed since");
}

}  // namespace
}  // namespace sotto
