#include "audit/likelihood_attack.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>

#include "audit/audit_fixtures.hpp"
#include "audit/audit_report.hpp"
#include "audit/audit_run.hpp"

namespace sotto::test {
namespace {

struct Case {
    std::string mechanism;
    std::string graph;  ///< "" for Erdos-Renyi of 20 agents, or a file of SOTTO_DATA_DIR
    std::string view;
};
void PrintTo(const Case& entry, std::ostream* out) {
    *out << entry.mechanism << (entry.graph.empty() ? "" : " " + entry.graph) << " " << entry.view;
}

constexpr const char* florentine = "florentine_families.edges";

std::vector<Case> cases() {
    std::vector<Case> result;
    for (const char* mechanism :
         {"ldp", "decor", "corn", "pairs", "mafalda", "space-time", "muffliato"})
        for (const char* graph : {"", florentine}) {
            result.push_back({mechanism, graph, "eavesdropper"});
            // Noise that all agents share hides nothing from one of them.
            if (std::string(mechanism) != "corn")
                result.push_back({mechanism, graph, "coalition:2,5"});
        }
    return result;
}

AuditConfig config_of(const Case& entry) {
    AuditConfig config = audit_config(entry.mechanism, 20, 20);
    if (!entry.graph.empty())
        config.train.graph.file = std::string(std::getenv("SOTTO_DATA_DIR")) + "/" + entry.graph;
    if (entry.mechanism == "mafalda" || entry.mechanism == "space-time") {
        config.train.plan.adjacency = Adjacency::record;
        config.train.plan.participation = {5};
        config.train.plan.batch_size = 8;
    }
    if (entry.mechanism == "muffliato") config.train.plan.gossip_steps = 3;
    config.view = entry.view;
    return config;
}

class Audit : public ::testing::TestWithParam<Case> {};

TEST_P(Audit, MeasuresWhatTheAccountantSays) {
    if (!GetParam().graph.empty() && std::getenv("SOTTO_DATA_DIR") == nullptr)
        GTEST_SKIP() << "SOTTO_DATA_DIR is not set";
    AuditConfig config = config_of(GetParam());
    // All cases together hold with 99%; the trials are those of a width of 5% at 99%.
    constexpr double wider = 3.55 / 2.576;
    config.level = 1 - 0.01 / 26;
    config.width = 0.05 * wider;
    const TemporaryFolder folder;
    config.train.run_directory = folder.path("run");
    const std::clock_t start = std::clock();
    const LikelihoodResult result = audit<LikelihoodResult>(config);
    EXPECT_TRUE(result.consistent()) << audit_report_text(result);
    // Of this process: others may have the processors.
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 60);
    for (std::size_t h = 0; h < result.verdicts.size(); ++h) {
        const AttackFigures& figures = result.verdicts[h].figures;
        const double theory = result.design.hypotheses[h].mu_theory;
        const double half = (figures.upper - figures.lower) / 2;
        EXPECT_LE(figures.lower, theory) << result.design.hypotheses[h].name;
        EXPECT_GE(figures.upper, theory) << result.design.hypotheses[h].name;
        EXPECT_LE(half / wider, 0.052 * theory) << result.design.hypotheses[h].name;
        EXPECT_LE(theory, result.design.claim_mu * (1 + 1e-9));
        EXPECT_LE(figures.epsilon_lower, result.design.hypotheses[h].epsilon_theory);
    }
    ASSERT_TRUE(result.whiteness);
    EXPECT_NEAR(result.whiteness->variance, 1, 0.02);
}
INSTANTIATE_TEST_SUITE_P(MechanismsGraphsViews, Audit, ::testing::ValuesIn(cases()));

TEST(Audit, MeasuresLaplaceNoiseByThresholdsAlone) {
    AuditConfig config = audit_config("homomorphic", 8, 6);
    const TemporaryFolder folder;
    config.train.run_directory = folder.path("run");
    const LikelihoodResult result = audit<LikelihoodResult>(config);
    EXPECT_TRUE(result.consistent());
    EXPECT_FALSE(result.whiteness);
    const Json json = Json::parse(audit_report_json(result));
    EXPECT_TRUE(json.at("mu_theory").is_null());
    EXPECT_TRUE(json.at("mu_empirical").is_null());
    EXPECT_GT(json.at("epsilon_lower").get<double>(), 0.5);
    EXPECT_DOUBLE_EQ(json.at("epsilon_theory").get<double>(), 10);
}

TEST(Audit, OfAViewThatBreaksTheProtectionSaysSo) {
    AuditConfig config = audit_config("corn", 8, 6);
    config.view = "node:1";
    config.trials = 500;
    const TemporaryFolder folder;
    config.train.run_directory = folder.path("run");
    const LikelihoodResult result = audit<LikelihoodResult>(config);
    const Json json = Json::parse(audit_report_json(result));
    EXPECT_TRUE(json.at("mu_theory").is_null());
    EXPECT_TRUE(json.at("infinite").get<bool>());
    EXPECT_TRUE(result.consistent());
    // Every sign is guessed right.
    EXPECT_GT(result.verdicts.front().figures.mu, 1000);
}

TEST(Audit, LooksAtARunAgainWithAnotherView) {
    AuditConfig config = audit_config("ldp", 8, 6);
    config.view = "coalition:1,2,4";
    config.trials = 600;
    const TemporaryFolder folder;
    config.train.run_directory = folder.path("run");
    const LikelihoodResult first = audit<LikelihoodResult>(config);
    config.run = config.train.run_directory;
    const LikelihoodResult again = audit<LikelihoodResult>(config);
    EXPECT_DOUBLE_EQ(first.verdicts.front().figures.mu, again.verdicts.front().figures.mu);
    config.view = "node:2";
    const LikelihoodResult alone = audit<LikelihoodResult>(config);
    EXPECT_EQ(alone.design.target, first.design.target);
    EXPECT_LT(alone.design.hypotheses.front().mu_theory, first.design.hypotheses.front().mu_theory);
    config.view = "node:3";
    expect_contains(message_of<DataError>([&] { (void)audit<LikelihoodResult>(config); }),
                    "did not record its view");
    config.view = "node:2";
    config.target = first.design.target == 0 ? 3 : 0;
    expect_contains(message_of<ConfigError>([&] { (void)audit<LikelihoodResult>(config); }),
                    "whose canaries are of agent");
}

TEST(Audit, RefusesWhatItCannotLookAt) {
    const auto message = [&](auto&& change) {
        AuditConfig config = audit_config("ldp", 8, 6);
        change(config);
        return message_of<ConfigError>([&] { (void)audit<LikelihoodResult>(config); });
    };
    expect_contains(message([](auto& c) { c.view = "all-nodes"; }), "one observer");
    expect_contains(message([](auto& c) { c.view = "node:9"; }), "does not exist");
    expect_contains(message([](auto& c) { c.hypothesis = "constnat"; }), "constant");
    expect_contains(message([](auto& c) { c.target = 8; }), "--target");
    expect_contains(message([](auto& c) {
                        c.view = "node:1";
                        c.target = 1;
                    }),
                    "knows its own data");
    expect_contains(message([](auto& c) { c.trials = 10; }), "--trials");
    expect_contains(message([](auto& c) { c.level = 1; }), "--confidence");
    expect_contains(message([](auto& c) { c.train.plan.mechanism = "cdp"; }), "trusted aggregator");
    expect_contains(message([](auto& c) {
                        c.train.plan.mechanism = "ldp";
                        c.train.graph.mixing_schedule = "random";
                    }),
                    "--mixing-schedule");
}

}  // namespace
}  // namespace sotto::test
