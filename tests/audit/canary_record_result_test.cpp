#include "audit/canary_record_result.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "audit/audit_report.hpp"
#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::Json;

CanaryRecordResult some_result() {
    CanaryRecordResult result;
    result.attack = "canary-records";
    result.mechanism = "pairs";
    result.view = "coalition:1";
    result.agents = 4;
    result.rounds = result.rounds_recorded = 60;
    result.delta = 1e-5;
    result.canaries = {.target = 2, .seed = 1, .trials = 400, .members = {1}};
    result.present = 203;
    result.batch_size = 160;
    result.sampling_probability = 0.1;
    result.noise_multiplier = 0.75;
    result.epsilon_theory = 9.99;
    result.epsilon_lower = 1.25;
    result.one_run = {40, 38, 2.5};
    result.rates = {{0.05, 0.04, 0.5, 0.6}};
    result.checks = {{"probability of canaries", 0.101, 0.1, 0.002, 0.6},
                     {"coins of agent 1", 0.9, 0, 0.01, 1e-12}};
    result.check_risk = 1e-3;
    return result;
}

TEST(CanaryRecordResult, SaysAllInJson) {
    const Json json = Json::parse(audit_report_json(some_result()));
    EXPECT_EQ(json["attack"], "canary-records");
    EXPECT_EQ(json["target"], 2);
    EXPECT_EQ(json["trials"], 400);
    EXPECT_EQ(json["present"], 203);
    EXPECT_EQ(json["batch_size"], 160);
    EXPECT_EQ(json["sampling_probability"], 0.1);
    EXPECT_EQ(json["noise_multiplier"], 0.75);
    EXPECT_EQ(json["epsilon_theory"], 9.99);
    EXPECT_EQ(json["epsilon_lower"], 1.25);
    EXPECT_EQ(json["one_run"], (Json{{"epsilon_lower", 2.5}, {"guesses", 40}, {"correct", 38}}));
    EXPECT_EQ(json["rates"][0]["true_positive_rate_theory"], 0.6);
    EXPECT_EQ(json["checks"][0]["passed"], true);
    EXPECT_EQ(json["checks"][1]["check"], "coins of agent 1");
    EXPECT_EQ(json["checks"][1]["passed"], false);
    EXPECT_EQ(json["rounds_recorded"], 60);
    EXPECT_EQ(json["consistent"], true);
}

TEST(CanaryRecordResult, SaysWhichCheckFailsForPeople) {
    CanaryRecordResult result = some_result();
    result.findings = {"coins of agent 1: 0.9 instead of 0"};
    const std::string text = audit_report_text(result);
    test::expect_contains(text, "coalition:1 asks which canary records agent 2 has");
    test::expect_contains(text, "203 of 400 are in the shard");
    test::expect_contains(text, "at least 2.5 by 40 guesses, 38 of them correct");
    test::expect_contains(text, "1e-12  FAILS");
    EXPECT_EQ(text.find("0.6  FAILS"), std::string::npos);
    test::expect_contains(text, "INCONSISTENT:\n  - coins of agent 1");
}

}  // namespace
}  // namespace sotto
