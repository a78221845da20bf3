#include "commands/account/account_text.hpp"

#include <gtest/gtest.h>

#include "account/account_fixtures.hpp"

namespace sotto {
namespace {

using test::account;
using test::Accounted;
using test::config_of;
using test::expect_contains;
using test::Json;

std::string text_of(const AccountConfig& config) {
    const Accounted accounted = account(config);
    return account_report_text(accounted.result, config, *accounted.subject);
}

TEST(AccountText, WarnsOfFiguresThatAreNoGuarantee) {
    const std::string partial = text_of(config_of("ldp", "node:0"));
    expect_contains(partial, "view       node:0: non-adaptive ([U] Theorem 8)\n");
    expect_contains(partial, "Views that do: eavesdropper, or all-messages:AGENTS.\n");
    expect_contains(partial, "bound      [G] thm 4  [G] Theorem 4: epsilon of a training");
    expect_contains(partial, "  outsider  muffliato  [G] thm 4\n");
    const std::string sums = text_of(config_of("ldp", "secure-sum:0"));
    expect_contains(sums, "  outsider  [G] thm 3\n");
    EXPECT_EQ(sums.find("muffliato"), std::string::npos);
    AccountConfig fixed = config_of("ldp", "node:0");
    fixed.subject.inputs = Inputs::fixed;
    EXPECT_EQ(text_of(fixed).find("not a guarantee"), std::string::npos);
    fixed.subject.inputs = Inputs::convex;
    expect_contains(text_of(fixed), "node:0: bound: convex and smooth losses");
    expect_contains(text_of(fixed), "which is not checked here");
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

TEST(AccountReport, HoldsEveryPairAndHowTheWorstWasFound) {
    const AccountConfig config = config_of("decor", "worst-coalition:2");
    const Accounted accounted = account(config);
    const Json json =
        Json::parse(account_report_json(accounted.result, config, *accounted.subject));
    EXPECT_EQ(json["view"], "worst-coalition:2");
    EXPECT_EQ(json["mechanism"], "decor");
    EXPECT_EQ(json["rounds"], 6);
    EXPECT_EQ(json["participation"], "every");
    EXPECT_TRUE(json["adjacency"].is_null()) << "--noise-std implies no adjacency";
    EXPECT_EQ(json["pairs"].size(), accounted.result.pairs.size());
    for (std::size_t i = 0; i < accounted.result.pairs.size(); ++i) {
        const PairFigure& pair = accounted.result.pairs[i];
        const Json& entry = json["pairs"][i];
        EXPECT_EQ(entry["observers"], Json(pair.observers));
        EXPECT_EQ(entry["target"], pair.target);
        const double mu = pair.guarantee.loss.mu().value();
        EXPECT_EQ(entry["mu"], mu);
        EXPECT_EQ(entry["renyi_alpha2"], mu * mu);
        EXPECT_EQ(entry["sensitivity_squared"]["tight_upper"], pair.squared.tight_upper);
        EXPECT_EQ(entry["argument"], "non-adaptive ([U] Theorem 8)");
    }
    EXPECT_EQ(json["worst_coalition"]["method"], "exhaustive");
    EXPECT_EQ(json["worst_coalition"]["evaluated"], 21);
    EXPECT_EQ(json["worst_coalition"]["proved_worst"], true);
    EXPECT_EQ(json["plan_hash"], to_hex(accounted.subject->plan.hash()));
}

TEST(AccountReport, SaysTheAdjacencyThatTheSensitivityFollowsFrom) {
    AccountConfig config = config_of("ldp", "eavesdropper");
    config.subject.plan.noise_std.reset();
    const Accounted accounted = account(config);
    const Json json =
        Json::parse(account_report_json(accounted.result, config, *accounted.subject));
    EXPECT_EQ(json["adjacency"], name_of(config.subject.plan.adjacency));
    EXPECT_FALSE(json.contains("worst_coalition"));
    EXPECT_TRUE(json["pairs"][0]["distance"].is_null());
}

TEST(AccountReport, SaysWhichPublishedBoundsStandBesideTheFigures) {
    const AccountConfig config = config_of("ldp", "node:0");
    const Accounted accounted = account(config);
    const Json json =
        Json::parse(account_report_json(accounted.result, config, *accounted.subject));
    ASSERT_EQ(json["bounds"].size(), 2U);
    EXPECT_EQ(json["bounds"][1]["name"], "gossip_messages_bound");
    EXPECT_EQ(json["bounds"][1]["source"], "[G] Theorem 4");
    EXPECT_TRUE(json["pairs"][0]["gossip_messages_bound"].is_number());
    EXPECT_TRUE(json["pairs"][0]["gossip_sums_bound"].is_null());
    EXPECT_TRUE(json["by_distance"][0]["gossip_messages_bound"].is_number());
    EXPECT_TRUE(json["by_distance"][0]["renyi_alpha2"]["gossip_messages_bound"].is_number());
    const Accounted shared = account(config_of("decor", "node:0"));
    EXPECT_TRUE(
        Json::parse(account_report_json(shared.result, config, *shared.subject))["bounds"].empty());
}

TEST(AccountReport, HasTheDivergenceOfEveryDistanceBesideEpsilon) {
    const AccountConfig config = config_of("ldp", "node:0");
    const Accounted accounted = account(config);
    const Json json =
        Json::parse(account_report_json(accounted.result, config, *accounted.subject));
    for (const Json& row : json["by_distance"]) {
        double sum = 0, least = 1e300;
        for (const Json& pair : json["pairs"])
            if (pair["distance"] == row["distance"]) {
                const double mu = pair["mu"].get<double>();
                EXPECT_NEAR(pair["renyi_alpha2"].get<double>(), mu * mu, 1e-12 * mu * mu);
                sum += mu * mu;
                least = std::min(least, mu * mu);
            }
        EXPECT_NEAR(row["renyi_alpha2"]["mean"].get<double>(),
                    sum / row["pairs"].get<double>(),
                    1e-12 * sum);
        EXPECT_NEAR(row["renyi_alpha2"]["min"].get<double>(), least, 1e-12 * least);
    }
    const std::string text = account_report_text(accounted.result, config, *accounted.subject);
    EXPECT_NE(text.find("Renyi divergence of order 2\ndistance"), std::string::npos) << text;
}

}  // namespace
}  // namespace sotto
