#include "audit/likelihood_analysis.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "audit/audit_fixtures.hpp"

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
