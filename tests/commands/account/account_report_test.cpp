#include "commands/account/account_report.hpp"

#include <gtest/gtest.h>

#include "account/account_fixtures.hpp"
#include "commands/account/account_text.hpp"

namespace sotto {
namespace {

using test::account;
using test::Accounted;
using test::config_of;
using test::Json;

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
