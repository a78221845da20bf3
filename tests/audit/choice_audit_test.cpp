#include "audit/choice_audit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "audit/audit_fixtures.hpp"
#include "audit/audit_run.hpp"
#include "config/run_fixtures.hpp"
#include "core/seeded_random.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using test::expect_contains;

TEST(ChoiceDealing, LeavesFiveDeviationsOfTrainings) {
    const TrainingCount geometric{8, 1};  // variance K^2 - K
    for (const long choices : {200L, 1000L}) {
        const double trials = trials_for_choices(geometric, 2 * choices);
        const auto n = static_cast<double>(choices);
        EXPECT_NEAR(trials / 2, 8 * n + 5 * std::sqrt(56 * n), 1);
        EXPECT_EQ(choices_from(geometric, static_cast<long>(trials / 2)), choices);
        EXPECT_EQ(choices_from(geometric, static_cast<long>(trials / 2) - 1), choices - 1);
    }
    EXPECT_EQ(choices_from({1, 1}, 77), 77);
    EXPECT_EQ(choices_from(geometric, 0), 0);
}

TEST(ChoiceDealing, TakesTrialsOfOneSignInTheirOrder) {
    constexpr Index trials = 400;
    VectorXd scores(trials), signs(trials);
    for (Index i = 0; i < trials; ++i) {
        signs(i) = i % 2 == 0 ? 1 : -1;
        scores(i) = signs(i) * static_cast<double>(i);
    }
    long drawn = 0;
    const ReleasedScores released =
        release_best(scores, signs, {2, 1}, [&] { return 1 + drawn++ % 3; });
    const long choices = choices_from({2, 1}, 200);
    ASSERT_EQ(released.scores.size(), 2 * choices);
    EXPECT_EQ(released.signs.sum(), 0);
    // Choices of 1, 2 and 3 trainings: 0; 2, 4; 6, 8, 10; and of the other sign -1; -3, -5; ...
    EXPECT_EQ(released.scores(0), 0);
    EXPECT_EQ(released.scores(2), 4);
    EXPECT_EQ(released.scores(4), 10);
    EXPECT_EQ(released.signs(1), -1);
    EXPECT_LE(released.scores(1), -1);
}

TEST(ChoiceDealing, EndsWhereNoTrialIsLeft) {
    VectorXd scores = VectorXd::LinSpaced(1000, 0, 1), signs = VectorXd::Ones(1000);
    signs.tail(500).setConstant(-1);
    const ReleasedScores released = release_best(scores, signs, {2, 1}, [] { return 100L; });
    EXPECT_EQ(released.scores.size(), 10);
    EXPECT_EQ(released.trainings, 1000);
}

TEST(ReleasedDistribution, IsTheGeneratingFunctionOfTheCount) {
    EXPECT_NEAR(released_at_most({1, 1}, 0.3), 0.3, 1e-12);
    // Geometric: g u / (1 - (1 - g) u).
    const double g = 1.0 / 8;
    for (const double u : {0.0, 0.2, 0.9, 1.0})
        EXPECT_NEAR(released_at_most({8, 1}, u), g * u / (1 - (1 - g) * u), 1e-12) << u;
}

TEST(ReleasedDistribution, HasADistanceAndItsBound) {
    EXPECT_DOUBLE_EQ(distribution_distance(Eigen::Vector4d(0.125, 0.375, 0.625, 0.875)), 0.125);
    EXPECT_DOUBLE_EQ(distribution_distance(Eigen::Vector2d(0.9, 0.8)), 0.8);
    EXPECT_NEAR(distance_p_value(0.1, 100), 2 * std::exp(-2), 1e-12);
    EXPECT_EQ(distance_p_value(0, 10), 1);
}

struct ChoiceTrials {
    VectorXd scores, signs;
};
ChoiceTrials normal_trials(Index count, double mu, std::uint64_t seed) {
    SeededRandom random(seed, "choice trials");
    ChoiceTrials trials{VectorXd(count), VectorXd(count)};
    for (Index i = 0; i < count; ++i) {
        trials.signs(i) = random.below(2) == 0 ? 1 : -1;
        trials.scores(i) = trials.signs(i) * mu / 2 + random.normal();
    }
    return trials;
}

DrawnCount counts_of(const TrainingCount& count, std::uint64_t seed) {
    AuditConfig config;
    config.private_choice = count.mean;
    config.choice_shape = count.shape;
    config.train.noise_seed = seed;
    return drawn_counts(config);
}

ChoiceFigures figures_of(const ChoiceTrials& trials,
                         double mu,
                         const DrawnCount& draw,
                         double risk) {
    return measure_choices(trials.scores, trials.signs, mu, mu, {8, 1}, draw, {1e-5, 0.99, risk});
}

constexpr Index usual_trials = 18700;  // some 2000 choices of 8

TEST(ChoiceFigures, OfHonestChoicesAgree) {
    // P[false alarm of one] is at most 4 percent: two tests of 2 percent each.
    long alarms = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const ChoiceFigures figures =
            figures_of(normal_trials(usual_trials, 1.5, seed), 1.5, counts_of({8, 1}, seed), 0.02);
        EXPECT_GT(figures.choices, 1900);
        EXPECT_NEAR(figures.trainings_mean, 8, 0.9);
        EXPECT_GT(figures.epsilon_lower, 0.5);
        EXPECT_LT(figures.epsilon_lower, figures.cost.epsilon.upper);
        if (!figures.findings.empty()) ++alarms;
    }
    EXPECT_LE(alarms, 6);
}

TEST(ChoiceFigures, FindACountThatIsFixed) {
    const ChoiceFigures figures = figures_of(
        normal_trials(usual_trials, 1.5, 1), 1.5, [] { return 8L; }, 1e-3);
    ASSERT_EQ(figures.findings.size(), 1U);
    expect_contains(figures.findings.front(), "not drawn as accounted");
}

TEST(ChoiceFigures, FindACountWithFourTimesTheMean) {
    const ChoiceFigures figures =
        figures_of(normal_trials(usual_trials, 1.5, 1), 1.5, counts_of({32, 1}, 1), 1e-3);
    ASSERT_FALSE(figures.findings.empty());
    expect_contains(figures.findings.back(), "not drawn as accounted");
    EXPECT_GT(figures.trainings_mean, 20);
}

TEST(ChoiceFigures, FindMoreThanTheCost) {
    // ChoiceTrials show mu 4, the accountant says 1.
    const ChoiceTrials trials = normal_trials(usual_trials, 4, 1);
    const ChoiceFigures figures = measure_choices(
        trials.scores, trials.signs, 4, 0.2, {8, 1}, counts_of({8, 1}, 1), {1e-5, 0.99, 1e-3});
    ASSERT_EQ(figures.findings.size(), 1U);
    expect_contains(figures.findings.front(), "a private choice reveals epsilon");
}

TEST(ChoiceFigures, NeedEnoughTrials) {
    const std::string message = test::message_of<ConfigError>([] {
        (void)figures_of(
            normal_trials(3000, 1, 1), 1, [] { return 1L; }, 1e-3);
    });
    expect_contains(message, "400 choices or more");
    expect_contains(message, "trials suffice for 260 choices among 8 trainings on average");
}

TEST(ChoiceFigures, AreWrittenForPeopleAndPrograms) {
    ChoiceFigures figures;
    figures.count = {8, 1};
    figures.hypothesis = "worst";
    figures.choices = 2000;
    figures.cost.epsilon = {3, 2};
    figures.findings = {"x"};
    const test::Json json = choice_figures_json(figures);
    EXPECT_EQ(json.at("private_choice"), 8);
    EXPECT_EQ(json.at("choices"), 2000);
    EXPECT_EQ(json.at("epsilon_theory"), figures.cost.epsilon.upper);
    EXPECT_EQ(json.at("exceeds"), true);
    expect_contains(choice_figures_text(figures), "2000 choices");
    expect_contains(choice_figures_text(figures), "EXCEEDS");
}

}  // namespace
}  // namespace sotto

namespace sotto::test {
namespace {

constexpr int few_agents = 4;

AuditConfig choosing(const std::string& mechanism) {
    AuditConfig config = audit_config(mechanism, few_agents, 6);
    config.private_choice = 8;
    return config;
}

TEST(ChoiceAudit, OfARealRunAgreesWithTheAccountant) {
    for (const char* mechanism : {"ldp", "pairs"}) {
        AuditConfig config = choosing(mechanism);
        const TemporaryFolder folder;
        config.train.run_directory = folder.path("run");
        const LikelihoodResult result = audit<LikelihoodResult>(config);
        EXPECT_TRUE(result.consistent()) << audit_report_text(result);
        ASSERT_TRUE(result.choice);
        EXPECT_EQ(result.choice->choices, usual_choices);
        EXPECT_EQ(result.design.hypotheses.size(), 1U);
        const Json json = Json::parse(audit_report_json(result));
        EXPECT_EQ(json.at("choice").at("choices"), usual_choices);
        EXPECT_GT(json.at("choice").at("epsilon_theory"), json.at("choice").at("epsilon_one"));
        EXPECT_GT(json.at("choice").at("epsilon_lower"), 0);
        // The same recordings, with the same draws, and with another shape.
        config.run = config.train.run_directory;
        EXPECT_EQ(audit<LikelihoodResult>(config).choice->distance, result.choice->distance);
        config.private_choice = 4;
        config.choice_shape = 0.5;
        const LikelihoodResult again = audit<LikelihoodResult>(config);
        EXPECT_TRUE(again.consistent()) << audit_report_text(again);
        EXPECT_GT(again.choice->choices, usual_choices);
    }
}

TEST(ChoiceAudit, RefusesWhatHasNoCost) {
    const auto message = [](AuditConfig config) {
        const TemporaryFolder folder;
        config.train.run_directory = folder.path("run");
        return message_of<ConfigError>([&] { (void)audit<LikelihoodResult>(config); });
    };
    AuditConfig few = choosing("ldp");
    few.trials = 500;
    expect_contains(message(few), "400 choices or more");
    AuditConfig many = choosing("ldp");
    many.private_choice = 2000;
    many.trials.reset();
    const TemporaryFolder folder;
    many.train.run_directory = folder.path("run");
    expect_contains(message_of<ConfigError>([&] { (void)audit<LikelihoodResult>(many); }),
                    "--trials: 200000 trials suffice for");
    EXPECT_FALSE(std::filesystem::exists(*many.train.run_directory)) << "it ran first";
    AuditConfig broken = choosing("corn");
    broken.view = "node:1";
    expect_contains(message(broken), "no mu between 0 and infinity");
    expect_contains(message(choosing("homomorphic")), "no mu between 0 and infinity");
}

/// For every trial the first one of its choice, dealt as release_best deals.
std::vector<Eigen::Index> first_of_choice(const AuditConfig& config, const AuditDesign& design) {
    std::vector<Eigen::Index> source(static_cast<std::size_t>(design.trials));
    const Eigen::VectorXd signs = design.secret_signs();
    const TrainingCount count = choice_count(config);
    const DrawnCount draw = drawn_counts(config);
    for (const double sign : {1.0, -1.0}) {
        std::vector<Eigen::Index> trials;
        for (Eigen::Index i = 0; i < signs.size(); ++i)
            if (signs(i) == sign) trials.push_back(i);
        const long choices = choices_from(count, std::ssize(trials));
        std::size_t next = 0;
        for (long k = 0; k < choices; ++k)
            for (const std::size_t first = next, end = first + static_cast<std::size_t>(draw());
                 next < std::min(end, trials.size());
                 ++next)
                source[static_cast<std::size_t>(trials[next])] = trials[first];
        for (; next < trials.size(); ++next)
            source[static_cast<std::size_t>(trials[next])] = trials[next];
    }
    return source;
}

TEST(ChoiceSabotage, AnHonestPipelineIsConsistent) {
    const LikelihoodResult result = audit_pipeline(choosing("ldp"), {});
    EXPECT_TRUE(result.consistent()) << audit_report_text(result);
    ASSERT_TRUE(result.choice);
}

TEST(ChoiceSabotage, TrainingsThatShareTheirNoiseAreCaught) {
    const AuditConfig config = choosing("ldp");
    Sabotage sabotage;
    sabotage.objective =
        [&](auto inner, const auto& plan, auto rings, int agent, const auto& design) {
            const auto shared = [agent,
                                 source = first_of_choice(config, design)](const auto& noise) {
                Eigen::VectorXd own(noise.rows());
                for (Eigen::Index i = 0; i < own.size(); ++i)
                    own(i) = noise(source[static_cast<std::size_t>(i)], agent);
                return own;
            };
            return std::make_unique<ReplacedNoise>(std::move(inner), plan, rings, agent, shared);
        };
    sabotage.unclipped = true;
    const LikelihoodResult result = audit_pipeline(config, sabotage);
    ASSERT_TRUE(result.choice);
    ASSERT_FALSE(result.choice->findings.empty()) << audit_report_text(result);
    expect_contains(result.choice->findings.back(), "trainings share noise");
}

TEST(ChoiceSabotage, CountsThatAreNotDrawnAsAccountedAreCaught) {
    const AuditConfig config = choosing("pairs");
    AuditConfig more = config;
    more.private_choice = 32;
    for (const DrawnCount& draw : {DrawnCount([] { return 8L; }), drawn_counts(more)}) {
        Sabotage sabotage;
        sabotage.count = draw;
        const LikelihoodResult result = audit_pipeline(config, sabotage);
        ASSERT_TRUE(result.choice);
        ASSERT_FALSE(result.choice->findings.empty()) << audit_report_text(result);
        EXPECT_FALSE(result.consistent());
    }
}

}  // namespace
}  // namespace sotto::test
