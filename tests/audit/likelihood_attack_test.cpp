#include "audit/likelihood_attack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>

#include "audit/audit_fixtures.hpp"
#include "audit/audit_job.hpp"
#include "audit/audit_run.hpp"
#include "config/run_fixtures.hpp"

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
TEST(Audit, MeasuresWhatTheAccountantSaysOfCorrections) {
    for (const Correction correction : {Correction::exact_diffusion, Correction::tracking})
        for (const char* view : {"eavesdropper", "all-messages:2"})
            for (const int gossip_steps : {1, 2}) {
                AuditConfig config = audit_config("pairs", 8, 10);
                config.train.plan.correction = correction;
                config.train.plan.gossip_steps = gossip_steps;
                config.train.plan.momentum = gossip_steps == 1 ? 0 : 0.5;
                config.train.plan.steps.kind = StepSchedule::Kind::inverse_sqrt;
                config.view = view;
                config.trials = 2000;
                const TemporaryFolder folder;
                config.train.run_directory = folder.path("run");
                const LikelihoodResult result = audit<LikelihoodResult>(config);
                EXPECT_TRUE(result.consistent()) << audit_report_text(result);
                ASSERT_TRUE(result.whiteness);
                EXPECT_NEAR(result.whiteness->variance, 1, 0.03)
                    << name_of(correction) << " " << view;
                const Hypothesis& first = result.design.hypotheses.front();
                EXPECT_NEAR(
                    result.verdicts.front().figures.mu, first.mu_theory, 0.15 * first.mu_theory)
                    << name_of(correction) << " " << view;
                EXPECT_LE(first.mu_theory, result.design.claim_mu * (1 + 1e-9));
            }
}

TEST(Audit, OfCorrectionsNeedsAllMessages) {
    AuditConfig config = audit_config("pairs", 8, 6);
    config.train.plan.correction = Correction::tracking;
    config.view = "node:1";
    expect_contains(message_of<ConfigError>([&] { (void)audit<LikelihoodResult>(config); }),
                    "correction: tracking is not possible in a test of a view");
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
    expect_contains(message([](auto& c) { c.target = 8; }), "--targets");
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

namespace sotto::test {
namespace {

constexpr int audited_agents = 8;
constexpr long rounds = 12;

AuditConfig config_of(const std::string& mechanism, const std::string& view) {
    AuditConfig config = audit_config(mechanism, audited_agents, rounds);
    config.view = view;
    config.trials = 2000;
    return config;
}

/// Rounds t of the result have the noise of round source(t), but for one part in 10^9.
TemporalFactor repeating(long source_of_last_half) {
    Eigen::MatrixXd inverse = 1e-9 * Eigen::MatrixXd::Identity(rounds, rounds);
    for (Eigen::Index t = 0; t < rounds; ++t) {
        const Eigen::Index source = source_of_last_half == 0 ? 0 : t % source_of_last_half;
        inverse(t, source) = 1;
    }
    TemporalFactor factor;
    factor.kind = TemporalFactor::Kind::dense;
    factor.lower =
        inverse.triangularView<Eigen::Lower>().solve(Eigen::MatrixXd::Identity(rounds, rounds));
    return factor;
}

std::string all_findings(const LikelihoodResult& result) {
    std::string text;
    for (const auto& finding : result.findings) text += finding + "\n";
    return text;
}

TEST(HonestPipeline, IsConsistentInEveryViewUsedBelow) {
    for (const char* mechanism : {"ldp", "pairs"})
        for (const char* view : {"eavesdropper", "coalition:0,3", "secure-sum:0,3"}) {
            const LikelihoodResult result = audit_pipeline(config_of(mechanism, view), {});
            EXPECT_TRUE(result.consistent())
                << mechanism << " " << view << ": " << all_findings(result);
        }
}

AuditConfig config_of_schedule() {
    AuditConfig config = config_of("pairs", "coalition:0,3");
    config.train.plan.steps = {StepSchedule::Kind::linear, 0.05, {}, 0, rounds};
    config.train.plan.noise_schedule = "auto";
    return config;
}

TEST(HonestPipeline, IsConsistentWithNoiseThatChangesOverRounds) {
    const LikelihoodResult result = audit_pipeline(config_of_schedule(), {});
    EXPECT_TRUE(result.consistent()) << all_findings(result);
}

TEST(Sabotage, NoiseThatIgnoresItsScheduleIsCaught) {
    Sabotage sabotage;
    sabotage.noise = [](NoisePlan& plan, const MixingMatrix&) { plan.temporal = {}; };
    const LikelihoodResult result = audit_pipeline(config_of_schedule(), sabotage);
    EXPECT_FALSE(result.consistent());
    EXPECT_FALSE(result.noise_as_accounted);
}

TEST(Sabotage, NoiseDrawnOnceIsCaught) {
    Sabotage sabotage;
    sabotage.noise = [](NoisePlan& plan, const MixingMatrix&) { plan.temporal = repeating(0); };
    const LikelihoodResult result = audit_pipeline(config_of("ldp", "eavesdropper"), sabotage);
    EXPECT_FALSE(result.consistent());
    EXPECT_FALSE(result.noise_as_accounted);
    // Signs that change tell contributions from noise that does not.
    const auto& hypotheses = result.design.hypotheses;
    const auto random = static_cast<std::size_t>(
        std::ranges::find(hypotheses, "random", &Hypothesis::name) - hypotheses.begin());
    ASSERT_LT(random, hypotheses.size());
    EXPECT_TRUE(result.verdicts[random].exceeds());
}

TEST(Sabotage, OneSeedForAllAgentsIsCaught) {
    Sabotage sabotage;
    // A stream's key follows from its index too: with the same seed alone streams still differ.
    sabotage.noise = [](NoisePlan& plan, const MixingMatrix&) {
        for (auto& stream : plan.streams) stream.index = 0;
    };
    sabotage.keys = [](std::vector<KeyRing>& rings) {
        const SecretKey common = rings[0].seed(rings[0].groups().front()).clone();
        for (KeyRing& ring : rings) {
            KeyRing alike(ring.agent());
            for (const int group : ring.groups()) alike.add(group, common.clone());
            ring = std::move(alike);
        }
    };
    const LikelihoodResult result = audit_pipeline(config_of("ldp", "eavesdropper"), sabotage);
    EXPECT_FALSE(result.consistent());
    EXPECT_FALSE(result.noise_as_accounted);
}

TEST(Sabotage, PairNoiseScaledByTheMixingWeightIsCaught) {
    Sabotage sabotage;
    sabotage.noise = [](NoisePlan& plan, const MixingMatrix& mixing) {
        for (NoiseRow& row : plan.rows)
            for (std::size_t j = 0; j < row.streams.size(); ++j) {
                const auto stream = static_cast<std::size_t>(row.streams[j]);
                const auto& members =
                    plan.groups[static_cast<std::size_t>(plan.streams[stream].group)].members;
                if (members.size() != 2) continue;
                const int peer = members[0] == row.sender ? members[1] : members[0];
                row.coefficients[j] *= std::max(0.05, mixing.weight(row.sender, peer));
            }
    };
    const LikelihoodResult result = audit_pipeline(config_of("pairs", "eavesdropper"), sabotage);
    EXPECT_FALSE(result.consistent()) << all_findings(result);
}

TEST(Sabotage, AWrongSignOnOneEdgeIsCaught) {
    Sabotage sabotage;
    sabotage.noise = [](NoisePlan& plan, const MixingMatrix&) {
        double* largest = nullptr;
        for (NoiseRow& row : plan.rows)
            for (std::size_t j = 0; j < row.streams.size(); ++j) {
                const auto stream = static_cast<std::size_t>(row.streams[j]);
                const auto& group =
                    plan.groups[static_cast<std::size_t>(plan.streams[stream].group)];
                if (group.members.size() == 2 &&
                    (largest == nullptr || std::abs(row.coefficients[j]) > std::abs(*largest)))
                    largest = &row.coefficients[j];
            }
        ASSERT_NE(largest, nullptr);
        *largest = -*largest;
    };
    const LikelihoodResult result = audit_pipeline(config_of("pairs", "eavesdropper"), sabotage);
    EXPECT_FALSE(result.consistent()) << all_findings(result);
}

TEST(Sabotage, ASeedThatLeakedIsCaught) {
    Sabotage sabotage;
    sabotage.seeds = [](std::vector<KeyRing>& rings, const AuditDesign& design) {
        // Agent 0 gets every seed of the target.
        const KeyRing& of_target = rings[static_cast<std::size_t>(design.target)];
        for (const int group : of_target.groups())
            if (!rings[0].holds(group)) rings[0].add(group, of_target.seed(group).clone());
    };
    const LikelihoodResult result = audit_pipeline(config_of("pairs", "coalition:0,3"), sabotage);
    EXPECT_FALSE(result.consistent());
    expect_contains(all_findings(result), "agent 0 holds the seed of group");
    EXPECT_TRUE(std::ranges::any_of(result.verdicts, &HypothesisVerdict::exceeds))
        << "the seeds were not used";
}

TEST(Sabotage, AClipAfterTheNoiseIsCaught) {
    Sabotage sabotage;
    sabotage.clip_after_noise = true;
    const LikelihoodResult result = audit_pipeline(config_of("ldp", "eavesdropper"), sabotage);
    EXPECT_FALSE(result.consistent()) << all_findings(result);
}

TEST(Sabotage, OfNoiseBesideCorrectionsIsCaught) {
    for (const Correction correction : {Correction::exact_diffusion, Correction::tracking}) {
        AuditConfig config = config_of("pairs", "eavesdropper");
        config.train.plan.correction = correction;
        EXPECT_TRUE(audit_pipeline(config, {}).consistent()) << name_of(correction);
        Sabotage quieter, once;
        quieter.noise = [](NoisePlan& plan, const MixingMatrix&) { plan.scale *= 0.9; };
        once.noise = [](NoisePlan& plan, const MixingMatrix&) { plan.temporal = repeating(0); };
        for (const Sabotage& sabotage : {quieter, once})
            EXPECT_FALSE(audit_pipeline(config, sabotage).consistent()) << name_of(correction);
    }
}

TEST(Sabotage, HalfTheVarianceIsCaught) {
    Sabotage sabotage;
    sabotage.noise = [](NoisePlan& plan, const MixingMatrix&) { plan.scale *= std::sqrt(0.5); };
    for (const char* view : {"eavesdropper", "coalition:0,3"}) {
        const LikelihoodResult result = audit_pipeline(config_of("ldp", view), sabotage);
        EXPECT_FALSE(result.consistent()) << view;
        EXPECT_TRUE(std::ranges::all_of(result.verdicts, &HypothesisVerdict::exceeds)) << view;
        ASSERT_TRUE(result.whiteness);
        EXPECT_NEAR(result.whiteness->variance, 0.5, 0.01);
    }
}

TEST(Sabotage, AKeyEpochThatDoesNotAdvanceIsCaught) {
    Sabotage sabotage;
    // The second half draws the streams of the first again.
    sabotage.noise = [](NoisePlan& plan, const MixingMatrix&) {
        plan.temporal = repeating(rounds / 2);
    };
    const LikelihoodResult result = audit_pipeline(config_of("ldp", "eavesdropper"), sabotage);
    EXPECT_FALSE(result.consistent());
    EXPECT_FALSE(result.noise_as_accounted);
}

TEST(Sabotage, MasksThatRepeatAreCaught) {
    Sabotage sabotage;
    sabotage.masks_repeat = true;
    const LikelihoodResult result = audit_pipeline(config_of("ldp", "secure-sum:0,3"), sabotage);
    EXPECT_FALSE(result.consistent());
    EXPECT_GT(result.mask_pairs, 0);
    expect_contains(all_findings(result), "the masks of agent");
}

TEST(Sabotage, ASlightlySmallerNoiseIsCaught) {
    Sabotage sabotage;
    sabotage.noise = [](NoisePlan& plan, const MixingMatrix&) { plan.scale *= 0.95; };
    const LikelihoodResult result = audit_pipeline(config_of("pairs", "eavesdropper"), sabotage);
    EXPECT_FALSE(result.consistent());
}

}  // namespace
}  // namespace sotto::test
