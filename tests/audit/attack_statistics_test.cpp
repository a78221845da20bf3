#include "audit/attack_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/seeded_random.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {
namespace {

struct Trials {
    Eigen::VectorXd scores, signs;
};
Trials gaussian_trials(long n, double mu, std::uint64_t seed, double scale = 1) {
    SeededRandom random(seed, "attack statistics test");
    Trials trials{Eigen::VectorXd(n), Eigen::VectorXd(n)};
    for (long i = 0; i < n; ++i) {
        trials.signs(i) = random.below(2) == 0 ? 1 : -1;
        trials.scores(i) = scale * (trials.signs(i) * mu / 2 + random.normal());
    }
    return trials;
}

TEST(RateAtMost, IsTheBoundOfClopperAndPearson) {
    EXPECT_EQ(rate_at_most(40, 40, 0.05), 1);
    EXPECT_NEAR(rate_at_most(0, 40, 0.05), 1 - std::pow(0.05, 1.0 / 40), 1e-12);
    EXPECT_NEAR(rate_at_most(5, 100, 0.025), 0.1128, 5e-5);  // of the usual tables
    // P[hits or fewer] is the risk.
    const double rate = rate_at_most(2, 30, 0.01);
    double probability = 0, term = std::pow(1 - rate, 30);
    for (int k = 0; k <= 2; ++k) {
        probability += term;
        term *= (30 - k) / (k + 1.0) * rate / (1 - rate);
    }
    EXPECT_NEAR(probability, 0.01, 1e-10);
}

TEST(AttackStatistics, MuIsThatOfTheScoresWhateverTheirScale) {
    for (const double mu : {0.3, 1.0, 3.0})
        for (const double scale : {1.0, 1e-6}) {
            const Trials trials = gaussian_trials(20000, mu, 1, scale);
            const AttackFigures figures = measure_attack(trials.scores, trials.signs, 1e-5, 0.99);
            EXPECT_NEAR(figures.mu, mu, 0.06);
            EXPECT_LT(figures.lower, figures.mu);
            EXPECT_GT(figures.upper, figures.mu);
        }
}

TEST(AttackStatistics, IntervalsCoverMuAsOftenAsTheySay) {
    int covered = 0, above = 0;
    constexpr int runs = 400;
    for (int run = 0; run < runs; ++run) {
        const Trials trials = gaussian_trials(400, 1.5, 100 + static_cast<std::uint64_t>(run));
        const AttackFigures figures = measure_attack(trials.scores, trials.signs, 1e-5, 0.95);
        covered += figures.lower <= 1.5 && 1.5 <= figures.upper ? 1 : 0;
        above += figures.epsilon_lower > gdp_epsilon(1.5, 1e-5) ? 1 : 0;
    }
    EXPECT_NEAR(covered, 0.95 * runs, 4 * std::sqrt(0.95 * 0.05 * runs));
    EXPECT_LE(above, 0.05 * runs);
}

TEST(AttackStatistics, TheWidthIsWhatTheTrialsWereChosenFor) {
    for (const double mu : {0.5, 2.0}) {
        const auto n = static_cast<long>(trials_for_width(mu, 0.05, 0.99));
        const Trials trials = gaussian_trials(n, mu, 5);
        const AttackFigures figures = measure_attack(trials.scores, trials.signs, 1e-5, 0.99);
        EXPECT_NEAR((figures.upper - figures.lower) / 2, 0.05 * mu, 0.003 * mu);
    }
}

TEST(AttackStatistics, EpsilonOfRandomisedResponseIsFound) {
    // Answers that are true with probability 3/4: epsilon = log 3, whatever the attack.
    SeededRandom random(1, "randomised response");
    constexpr long n = 40000;
    Eigen::VectorXd scores(n), signs(n);
    for (long i = 0; i < n; ++i) {
        signs(i) = random.below(2) == 0 ? 1 : -1;
        scores(i) = random.below(4) == 0 ? -signs(i) : signs(i);
    }
    const AttackFigures figures = measure_attack(scores, signs, 0, 0.99);
    EXPECT_LE(figures.epsilon_lower, std::log(3.0));
    EXPECT_GT(figures.epsilon_lower, std::log(3.0) - 0.12);
}

TEST(AttackStatistics, RefuseTooFewTrials) {
    const Trials trials = gaussian_trials(50, 1, 1);
    EXPECT_THROW((void)measure_attack(trials.scores, trials.signs, 1e-5, 0.99), ConfigError);
    EXPECT_THROW((void)measure_attack(trials.scores, Eigen::VectorXd(3), 1e-5, 0.99), ConfigError);
    EXPECT_THROW((void)trials_for_width(0, 0.05, 0.99), ConfigError);
}

}  // namespace
}  // namespace sotto
