#include "audit/audit_design.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "audit/attack_statistics.hpp"
#include "audit/audit_fixtures.hpp"
#include "sotto/views/view_losses.hpp"

namespace sotto {
namespace {

using test::audit_config;

struct Designed {
    AuditSubject subject;
    AuditDesign design;
};
Designed design_of(const AuditConfig& config) {
    const auto network = make_memory_network(config.train.graph.topology.agents, 1);
    AuditSubject subject = build_audit_subject(config, true, *network);
    AuditDesign design = design_audit(config, subject);
    return {std::move(subject), std::move(design)};
}

TEST(AuditDesign, AsksAboutTheAgentTheViewLearnsMostAbout) {
    AuditConfig config = audit_config("pairs", 10, 6);
    config.view = "coalition:2,5";
    const auto [subject, design] = design_of(config);
    const std::vector<int> outside = agents_outside(subject.view, 10);
    const auto losses =
        view_losses(subject.process, subject.account->use, subject.view, outside, ViewOptions{});
    double most = 0;
    for (std::size_t t = 0; t < outside.size(); ++t)
        most = std::max(most, std::sqrt(losses[t].certified()));
    // Delta is the same for all: twice the clip.
    const double unit = 2 * config.train.plan.clip_norm;
    EXPECT_NEAR(design.claim_mu, unit * most, 1e-9 * design.claim_mu);
    EXPECT_DOUBLE_EQ(design.contribution, unit / 2);
    EXPECT_FALSE(std::ranges::binary_search(subject.view.members, design.target));

    config.target = outside.back();
    EXPECT_EQ(design_of(config).design.target, outside.back());
}

TEST(AuditDesign, AsksAboutTheFirstOfAgentsWhoseLossesDifferByRoundingAlone) {
    const auto [subject, design] = design_of(audit_config("corn", 20, 20));
    const std::vector<int> outside = agents_outside(subject.view, 20);
    const auto losses =
        view_losses(subject.process, subject.account->use, subject.view, outside, ViewOptions{});
    const auto most = std::ranges::max_element(
        losses, {}, [](const SquaredSensitivity& loss) { return loss.certified(); });
    long alike = 0;
    for (std::size_t t = 0; t < outside.size(); ++t) {
        if (losses[t].certified() < most->certified() * (1 - 1e-6)) continue;
        if (++alike == 1) {
            EXPECT_EQ(design.target, outside[t]);
        }
    }
    EXPECT_GT(alike, 1);
}

TEST(AuditDesign, LeavesOutHypothesesThatAreTheSame) {
    // Every round of independent noise tells as much whatever the sign: the worst signs are the
    // constant ones.
    const auto [subject, design] = design_of(audit_config("ldp", 6, 5));
    ASSERT_GE(design.hypotheses.size(), 2U);
    for (std::size_t a = 0; a < design.hypotheses.size(); ++a)
        for (std::size_t b = 0; b < a; ++b) {
            EXPECT_NE(design.hypotheses[a].signs, design.hypotheses[b].signs);
            EXPECT_NE(design.hypotheses[a].signs, -design.hypotheses[b].signs);
        }
    for (const Hypothesis& hypothesis : design.hypotheses)
        EXPECT_LE(hypothesis.mu_theory, design.claim_mu * (1 + 1e-9)) << hypothesis.name;
}

TEST(AuditDesign, TakesAsManyTrialsAsTheWidthAsks) {
    AuditConfig config = audit_config("ldp", 6, 5);
    config.hypothesis = "constant";
    config.width = 0.1;
    const AuditDesign design = design_of(config).design;
    ASSERT_EQ(design.hypotheses.size(), 1U);
    EXPECT_EQ(static_cast<double>(design.trials),
              std::max(static_cast<double>(fewest_trials),
                       trials_for_width(design.hypotheses.front().mu_theory, 0.1, config.level)));
    config.hypothesis = "all";
    config.trials = 700;
    const AuditDesign wanted = design_of(config).design;
    EXPECT_EQ(wanted.trials, 700 * std::ssize(wanted.hypotheses));
}

TEST(AuditDesign, IsAccountedForAgainAsBefore) {
    const auto [subject, design] = design_of(audit_config("pairs", 8, 6));
    AuditDesign blank = design;
    blank.claim_mu = blank.claim_epsilon = 0;
    for (Hypothesis& hypothesis : blank.hypotheses)
        hypothesis.mu_theory = hypothesis.epsilon_theory = 0;
    const AuditDesign again = accounted(blank, subject, 1);
    EXPECT_EQ(again.claim_mu, design.claim_mu);
    EXPECT_EQ(again.claim_epsilon, design.claim_epsilon);
    EXPECT_EQ(again.argument, design.argument);
    for (std::size_t h = 0; h < design.hypotheses.size(); ++h)
        EXPECT_EQ(again.hypotheses[h].mu_theory, design.hypotheses[h].mu_theory);
}

TEST(AuditDesign, UnderLaplaceNoiseHasNoMu) {
    const auto [subject, design] = design_of(audit_config("homomorphic", 6, 4));
    for (const Hypothesis& hypothesis : design.hypotheses) {
        EXPECT_TRUE(std::isnan(hypothesis.mu_theory));
        EXPECT_EQ(hypothesis.epsilon_theory, design.claim_epsilon);
    }
}

/// The attack is on the rounds; the claim covers what is exchanged after them.
TEST(AuditDesign, ClaimsTheBoundOfAllMessagesWithFinalGossip) {
    AuditConfig config = audit_config("decor", 6, 5);
    config.view = "node:0";
    auto [subject, design] = design_of(config);
    EXPECT_EQ(design.argument, "exact, inputs fixed in advance");
    subject.process.final_gossip = 3;
    const AuditDesign more = design_audit(config, subject);
    EXPECT_EQ(more.argument, "bound: all messages seen");
    EXPECT_GT(more.claim_mu, design.claim_mu);
    for (const Hypothesis& hypothesis : more.hypotheses)
        EXPECT_LE(hypothesis.mu_theory, more.claim_mu * (1 + 1e-9)) << hypothesis.name;
}

}  // namespace
}  // namespace sotto
