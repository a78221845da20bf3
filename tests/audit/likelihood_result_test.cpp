#include "audit/likelihood_result.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "audit/audit_report.hpp"
#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;

LikelihoodResult result_of_two() {
    LikelihoodResult result;
    result.attack = "likelihood";
    result.mechanism = "pairs";
    result.view = "node:1";
    result.agents = 6;
    result.rounds = 3;
    result.delta = 1e-5;
    result.design.target = 4;
    result.design.claim_mu = 2.5;
    result.design.claim_epsilon = 12;
    result.design.argument = "exact";
    result.design.hypotheses = {{"constant", Eigen::Vector3d(1, 1, 1), 1.5, 6},
                                {"random", Eigen::Vector3d(1, -1, 0), 2, 9}};
    result.verdicts.resize(2);
    result.verdicts[1].figures = {
        .trials = 500, .mu = 2.1, .lower = 1.9, .upper = 2.3, .epsilon_lower = 3};
    return result;
}

TEST(LikelihoodResult, IsAboutTheStrongestHypothesis) {
    const LikelihoodResult result = result_of_two();
    EXPECT_EQ(result.strongest(), 1U);
    const Json json = Json::parse(audit_report_json(result));
    EXPECT_EQ(json.at("target"), 4);
    EXPECT_EQ(json.at("hypothesis"), "random");
    EXPECT_EQ(json.at("mu_theory"), 2);
    EXPECT_EQ(json.at("mu_empirical"), 2.1);
    EXPECT_EQ(json.at("trials"), 500);
    EXPECT_EQ(json.at("infinite"), false);
    EXPECT_EQ(json.at("hypotheses")[1].at("signs"), "+-0");
    EXPECT_EQ(json.at("claim").at("epsilon"), 12);
    EXPECT_FALSE(json.contains("whiteness"));
    EXPECT_FALSE(json.contains("mask_pairs"));
    EXPECT_EQ(json.at("consistent"), true);
    expect_contains(audit_report_text(result), "node:1 asks about agent 4");
    expect_contains(audit_report_text(result), "mu 2.5, epsilon 12 (exact)");
}

TEST(LikelihoodResult, DoesNotCallAgreementProtection) {
    LikelihoodResult result = result_of_two();
    EXPECT_EQ(audit_report_text(result).find("NOT PROTECTED"), std::string::npos);
    result.design.claim_epsilon = std::numeric_limits<double>::infinity();
    expect_contains(audit_report_text(result),
                    "which says that agent 4 is NOT PROTECTED from this view");
}

TEST(LikelihoodResult, SaysWhichHypothesisExceeds) {
    LikelihoodResult result = result_of_two();
    result.verdicts[0].findings = {"hypothesis constant: mu is at least 3"};
    result.findings = result.verdicts[0].findings;
    result.mask_pairs = 12;
    result.whiteness = WhitenessFigures{.samples = 500, .dimensions = 9};
    const Json json = Json::parse(audit_report_json(result));
    EXPECT_EQ(json.at("consistent"), false);
    EXPECT_EQ(json.at("hypotheses")[0].at("exceeds"), true);
    EXPECT_EQ(json.at("hypotheses")[1].at("exceeds"), false);
    EXPECT_EQ(json.at("mask_pairs"), 12);
    EXPECT_EQ(json.at("whiteness").at("values"), 9);
    const std::string text = audit_report_text(result);
    for (const char* part :
         {"EXCEEDS", "largest of 36 correlations", "masks: 12 pairs", "INCONSISTENT"})
        expect_contains(text, part);
}

TEST(LikelihoodResult, HasNoMuWhereThereIsNone) {
    LikelihoodResult result = result_of_two();
    const double infinity = std::numeric_limits<double>::infinity();
    result.design.hypotheses[0].epsilon_theory = infinity;
    result.design.hypotheses[0].mu_theory = infinity;
    EXPECT_EQ(result.strongest(), 0U);
    EXPECT_EQ(Json::parse(audit_report_json(result)).at("infinite"), true);
    result.design.hypotheses[0].mu_theory = std::nan("");
    const Json json = Json::parse(audit_report_json(result));
    for (const char* key : {"mu_theory", "mu_empirical", "mu_lower", "mu_upper"})
        EXPECT_TRUE(json.at(key).is_null()) << key;
}

}  // namespace
}  // namespace sotto
