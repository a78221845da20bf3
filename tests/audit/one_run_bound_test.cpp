#include "audit/one_run_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

double binomial(long trials, long hits, double p) {
    const auto n = static_cast<double>(trials), k = static_cast<double>(hits);
    return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                    k * std::log(p) + (n - k) * std::log1p(-p));
}

/// Theorem 5.2 word by word.
double p_value(long m, long r, long v, double epsilon, double delta) {
    const double p = std::exp(epsilon) / (1 + std::exp(epsilon));
    double beta = 0, alpha = 0;
    for (long k = v; k <= r; ++k) beta += binomial(r, k, p);
    for (long i = 1; i <= m; ++i) {
        double between = 0;
        for (long k = std::max(0L, v - i); k < v; ++k) between += binomial(r, k, p);
        alpha = std::max(alpha, 2 * between / static_cast<double>(i));
    }
    return std::min(1.0, beta + alpha * static_cast<double>(m) * delta);
}

TEST(OneRunPValue, IsThatOfTheTheorem) {
    for (const double epsilon : {0.0, 0.5, 2.0, 6.0})
        for (const double delta : {0.0, 1e-5, 1e-3})
            for (const long correct : {1L, 12L, 20L, 25L, 30L})
                EXPECT_NEAR(one_run_p_value(200, 30, correct, epsilon, delta),
                            p_value(200, 30, correct, epsilon, delta),
                            1e-10)
                    << epsilon << " " << delta << " " << correct;
    EXPECT_EQ(one_run_p_value(10, 5, 0, 1, 1e-5), 1);
}

TEST(OneRunEpsilon, OfGuessesThatAreAllCorrectHasAClosedForm) {
    // (e^epsilon / (1 + e^epsilon))^r = risk.
    for (const long guesses : {10L, 100L, 1000L}) {
        const double rate = std::pow(0.05, 1.0 / static_cast<double>(guesses));
        EXPECT_NEAR(
            one_run_epsilon(1000, guesses, guesses, 0, 0.05), std::log(rate / (1 - rate)), 1e-6);
    }
    // Half of them right tells nothing.
    EXPECT_EQ(one_run_epsilon(1000, 100, 50, 0, 0.05), 0);
    // Nothing can be said where delta could explain it all.
    EXPECT_EQ(one_run_epsilon(1000, 10, 10, 0.01, 0.05), 0);
    EXPECT_LT(one_run_epsilon(1000, 100, 95, 1e-4, 0.05), one_run_epsilon(1000, 100, 95, 0, 0.05));
}

TEST(MeasureOneRun, GuessesWhereScoresAreClear) {
    // Records answer truthfully with probability e^2 / (1 + e^2), and only a tenth says which.
    const double epsilon = 2, rate = std::exp(epsilon) / (1 + std::exp(epsilon));
    SeededRandom random(4, "one run");
    const Eigen::Index trials = 4000;
    Eigen::VectorXd scores(trials), signs(trials);
    for (Eigen::Index i = 0; i < trials; ++i) {
        signs(i) = random.below(2) == 0 ? -1 : 1;
        const double answer = (random.uniform() < rate ? 1 : -1) * signs(i);
        scores(i) = answer * (i % 10 == 0 ? 5 : 1e-3) + 1e-4 * random.uniform();
    }
    const OneRunFigures figures = measure_one_run(scores, signs, 1e-5, 0.01);
    EXPECT_LE(figures.epsilon_lower, epsilon);
    EXPECT_GT(figures.epsilon_lower, 1.4);
    EXPECT_GT(figures.correct, figures.guesses / 2);
}

TEST(MeasureOneRun, OfNothingFindsNothing) {
    SeededRandom random(5, "one run");
    int above = 0;
    for (int run = 0; run < 100; ++run) {
        Eigen::VectorXd scores(400), signs(400);
        for (Eigen::Index i = 0; i < 400; ++i) {
            signs(i) = random.below(2) == 0 ? -1 : 1;
            scores(i) = random.normal();
        }
        above += measure_one_run(scores, signs, 0, 0.05).epsilon_lower > 0 ? 1 : 0;
    }
    EXPECT_LE(above, 10);
}

TEST(OneRunPValue, RefusesWhatCannotBe) {
    EXPECT_THROW((void)one_run_p_value(10, 11, 5, 1, 0), ConfigError);
    EXPECT_THROW((void)one_run_p_value(10, 5, 6, 1, 0), ConfigError);
    EXPECT_THROW((void)one_run_p_value(10, 5, 5, -1, 0), ConfigError);
    EXPECT_THROW((void)one_run_p_value(10, 5, 5, 1, std::nan("")), ConfigError);
    EXPECT_THROW((void)one_run_epsilon(10, 5, 5, 0, 0), ConfigError);
}

}  // namespace
}  // namespace sotto
