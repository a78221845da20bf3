#include "audit/canaries.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "audit/attack_statistics.hpp"
#include "audit/audit_fixtures.hpp"
#include "config/run_fixtures.hpp"
#include "core/seeded_random.hpp"
#include "sotto/core/error.hpp"
#include "sotto/views/view_losses.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::audit_config;

AuditDesign three_hypotheses() {
    AuditDesign design;
    design.targets = {1};
    design.seed = 9;
    design.trials = 1203;
    design.contribution = 0.05;
    design.hypotheses = {{.name = "constant", .signs = Eigen::Vector4d(1, 1, 1, 1)},
                         {.name = "random", .signs = Eigen::Vector4d(1, -1, -1, 1)},
                         {.name = "worst", .signs = Eigen::Vector4d(1, 0, -1, 0)}};
    return design;
}

TEST(Canaries, HaveAsManyOfBothSignsInEveryHypothesis) {
    const AuditDesign design = three_hypotheses();
    const Eigen::VectorXd signs = design.secret_signs();
    ASSERT_EQ(signs.size(), design.trials);
    for (Eigen::Index h = 0; h < 3; ++h) {
        double sum = 0;
        for (Eigen::Index i = h; i < signs.size(); i += 3) {
            EXPECT_EQ(std::abs(signs(i)), 1);
            sum += signs(i);
        }
        EXPECT_LE(std::abs(sum), 1) << h;
    }
    EXPECT_EQ(signs, design.secret_signs());
    AuditDesign other = design;
    other.seed = 10;
    EXPECT_NE(signs, other.secret_signs());
}

TEST(Canaries, SurviveTheirWayThroughAFile) {
    const AuditDesign design = three_hypotheses();
    const AuditDesign back = canaries_from_json(canaries_json(design), "canaries.json");
    EXPECT_EQ(back.targets, design.targets);
    EXPECT_EQ(back.seed, design.seed);
    EXPECT_EQ(back.trials, design.trials);
    EXPECT_EQ(back.contribution, design.contribution);
    EXPECT_EQ(back.patterns(), design.patterns());
    EXPECT_EQ(back.hypotheses[2].name, "worst");
    EXPECT_EQ(back.secret_signs(), design.secret_signs());
}

TEST(Canaries, OfADamagedFileAreRefused) {
    const auto message = [](auto&& damage) {
        test::Json json = test::Json::parse(canaries_json(three_hypotheses()));
        damage(json);
        return test::message_of<DataError>(
            [&] { (void)canaries_from_json(json.dump(), "canaries.json"); });
    };
    test::expect_contains(message([](auto& json) { json["version"] = 2; }),
                          "version is 2 (must be 1)");
    test::expect_contains(message([](auto& json) { json.erase("seed"); }), "not canaries");
    for (const auto& [key, value] :
         {std::pair{"target", -1.0}, {"trials", 10.0}, {"contribution", 0.0}})
        test::expect_contains(message([&](auto& json) { json[key] = value; }),
                              std::string(key) + " is ");
    test::expect_contains(message([](auto& json) { json["contribution"] = 1e308; }),
                          "contribution is 1e+308 (must be above 0 and at most 1e+100)");
    test::expect_contains(message([](auto& json) {
                              json["hypotheses"][1]["signs"] = {1, 1};
                          }),
                          "hypotheses with equally many signs each");
    test::expect_contains(
        test::message_of<DataError>([] { (void)canaries_from_json("{", "canaries.json"); }),
        "canaries.json: not canaries");
}

TEST(Canaries, AreContributedByTheTargetAloneInItsPattern) {
    const AuditDesign design = three_hypotheses();
    const auto network = make_memory_network(3, 1);
    const LocalTask task = make_canary_task(design, 4, *network);
    ASSERT_EQ(task.objectives.size(), 3U);
    EXPECT_TRUE(task.fixed_inputs && task.coordinates && task.rows_are_rounds);
    EXPECT_EQ(task.initial.size(), design.trials);
    const Eigen::VectorXd signs = design.secret_signs();
    const Eigen::MatrixXd patterns = design.patterns();
    for (int agent = 0; agent < 3; ++agent)
        for (Eigen::Index round = 0; round < 4; ++round) {
            Eigen::VectorXd gradient(design.trials);
            task.objectives[static_cast<std::size_t>(agent)]->mean_gradient(
                task.initial, {&round, 1}, gradient);
            Eigen::VectorXd expected = Eigen::VectorXd::Zero(design.trials);
            for (Eigen::Index i = 0; agent == design.targets.front() && i < expected.size(); ++i)
                expected(i) = 4 * 0.05 * signs(i) * patterns(round, i % 3);
            EXPECT_LE((gradient - expected).cwiseAbs().maxCoeff(), 1e-15) << agent << " " << round;
        }
}

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
    EXPECT_FALSE(std::ranges::binary_search(subject.view.members, design.targets.front()));

    config.targets = {outside.back()};
    EXPECT_EQ(design_of(config).design.targets.front(), outside.back());
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
            EXPECT_EQ(design.targets.front(), outside[t]);
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

MatrixXd random_gram(Eigen::Index rounds, std::uint64_t seed) {
    SeededRandom random(seed, "gram");
    MatrixXd factor(rounds, rounds);
    for (double& value : factor.reshaped()) value = random.normal();
    return factor * factor.transpose();
}

double squared(const MatrixXd& gram, const VectorXd& signs) { return signs.dot(gram * signs); }

TEST(HypothesisSigns, AreZeroInRoundsWithoutParticipation) {
    constexpr Eigen::Index rounds = 11;
    const Participation participation{3};
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
        const MatrixXd gram = random_gram(rounds, seed);
        for (const SignPattern pattern : parse_hypothesis("all")) {
            const VectorXd signs = make_signs(pattern, gram, rounds, participation, seed);
            ASSERT_EQ(signs.size(), rounds);
            Eigen::Index first = -1;
            for (Eigen::Index t = 0; t < rounds; ++t) {
                if (signs(t) == 0) continue;
                if (first < 0) first = t;
                EXPECT_EQ(std::abs(signs(t)), 1);
                EXPECT_EQ((t - first) % 3, 0);
            }
            EXPECT_GE(first, 0);
        }
    }
}

TEST(HypothesisSigns, ConstantStartsWhereItTellsMost) {
    constexpr Eigen::Index rounds = 10;
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
        const MatrixXd gram = random_gram(rounds, seed);
        const VectorXd best = make_signs(SignPattern::constant, gram, rounds, {4}, 1);
        EXPECT_GE(best.minCoeff(), 0);
        for (Eigen::Index first = 0; first < 4; ++first) {
            VectorXd other = VectorXd::Zero(rounds);
            for (Eigen::Index t = first; t < rounds; t += 4) other(t) = 1;
            EXPECT_GE(squared(gram, best), squared(gram, other));
        }
        EXPECT_GE(squared(gram, make_signs(SignPattern::worst, gram, rounds, {4}, 1)),
                  squared(gram, best) * (1 - 1e-12));
    }
}

TEST(HypothesisSigns, DoNotFollowFromRounding) {
    constexpr Eigen::Index rounds = 12;
    const MatrixXd even =
        MatrixXd::Identity(rounds, rounds) + MatrixXd::Constant(rounds, rounds, 0.5);
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
        const MatrixXd rounded = even + 1e-13 * random_gram(rounds, seed);
        for (const SignPattern pattern : parse_hypothesis("all"))
            EXPECT_EQ(make_signs(pattern, rounded, rounds, {4}, 1),
                      make_signs(pattern, even, rounds, {4}, 1));
    }
}

TEST(HypothesisSigns, RandomOnesFollowTheSeedAlone) {
    const auto signs = [](std::uint64_t seed) {
        return make_signs(SignPattern::random, std::nullopt, 64, {1}, seed);
    };
    EXPECT_EQ(signs(3), signs(3));
    EXPECT_NE(signs(3), signs(4));
    EXPECT_LT(std::abs(signs(3).sum()), 5 * std::sqrt(64.0));
    // Without a Gram matrix nothing is known to be worse.
    EXPECT_EQ(make_signs(SignPattern::worst, std::nullopt, 64, {1}, 3), signs(3));
    EXPECT_EQ(make_signs(SignPattern::constant, std::nullopt, 5, {2}, 3),
              (VectorXd(5) << 1, 0, 1, 0, 1).finished());
}

TEST(HypothesisSigns, HaveNames) {
    EXPECT_EQ(parse_hypothesis("all").size(), 3U);
    EXPECT_EQ(parse_hypothesis("worst"), std::vector<SignPattern>{SignPattern::worst});
    EXPECT_THROW((void)parse_hypothesis("best"), ConfigError);
}

}  // namespace
}  // namespace sotto
