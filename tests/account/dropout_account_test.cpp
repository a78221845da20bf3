#include "account/dropout_account.hpp"

#include <gtest/gtest.h>

#include "account/account_fixtures.hpp"
#include "commands/account/account_report.hpp"
#include "commands/account/account_text.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using test::account;
using test::Accounted;
using test::config_of;
using test::expect_contains;
using test::Json;
using test::message_of;

TEST(AccountForDropouts, SaysWhatWorstDropoutsRevealToTheEavesdropper) {
    AccountConfig config = config_of("pairs", "eavesdropper");
    config.dropouts = 1;
    const Accounted accounted = account(config);
    const DropoutAccount& dropouts = accounted.result.dropouts.value();
    ASSERT_EQ(dropouts.figures.size(), 7U);
    const auto& exposures = accounted.subject->exposures;
    const double delta = accounted.subject->delta;
    const auto as_sent = guarantees(accounted.subject->plan, {}, exposures, delta);
    const auto revealed = coalition_guarantees(accounted.subject->plan, 1, exposures, delta);
    for (std::size_t u = 0; u < 7; ++u) {
        EXPECT_NEAR(dropouts.figures[u].silent->epsilon, as_sent[u].epsilon, 1e-9);
        EXPECT_NEAR(dropouts.figures[u].revealed->epsilon, revealed[u].epsilon, 1e-9);
        EXPECT_GE(dropouts.figures[u].late->epsilon, revealed[u].epsilon - 1e-9);
    }
    EXPECT_NEAR(dropouts.worst.revealed->epsilon, largest(revealed).epsilon, 1e-9);
}

TEST(AccountForDropouts, TakesMissingAgentsByName) {
    AccountConfig config = config_of("pairs", "node:0");
    config.missing = "2,5";
    const Accounted accounted = account(config);
    const DropoutAccount& dropouts = accounted.result.dropouts.value();
    EXPECT_EQ(dropouts.missing, (std::vector<int>{2, 5}));
    for (const DropoutFigure& figure : dropouts.figures) {
        const bool missing = figure.target == 2 || figure.target == 5;
        EXPECT_EQ(figure.silent.has_value(), !missing);
        EXPECT_EQ(figure.late.has_value(), missing);
    }
    const auto known = guarantees(accounted.subject->plan,
                                  {{0, 2, 5}},
                                  accounted.subject->exposures,
                                  accounted.subject->delta);
    EXPECT_EQ(dropouts.figures.front().target, 1);
    EXPECT_NEAR(dropouts.figures.front().revealed->epsilon, known[1].epsilon, 1e-9);
    const Json json =
        Json::parse(account_report_json(accounted.result, config, *accounted.subject));
    EXPECT_EQ(json["dropouts"]["missing"], Json({2, 5}));
    EXPECT_TRUE(json["dropouts"]["by_target"][1]["revealed"].is_null());
    expect_contains(account_report_text(accounted.result, config, *accounted.subject),
                    "messages of 2,5 missing in every round");
}

TEST(AccountForDropouts, CountsTheSeedsOfEveryCoalitionThatIsAskedAbout) {
    AccountConfig config = config_of("pairs", "all-nodes");
    config.dropouts = 1;
    const Accounted accounted = account(config);
    const auto two = coalition_guarantees(
        accounted.subject->plan, 2, accounted.subject->exposures, accounted.subject->delta);
    EXPECT_NEAR(accounted.result.dropouts->worst.revealed->epsilon, largest(two).epsilon, 1e-9);
    config.dropouts.reset();
    EXPECT_FALSE(account(config).result.dropouts);
}

TEST(AccountForDropouts, RefusesWhatItCannotSay) {
    const auto refusal = [](const AccountConfig& config) {
        return message_of<ConfigError>([&] { (void)account(config); });
    };
    AccountConfig config = config_of("pairs", "eavesdropper");
    config.dropouts = 7;
    expect_contains(refusal(config), "dropouts: 7 of 7 agents");
    config.missing = "1";
    expect_contains(refusal(config), "--missing");
    config.dropouts = 1;
    config.missing.clear();
    config.subject.departures = "3:1";
    expect_contains(refusal(config), "--departures");
    config = config_of("anti-pgd", "eavesdropper");
    config.dropouts = 1;
    expect_contains(refusal(config), "dropouts: not with mechanism anti-pgd");
}

}  // namespace
}  // namespace sotto
