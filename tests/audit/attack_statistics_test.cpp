#include "audit/attack_statistics.hpp"

#include <gtest/gtest.h>

#include <array>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/seeded_random.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

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

TEST(Confidence, IsThePartOfANormalVariableWithinZ) {
    for (const double level : {0.1, 0.5, 0.95, 0.99, 1 - 1e-9})
        EXPECT_NEAR(std::erf(two_sided_z(level) / std::sqrt(2.0)), level, 1e-14) << level;
}

TEST(Confidence, LiesBetweenZeroAndOne) {
    for (const double level : {0.0, 1.0, -0.1, 2.0, std::nan("")})
        EXPECT_THROW((void)two_sided_z(level), ConfigError) << level;
}

VectorXd normals(Index count, double mean, std::uint64_t seed) {
    SeededRandom random(seed, "ranking statistics test");
    VectorXd result(count);
    for (double& value : result) value = mean + random.normal();
    return result;
}

TEST(RankingStatistics, AucIsTheShareOfPairsInOrder) {
    VectorXd positive(4), negative(5);
    positive << 3, 1, 2, 2;
    negative << 0, 2, 1, 5, -1;
    double pairs = 0;
    for (const double p : positive)
        for (const double n : negative) pairs += p > n ? 1 : p == n ? 0.5 : 0;
    EXPECT_DOUBLE_EQ(measure_ranking(positive, negative, 0.9).auc, pairs / 20);
}

TEST(RankingStatistics, TellsNormalsApartAsOftenAsTheoryHasIt) {
    // N(m, 1) exceeds N(0, 1) with probability Phi(m / sqrt 2); the best threshold gains 2 Phi(m /
    // 2) - 1.
    constexpr double mean = 1;
    const double auc = 0.5 * std::erfc(-mean / 2);
    const double advantage = std::erf(mean / 2 / std::sqrt(2));
    const RankingFigures figures =
        measure_ranking(normals(40000, mean, 1), normals(40000, 0, 2), 0.99);
    EXPECT_LT(figures.lower, auc);
    EXPECT_GT(figures.upper, auc);
    EXPECT_LT(figures.upper - figures.lower, 0.02);
    // Five standard errors of two rates of 20000 cases, and what a threshold near the best loses.
    EXPECT_NEAR(figures.advantage, advantage, 5 * std::sqrt(0.5 / 20000) + 0.005);
}

TEST(RankingStatistics, IntervalsHoldAsOftenAsTheySay) {
    constexpr int repetitions = 1000;
    const double auc = 0.5 * std::erfc(-0.5 / 2);
    int missed = 0;
    for (std::uint64_t i = 0; i < repetitions; ++i) {
        const RankingFigures figures =
            measure_ranking(normals(150, 0.5, 2 * i + 10), normals(120, 0, 2 * i + 11), 0.9);
        missed += auc < figures.lower || auc > figures.upper ? 1 : 0;
    }
    // 10%, five standard errors.
    EXPECT_NEAR(missed, 100, 5 * std::sqrt(repetitions * 0.1 * 0.9));
}

TEST(RankingStatistics, GainNothingFromScoresThatSayNothing) {
    const RankingFigures figures = measure_ranking(normals(4000, 0, 3), normals(4000, 0, 4), 0.99);
    EXPECT_LT(figures.lower, 0.5);
    EXPECT_GT(figures.upper, 0.5);
    EXPECT_NEAR(figures.advantage, 0, 5 * std::sqrt(0.5 / 2000));
    const VectorXd equal = VectorXd::Ones(10);
    EXPECT_EQ(measure_ranking(equal, equal, 0.99).auc, 0.5);
    EXPECT_EQ(measure_ranking(equal, equal, 0.99).advantage, 0);
}

TEST(RankingStatistics, RefuseTooFewScores) {
    EXPECT_THROW((void)measure_ranking(normals(1, 0, 5), normals(9, 0, 6), 0.9), ConfigError);
    EXPECT_THROW((void)measure_ranking(normals(9, 0, 5), normals(9, 0, 6), 1), ConfigError);
}

TEST(TradeOff, OfAGaussianMechanismIsItsCurveFromAbove) {
    const boost::math::normal normal;
    for (const double mu : {0.5, 1.0, 3.0}) {
        const TradeOff trade_off(PrivacyLoss::gaussian(mu), 1e-5);
        for (const double rate : {0.01, 0.05, 0.1, 0.3}) {
            const double exact = boost::math::cdf(normal, boost::math::quantile(normal, rate) + mu);
            EXPECT_GE(trade_off.true_positive_rate(rate), exact - 1e-12) << mu << " " << rate;
            EXPECT_LE(trade_off.true_positive_rate(rate), exact + 0.02) << mu << " " << rate;
        }
    }
}

TEST(TradeOff, OfSampledRoundsLiesBetweenNothingAndTheRoundsWithoutSampling) {
    const std::array rounds{SampledRounds{2, 0.2, 50}};
    const TradeOff sampled(PrivacyLoss::sampled(rounds), 1e-5);
    const TradeOff always(PrivacyLoss::gaussian(std::sqrt(50.0) / 2), 1e-5);
    for (const double rate : {0.0, 0.01, 0.1, 0.5, 1.0}) {
        EXPECT_GE(sampled.true_positive_rate(rate), rate);
        EXPECT_LE(sampled.true_positive_rate(rate), always.true_positive_rate(rate) + 1e-9);
        EXPECT_LE(sampled.true_positive_rate(rate), 1);
    }
}

Eigen::MatrixXd white(Eigen::Index dimensions, Eigen::Index samples, std::uint64_t seed) {
    SeededRandom random(seed, "white noise");
    Eigen::MatrixXd values(dimensions, samples);
    for (double& value : values.reshaped()) value = random.normal();
    return values;
}

TEST(Whiteness, IsNotDoubtedMoreOftenThanItSays) {
    int doubted = 0;
    constexpr int runs = 300;
    for (int run = 0; run < runs; ++run)
        if (test_whiteness(white(30, 400, static_cast<std::uint64_t>(run))).p_value < 0.05)
            ++doubted;
    EXPECT_LE(doubted, 0.05 * runs + 4 * std::sqrt(0.05 * runs));
}

TEST(Whiteness, SeesScaleAndCorrelation) {
    Eigen::MatrixXd values = white(20, 2000, 1);
    EXPECT_GT(test_whiteness(values).p_value, 0.01);
    EXPECT_LT(test_whiteness(1.03 * values).p_value, 1e-4);
    Eigen::MatrixXd correlated = values;
    correlated.row(3) = 0.98 * values.row(3) + std::sqrt(1 - 0.98 * 0.98) * values.row(7);
    EXPECT_LT(test_whiteness(correlated).p_value, 1e-6);
    Eigen::MatrixXd one = values;
    one.row(2) *= 1.3;
    EXPECT_LT(test_whiteness(one).p_value, 1e-6);
}

TEST(Whiteness, NeedsEnoughSamples) {
    EXPECT_NO_THROW((void)test_whiteness(white(3, fewest_white_samples, 1)));
    EXPECT_THROW((void)test_whiteness(white(3, fewest_white_samples - 1, 1)), ConfigError);
    EXPECT_EQ(test_whiteness(white(0, fewest_white_samples, 1)).p_value, 1);
}

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

TEST(OneRunMu, AgreesWithAnIndependentProgram) {
    std::ifstream file(SOTTO_SOURCE_DIR "/tests/golden/one_run_gaussian.json");
    const auto golden = nlohmann::json::parse(file);
    ASSERT_EQ(golden.at("cases").size(), 16U);
    for (const auto& one : golden.at("cases"))
        EXPECT_NEAR(
            one_run_mu(one.at("trials"), one.at("guesses"), one.at("correct"), one.at("risk")),
            one.at("mu").get<double>(),
            1e-6)
            << one.dump();
}

TEST(OneRunExcludes, GuessesOfOneCoinExactly) {
    // The best test of one coin is right with probability Phi(mu / 2).
    const boost::math::normal normal;
    const double mu = 1.3, most = boost::math::cdf(normal, mu / 2);
    const TradeOff trade_off(PrivacyLoss::gaussian(mu), 1e-7);
    const auto curve = [&](double rate) { return trade_off.false_positive_rate(rate); };
    EXPECT_FALSE(one_run_excludes(1, 1, 1, curve, most - 1e-6));
    EXPECT_TRUE(one_run_excludes(1, 1, 1, curve, most + 0.01));
    EXPECT_FALSE(one_run_excludes(1, 1, 0, curve, 0.9));
}

TEST(OneRunExcludes, TheTruthNoMoreOftenThanItsRiskAndHalfTheNoiseMostly) {
    const TradeOff truth(PrivacyLoss::gaussian(1), 1e-6);
    const auto curve = [&](double rate) { return truth.false_positive_rate(rate); };
    int false_alarms = 0, caught = 0, caught_by_pure_bounds = 0;
    for (std::uint64_t run = 0; run < 100; ++run) {
        const Trials honest = gaussian_trials(2000, 1, run);
        false_alarms += one_run_excludes(honest.scores, honest.signs, curve, 0.05) ? 1 : 0;
        const Trials half = gaussian_trials(2000, 2, 1000 + run);
        caught += one_run_excludes(half.scores, half.signs, curve, 0.05) ? 1 : 0;
        const double claimed = PrivacyLoss::gaussian(1).epsilon(1e-6).upper;
        caught_by_pure_bounds +=
            measure_one_run(half.scores, half.signs, 1e-6, 0.05).epsilon_lower > claimed ? 1 : 0;
    }
    EXPECT_LE(false_alarms, 10);
    EXPECT_GE(caught, 75);
    EXPECT_EQ(caught_by_pure_bounds, 0);  // what the curve is for
}

/// Canaries of one training whose claim is mu 1, of which a share is told apart by another mu.
struct Sabotage {
    double share = 1, mu = 1;
    int by_curve = 0, by_pure_bound = 0;  ///< of 100 audits that find it, at least and at most
};

/// How many of 100 audits find it at risk .05, by the accountant's own trade-off and by the bound
/// of 2023. docs/threat-models.md shows these figures.
TEST(OneRunExcludes, FourSabotagesMoreOftenThanTheBoundOf2023) {
    const TradeOff truth(PrivacyLoss::gaussian(1), 1e-6);
    const auto curve = [&](double rate) { return truth.false_positive_rate(rate); };
    const double claimed = PrivacyLoss::gaussian(1).epsilon(1e-6).upper;
    const Sabotage sabotages[] = {
        {1, 2, 75, 0},       // noise half as large
        {1, std::sqrt(2)},   // every record drawn twice in an epoch
        {0.2, 5, 90, 10},    // one record in five clipped to five times the norm
        {0.1, 100, 75, 10},  // noise missing in a tenth of the rounds
    };
    for (const Sabotage& sabotage : sabotages) {
        int caught = 0, caught_by_pure_bound = 0;
        for (std::uint64_t run = 0; run < 100; ++run) {
            SeededRandom random(run, "sabotage");
            constexpr Eigen::Index canaries = 2000;
            Eigen::VectorXd scores(canaries), signs(canaries);
            for (Eigen::Index i = 0; i < canaries; ++i) {
                const double mu = random.uniform() < sabotage.share ? sabotage.mu : 1;
                signs(i) = random.below(2) == 0 ? -1 : 1;
                scores(i) = mu * (signs(i) * mu / 2 + random.normal());
            }
            caught += one_run_excludes(scores, signs, curve, 0.05) ? 1 : 0;
            caught_by_pure_bound +=
                measure_one_run(scores, signs, 1e-6, 0.05).epsilon_lower > claimed ? 1 : 0;
        }
        EXPECT_GE(caught, sabotage.by_curve);
        EXPECT_GE(caught, caught_by_pure_bound);
        EXPECT_LE(caught_by_pure_bound, sabotage.by_pure_bound);
    }
}

TEST(MeasureOneRun, OfGaussianNoiseBoundsMoreByItsCurve) {
    for (const double mu : {1.0, 2.0}) {
        const Trials trials = gaussian_trials(20000, mu, 3);
        const OneRunFigures figures = measure_one_run(trials.scores, trials.signs, 1e-6, 0.05);
        const double truth = PrivacyLoss::gaussian(mu).epsilon(1e-6).upper;
        EXPECT_GT(figures.gaussian_epsilon_lower, 1.2 * figures.epsilon_lower);
        EXPECT_GT(figures.gaussian_epsilon_lower, 0.4 * truth);
        EXPECT_LE(figures.gaussian_epsilon_lower, truth);
    }
}

TEST(TradeOff, BoundsBothRatesAlike) {
    const TradeOff trade_off(PrivacyLoss::gaussian(1.5), 1e-5);
    for (const double rate : {0.0, 1e-4, 0.03, 0.5, 0.9, 1.0}) {
        const double least = trade_off.false_positive_rate(rate);
        EXPECT_GE(least, 0);
        EXPECT_LE(least, rate);
        EXPECT_GE(trade_off.true_positive_rate(least), rate - 1e-12);
    }
}

TEST(OneRunPValue, RefusesWhatCannotBe) {
    EXPECT_THROW((void)one_run_p_value(10, 11, 5, 1, 0), ConfigError);
    EXPECT_THROW((void)one_run_p_value(10, 5, 6, 1, 0), ConfigError);
    EXPECT_THROW((void)one_run_p_value(10, 5, 5, -1, 0), ConfigError);
    EXPECT_THROW((void)one_run_p_value(10, 5, 5, 1, std::nan("")), ConfigError);
    EXPECT_THROW((void)one_run_epsilon(10, 5, 5, 0, 0), ConfigError);
    EXPECT_THROW((void)one_run_mu(10, 11, 5, 0.05), ConfigError);
    EXPECT_THROW((void)one_run_mu(10, 5, 5, 1), ConfigError);
}

}  // namespace
}  // namespace sotto
