#include "privacy/private_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr double delta = 1e-5;

TEST(PrivateChoice, TheNumberOfTrainingsHasItsMean) {
    for (const double shape : {-0.9, -0.5, 0.0, 0.5, 1.0, 2.0})
        for (const double mean : {1.0, 1.001, 4.0, 16.0, 1000.0}) {
            const TrainingCount count{mean, shape};
            const double g = stop_parameter(count);
            const double found =
                shape == 0 ? (g == 1 ? 1 : (1 / g - 1) / std::log(1 / g))
                           : (g == 1 ? 1 : shape * (1 - g) / (g * (1 - std::pow(g, shape))));
            EXPECT_NEAR(found, mean, 1e-6 * mean) << shape;
        }
    EXPECT_NEAR(stop_parameter({16, 1}), 1.0 / 16, 1e-12);
}

TEST(PrivateChoice, TrainingsAreDrawnFromTheDistribution) {
    std::mt19937_64 engine(3);
    std::uniform_real_distribution<double> uniform;
    for (const double shape : {-0.5, 0.0, 1.0, 2.0}) {
        const TrainingCount count{8, shape};
        constexpr int draws = 200'000;
        double sum = 0, hit = 0;
        for (int i = 0; i < draws; ++i) {
            const long k = draw_trainings(count, uniform(engine));
            ASSERT_GE(k, 1);
            sum += static_cast<double>(k);
            hit += 1 - std::pow(0.9, static_cast<double>(k));
        }
        EXPECT_NEAR(sum / draws, 8, 0.3) << shape;
        EXPECT_NEAR(hit / draws, reached(count, 0.1), 0.003) << shape;
    }
    EXPECT_EQ(draw_trainings({1, 1}, 0.999), 1);
}

TEST(PrivateChoice, EndsOfTheRangesAreRefused) {
    for (const TrainingCount& count : {TrainingCount{0.5, 1},
                                       TrainingCount{1e5, 1},
                                       TrainingCount{4, -1},
                                       TrainingCount{4, 11},
                                       TrainingCount{std::nan(""), 1},
                                       TrainingCount{4, std::nan("")}})
        EXPECT_THROW((void)stop_parameter(count), ConfigError);
}

TEST(PrivateChoice, OneTrainingCostsWhatItCosts) {
    const PrivacyLoss one = PrivacyLoss::gaussian(0.3);
    const ChoiceCost cost = choice_cost({&one, 1}, {1, 1}, delta);
    EXPECT_NEAR(cost.epsilon.upper, one.epsilon(delta).upper, 1e-12);
    EXPECT_NEAR(cost.epsilon.lower, one.epsilon(delta).upper, 1e-12);
}

/// Reference figures of a program in another language (shape, bound by Renyi divergences over
/// epsilon, best event over epsilon), with 16 trainings of epsilon 1 at delta 1e-5.
TEST(PrivateChoice, RenyiAndEventsAgreeWithAnIndependentProgram) {
    const PrivacyLoss one = PrivacyLoss::gaussian(gdp_mu(1, delta));
    const double renyi[] = {1.74, 2.00, 2.45}, lower[] = {1.17, 1.17, 1.17}, all = 4.75;
    const double shapes[] = {-0.5, 0, 1};
    for (int i = 0; i < 3; ++i) {
        const ChoiceCost cost = choice_cost({&one, 1}, {16, shapes[i]}, delta);
        EXPECT_NEAR(*cost.by_renyi, renyi[i], 0.006);
        EXPECT_NEAR(cost.epsilon.lower, lower[i], 0.006);
        EXPECT_NEAR(cost.added_up, all, 0.006);
        EXPECT_LT(cost.by_profile, *cost.by_renyi);
        EXPECT_GT(cost.by_profile, cost.epsilon.lower);
    }
}

TEST(PrivateChoice, SixteenTrainingsCostLessThanThreeTimesOne) {
    for (const double epsilon : {0.1, 0.5, 1.0, 3.0, 8.0}) {
        const PrivacyLoss one = PrivacyLoss::gaussian(gdp_mu(epsilon, delta));
        const ChoiceCost cost = choice_cost({&one, 1}, {16, 1}, delta);
        EXPECT_LT(cost.epsilon.upper, 2 * epsilon);
        EXPECT_GT(cost.added_up, 4.5 * epsilon);
    }
}

TEST(PrivateChoice, PureLossesKeepTheirKnownBound) {
    const PrivacyLoss one = PrivacyLoss::pure(0.5);
    const ChoiceCost cost = choice_cost({&one, 1}, {16, 1}, delta);
    EXPECT_LE(cost.epsilon.upper, (2 + 1) * 0.5 + 1e-9);  // (2 + eta) epsilon: Papernot, Steinke
    EXPECT_GE(cost.epsilon.upper, 0.5 - 1e-9);
}

TEST(PrivateChoice, SampledRoundsAreBoundedByTheProfileAlone) {
    const SampledRounds rounds{1, 0.01, 200};
    const PrivacyLoss losses[] = {PrivacyLoss::sampled({&rounds, 1}), PrivacyLoss::gaussian(0.2)};
    const ChoiceCost cost = choice_cost(losses, {16, 1}, delta);
    EXPECT_FALSE(cost.by_renyi);
    EXPECT_GT(cost.epsilon.upper, cost.one);
    EXPECT_LT(cost.epsilon.upper, 3 * cost.one);
}

TEST(PrivateChoice, WithoutNoiseNothingIsPromised) {
    const PrivacyLoss one = PrivacyLoss::gaussian(std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isinf(choice_cost({&one, 1}, {4, 1}, delta).epsilon.upper));
    const PrivacyLoss nothing;
    EXPECT_EQ(choice_cost({&nothing, 1}, {4, 1}, delta).epsilon.upper, 0);
}

/// A training with few outcomes on two neighbouring inputs; outcome k has score k / tie.
struct Outcomes {
    std::vector<double> here, there;

    [[nodiscard]] static double delta(const std::vector<double>& p,
                                      const std::vector<double>& q,
                                      double epsilon) {
        double sum = 0;
        for (std::size_t i = 0; i < p.size(); ++i)
            sum += std::max(p[i] - std::exp(epsilon) * q[i], 0.0);
        return sum;
    }
    [[nodiscard]] double delta(double epsilon) const {
        return std::max(delta(here, there, epsilon), delta(there, here, epsilon));
    }
};

/// Probabilities of the chosen outcome; equal scores win by lot.
std::vector<double> chosen(const std::vector<double>& one,
                           std::size_t tie,
                           const TrainingCount& count) {
    std::vector<double> all(one.size());
    double above = 0;
    for (std::size_t end = one.size(); end > 0;) {
        const std::size_t begin = (end - 1) / tie * tie;
        double same = 0;
        for (std::size_t i = begin; i < end; ++i) same += one[i];
        const double wins = reached(count, above + same) - reached(count, above);
        for (std::size_t i = begin; i < end; ++i) all[i] = same > 0 ? wins * one[i] / same : 0;
        above += same;
        end = begin;
    }
    return all;
}

/// The bound on delta of the choice against its exact value, for random mechanisms.
TEST(PrivateChoice, TheProfileBoundsEveryMechanismWithEveryScore) {
    std::mt19937_64 engine(5);
    std::uniform_real_distribution<double> uniform;
    double closest = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        const std::size_t size = 2 + engine() % 12;
        const double spread = 4 * uniform(engine);
        Outcomes outcomes{std::vector<double>(size), std::vector<double>(size)};
        double sum_here = 0, sum_there = 0;
        for (std::size_t i = 0; i < size; ++i) {
            outcomes.here[i] = std::exp(6 * uniform(engine));
            outcomes.there[i] = outcomes.here[i] * std::exp(spread * (uniform(engine) - 0.5));
            if (engine() % 20 == 0) outcomes.there[i] = 0;
            sum_here += outcomes.here[i];
            sum_there += outcomes.there[i];
        }
        if (sum_there == 0) continue;
        for (double& p : outcomes.here) p /= sum_here;
        for (double& p : outcomes.there) p /= sum_there;
        const TrainingCount count{1 + 40 * uniform(engine) * uniform(engine),
                                  -0.95 + 4 * uniform(engine)};
        const std::size_t tie = 1 + engine() % 3;
        const Outcomes choice{chosen(outcomes.here, tie, count),
                              chosen(outcomes.there, tie, count)};
        const double log_ratio = (1 + count.shape) * log_win_ratio(count, [&](double epsilon) {
                                     return outcomes.delta(epsilon);
                                 });
        for (const double epsilon : {0.0, 0.3, 1.0, 2.0, 4.0}) {
            const double bound = count.mean * outcomes.delta(epsilon);
            const double exact = choice.delta(epsilon + log_ratio);
            ASSERT_LE(exact, bound * (1 + 1e-9) + 1e-13) << trial << " " << epsilon;
            if (bound > 1e-6) closest = std::max(closest, exact / bound);
        }
    }
    EXPECT_GT(closest, 0.5);  // the bound is not far from what some mechanisms reveal
}

}  // namespace
}  // namespace sotto
