#include "commands/account/account_text.hpp"

#include <gtest/gtest.h>

#include "account/account_fixtures.hpp"

namespace sotto {
namespace {

using test::account;
using test::Accounted;
using test::config_of;
using test::expect_contains;

std::string text_of(const AccountConfig& config) {
    const Accounted accounted = account(config);
    return account_report_text(accounted.result, config, *accounted.subject);
}

TEST(AccountText, WarnsOfFiguresThatAreNoGuarantee) {
    const std::string partial = text_of(config_of("ldp", "node:0"));
    expect_contains(partial, "view       node:0: non-adaptive ([U] Theorem 8)\n");
    expect_contains(partial, "What holds there: eavesdropper, or all-messages:AGENTS.\n");
    expect_contains(partial, "bound      [G] thm 4  [G] Theorem 4: epsilon of a training");
    expect_contains(partial, "       ldp  muffliato  [G] thm 4\n");
    const std::string sums = text_of(config_of("ldp", "secure-sum:0"));
    expect_contains(sums, "       ldp  [G] thm 3\n");
    EXPECT_EQ(sums.find("muffliato"), std::string::npos);
    AccountConfig fixed = config_of("ldp", "node:0");
    fixed.subject.fixed_inputs = true;
    EXPECT_EQ(text_of(fixed).find("not a guarantee"), std::string::npos);
    EXPECT_EQ(text_of(config_of("ldp", "all-messages:0")).find("not a guarantee"),
              std::string::npos);
}

TEST(AccountText, ShowsTheWorstPairsAndSaysHowManyMoreThereAre) {
    const std::string text = text_of(config_of("decor", "all-nodes"));
    expect_contains(text, "... 32 more pairs (--json has all)\n");
    expect_contains(text, " over 42 pairs; ");
    EXPECT_EQ(text.find("muffliato"), std::string::npos) << "decor has shared noise";
}

TEST(AccountText, SaysHowTheWorstCoalitionWasFoundAndWhoLeft) {
    expect_contains(text_of(config_of("ldp", "worst-coalition:2")),
                    "search     all 21 coalitions of 2 were tried\n");
    AccountConfig leaving = config_of("ldp", "node:0");
    leaving.subject.departures = "3:1";
    expect_contains(text_of(leaving), "leave      3:1 (round:agents)\n");
    expect_contains(text_of(config_of("corn", "node:0")), "NOT protected: in 6 of 6 pairs");
}

}  // namespace
}  // namespace sotto
