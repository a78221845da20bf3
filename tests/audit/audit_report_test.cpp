#include "audit/audit_report.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace sotto {
namespace {

struct PlainResult final : AuditResult {
    nlohmann::ordered_json json() const override {
        nlohmann::ordered_json json = run_json(*this);
        json["own"] = 1;
        add_ending(json, *this);
        return json;
    }
    std::string question() const override { return "asks"; }
    std::string tables() const override { return "  a table\n"; }
    std::string agreement() const override { return "all is well"; }
};

PlainResult plain_result() {
    PlainResult result;
    result.attack = "plain";
    result.mechanism = "ldp";
    result.view = "node:1";
    result.agents = 4;
    result.rounds = 9;
    result.seconds = 1.25;
    result.run_directory = "runs/x";
    return result;
}

TEST(AuditReport, SaysWhatEveryAttackSays) {
    PlainResult result = plain_result();
    EXPECT_EQ(audit_report_text(result),
              "audit: ldp, 4 agents, 9 rounds; node:1 asks\n  a table\n"
              "consistent: all is well (1.2 s)\n");
    const auto json = nlohmann::ordered_json::parse(audit_report_json(result));
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    EXPECT_EQ(keys,
              (std::vector<std::string>{"attack",
                                        "mechanism",
                                        "agents",
                                        "rounds",
                                        "own",
                                        "findings",
                                        "seed",
                                        "seconds",
                                        "run_directory"}));
}

TEST(AuditReport, NamesTheTaskAndEveryFinding) {
    PlainResult result = plain_result();
    result.task = "mlp";
    result.findings = {"one", "two"};
    EXPECT_FALSE(result.consistent());
    EXPECT_EQ(audit_report_text(result),
              "audit: ldp, 4 agents, 9 rounds of mlp; node:1 asks\n  a table\n"
              "INCONSISTENT:\n  - one\n  - two\n");
    const auto json = nlohmann::json::parse(audit_report_json(result));
    EXPECT_EQ(json.at("task"), "mlp");
    EXPECT_EQ(json.at("findings").size(), 2U);
}

TEST(AuditReport, WritesFiguresThatAreNoNumbers) {
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(number_json(infinity).is_null());
    EXPECT_TRUE(number_json(-infinity).is_null());
    EXPECT_EQ(number_json(0.5), 0.5);
    EXPECT_EQ(number_text(infinity, 4), "infinite");
    EXPECT_EQ(number_text(-infinity, 4), "infinite");
    EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN(), 4), "-");
    EXPECT_EQ(number_text(1.23456, 3), "1.23");
    EXPECT_TRUE(distance_json(-1).is_null());
    EXPECT_EQ(distance_json(2), 2);
    EXPECT_EQ(distance_text(-1), "-");
    EXPECT_EQ(distance_text(2), "2");
}

}  // namespace
}  // namespace sotto
