#include "audit/choice_audit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "audit/audit_fixtures.hpp"
#include "audit/audit_run.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "training/choice_draws.hpp"

namespace sotto::test {
namespace {

using Eigen::VectorXd;

constexpr TrainingCount four_trainings{4, 1};
constexpr double choice_mu = 1;

/// ChoiceTrials as an honest audit has them: N(b choice_mu / 2, 1), signs b alternating.
struct ChoiceTrials {
    VectorXd scores, signs;
    explicit ChoiceTrials(unsigned seed, Eigen::Index count = 24000) : scores(count), signs(count) {
        std::mt19937_64 engine(seed);
        std::normal_distribution<double> normal;
        for (Eigen::Index i = 0; i < count; ++i) {
            signs(i) = i % 2 == 0 ? 1 : -1;
            scores(i) = signs(i) * choice_mu / 2 + normal(engine);
        }
    }
};

ChoiceFigures choice_figures_of(const ChoiceTrials& trials,
                                const DrawnCount& draw,
                                TrainingCount count = four_trainings) {
    return measure_choices(trials.scores,
                           trials.signs,
                           choice_mu,
                           choice_mu,
                           count,
                           draw,
                           {.delta = 1e-5, .level = 0.99, .risk = 0.005});
}

DrawnCount honest_draws(TrainingCount count, unsigned seed) {
    auto engine = std::make_shared<std::mt19937_64>(seed);
    return [count, engine] {
        return std::ssize(draw_configurations(count, 1, [&] { return (*engine)(); }));
    };
}

TEST(ChoiceAudit, KnowsTheDistributionOfWhatIsReleased) {
    std::mt19937_64 engine(3);
    double sum = 0;
    constexpr int draws = 40000;
    for (int i = 0; i < draws; ++i)
        sum += std::pow(
            0.7, std::ssize(draw_configurations(four_trainings, 1, [&] { return engine(); })));
    EXPECT_NEAR(sum / draws, released_at_most(four_trainings, 0.7), 0.005);
    EXPECT_EQ(released_at_most(four_trainings, 0), 0);
    EXPECT_EQ(released_at_most(four_trainings, 1), 1);
    // For eta = 1 the number is geometric with parameter 1 / 4.
    EXPECT_NEAR(released_at_most(four_trainings, 0.5), 0.25 * 0.5 / (1 - 0.75 * 0.5), 1e-12);
}

TEST(ChoiceAudit, OfHonestChoicesAgrees) {
    int alarms = 0;
    for (unsigned seed = 1; seed <= 60; ++seed) {
        const ChoiceFigures figures =
            choice_figures_of(ChoiceTrials(seed), honest_draws(four_trainings, seed));
        alarms += figures.findings.empty() ? 0 : 1;
        EXPECT_LE(figures.epsilon_lower, figures.cost.epsilon.upper);
        EXPECT_GT(figures.cost.epsilon.upper, figures.epsilon_one);
        EXPECT_NEAR(figures.trainings_mean, 4, 0.6);
        EXPECT_GE(figures.choices, 2000);
    }
    EXPECT_LE(alarms, 3);  // each at most with 1%
}

TEST(ChoiceAudit, ChargesWhatASweepCharges) {
    const PrivacyLoss one = PrivacyLoss::gaussian(choice_mu);
    const ChoiceFigures figures =
        choice_figures_of(ChoiceTrials(1), honest_draws(four_trainings, 1));
    EXPECT_EQ(figures.cost.epsilon.upper,
              choice_cost({&one, 1}, four_trainings, 1e-5).epsilon.upper);
    const auto json = choice_figures_json(figures);
    EXPECT_EQ(json.at("epsilon_theory"), figures.cost.epsilon.upper);
    EXPECT_EQ(json.at("choices"), figures.choices);
}

void expect_caught(const ChoiceFigures& figures) {
    ASSERT_FALSE(figures.findings.empty());
    EXPECT_NE(figures.findings.back().find("not drawn as accounted"), std::string::npos)
        << figures.findings.back();
}

TEST(ChoiceSabotage, AFixedNumberOfTrainingsIsCaught) {
    expect_caught(choice_figures_of(ChoiceTrials(1), [] { return 4L; }));
}

TEST(ChoiceSabotage, FourTimesAsManyTrainingsAreCaught) {
    expect_caught(choice_figures_of(ChoiceTrials(1), honest_draws({16, 1}, 2)));
}

TEST(ChoiceSabotage, TrainingsThatShareTheirNoiseAreCaught) {
    // The best of several equal scores is one score.
    expect_caught(choice_figures_of(ChoiceTrials(1), [] { return 1L; }));
}

TEST(ChoiceAudit, NeedsEnoughTrials) {
    expect_contains(message_of<ConfigError>(
                        [] { (void)choice_figures_of(ChoiceTrials(1, 1000), [] { return 4L; }); }),
                    "--trials: 1000 trials suffice for");
    EXPECT_THROW((void)choice_count(AuditConfig{}), ConfigError);
    EXPECT_GE(choices_from(four_trainings,
                           static_cast<long>(trials_for_choices(four_trainings, 400)) / 2),
              200);
    EXPECT_EQ(choices_from({1, 1}, 100), 100);
}

TEST(ChoiceAudit, LooksAtRealMessages) {
    AuditConfig config = audit_config("pairs", 6, 8);
    config.private_choice = 3;
    const TemporaryFolder folder;
    config.train.run_directory = folder.path("run");
    const LikelihoodResult result = audit<LikelihoodResult>(config);
    EXPECT_TRUE(result.consistent()) << audit_report_text(result);
    ASSERT_TRUE(result.choice);
    EXPECT_GE(result.choice->choices, usual_choices);
    EXPECT_EQ(result.design.hypotheses.size(), 1U);
    EXPECT_LT(result.choice->epsilon_lower, result.choice->cost.epsilon.upper);
    EXPECT_NEAR(result.choice->epsilon_one, result.design.hypotheses.front().epsilon_theory, 1e-6);
    EXPECT_TRUE(result.json().contains("choice"));
    expect_contains(result.tables(), "private choice:");
}

}  // namespace
}  // namespace sotto::test
