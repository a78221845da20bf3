#include "audit/membership_result.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "audit/audit_report.hpp"
#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;

MembershipResult result_of(int targets) {
    MembershipResult result;
    result.attack = "membership";
    result.mechanism = "ldp";
    result.task = "logistic";
    result.view = "node:0";
    result.agents = targets + 1;
    for (int u = 1; u <= targets; ++u) {
        MembershipFigures figures;
        figures.target = u;
        figures.distance = 1 + u / 3;
        figures.ranking.auc = 0.5 + 0.01 * u;
        figures.ranking.advantage = 0.1 * u;
        figures.claim_epsilon = 2;
        result.targets.push_back(figures);
    }
    return result;
}

TEST(MembershipResult, AveragesOverAgentsThatAreAsFarAway) {
    const Json json = Json::parse(audit_report_json(result_of(5)));
    const Json& distances = json.at("by_distance");
    ASSERT_EQ(distances.size(), 2U);
    EXPECT_EQ(distances[0].at("targets"), 2);
    EXPECT_NEAR(distances[0].at("auc_mean").get<double>(), 0.515, 1e-12);
    EXPECT_NEAR(distances[0].at("auc_max").get<double>(), 0.52, 1e-12);
    EXPECT_NEAR(distances[1].at("advantage_mean").get<double>(), 0.4, 1e-12);
    EXPECT_EQ(json.at("task"), "logistic");
    EXPECT_EQ(json.at("targets").size(), 5U);
    EXPECT_EQ(json.at("targets")[0].at("heard"), false);
}

TEST(MembershipResult, ShowsTheAgentsThatAreTakenForMembersMost) {
    const std::string text = audit_report_text(result_of(12));
    expect_contains(text, "rounds of logistic; node:0 asks which records 12 agents trained on");
    expect_contains(text, "and 2 agents with a smaller AUC");
    EXPECT_LT(text.find("0.6200"), text.find("0.5300"));
    EXPECT_EQ(text.find("EXCEEDS"), std::string::npos);
}

TEST(MembershipResult, SaysWhatTheClaimIsAbout) {
    MembershipResult result = result_of(1);
    expect_contains(audit_report_text(result),
                    "adjacency agent: the accountant's epsilon is about "
                    "all records");
    result.adjacency = Adjacency::record;
    expect_contains(audit_report_text(result), "is about one record");
    result.targets.front().epsilon_certain = 2.5;
    EXPECT_TRUE(result.targets.front().exceeds());
    expect_contains(audit_report_text(result), "EXCEEDS");
    result.targets.front().epsilon_certain = std::nan("");
    EXPECT_FALSE(result.targets.front().exceeds());
}

}  // namespace
}  // namespace sotto
