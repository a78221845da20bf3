#include "privacy/round_losses.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "privacy/sampled_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {
namespace {

double lattice_delta(const LatticeLoss& loss, double epsilon) {
    double sum = loss.infinite;
    for (std::size_t j = 0; j < loss.mass.size(); ++j) {
        const double at = loss.first + loss.step * static_cast<double>(j);
        if (at > epsilon) sum += loss.mass[j] * -std::expm1(epsilon - at);
    }
    return sum;
}

struct Case {
    double noise, probability, step;
};

class RoundLosses : public testing::TestWithParam<Case> {};

TEST_P(RoundLosses, BoundTheRoundFromBothSidesAtEveryEpsilonInBothDirections) {
    const auto [noise, probability, step] = GetParam();
    const RoundBounds bounds = bound_round(noise, probability, step, 1e-16);
    ASSERT_FALSE(bounds.lower.remove.mass.empty());
    for (const double epsilon : {-1.0, -0.3, -0.01, 0.0, 0.003, 0.1, 0.7, 2.0}) {
        const double removed = delta_of_one_round(noise, probability, epsilon, true);
        const double added = delta_of_one_round(noise, probability, epsilon, false);
        EXPECT_GE(lattice_delta(bounds.upper.remove, epsilon), removed - 1e-9) << epsilon;
        EXPECT_LE(lattice_delta(bounds.lower.remove, epsilon), removed + 1e-9) << epsilon;
        EXPECT_GE(lattice_delta(bounds.upper.add, epsilon), added - 1e-9) << epsilon;
        EXPECT_LE(lattice_delta(bounds.lower.add, epsilon), added + 1e-9) << epsilon;
        EXPECT_LE(lattice_delta(bounds.upper.remove, epsilon) -
                      lattice_delta(bounds.lower.remove, epsilon),
                  step)
            << epsilon;
    }
}

TEST_P(RoundLosses, AreProbabilitiesWithTheRatiosOfTheirPlaces) {
    const auto [noise, probability, step] = GetParam();
    const RoundBounds bounds = bound_round(noise, probability, step, 1e-16);
    const auto& p = bounds.upper.remove.mass;
    const auto& q = bounds.upper.add.mass;
    ASSERT_EQ(p.size(), q.size());
    // What lies beyond the lattice is at its ends, in one direction each.
    for (std::size_t j = 1; j + 1 < p.size(); j += 7) {
        EXPECT_GE(p[j], 0);
        const double ratio =
            std::exp(bounds.upper.remove.first + bounds.upper.remove.step * static_cast<double>(j));
        EXPECT_NEAR(p[j], ratio * q[p.size() - 1 - j], 1e-9 * p[j] + 1e-30);
    }
    for (const LatticeLoss* loss : {&bounds.upper.remove, &bounds.upper.add}) {
        EXPECT_NEAR(std::accumulate(loss->mass.begin(), loss->mass.end(), 0.0), 1, 1e-11);
    }
    // From below, denominators stay what they are.
    for (const LatticeLoss* loss : {&bounds.lower.remove, &bounds.lower.add}) {
        double numerator = 0, denominator = 0;
        for (std::size_t j = 0; j < loss->mass.size(); ++j) {
            EXPECT_GE(loss->mass[j], 0);
            numerator += loss->mass[j];
            denominator +=
                loss->mass[j] * std::exp(-loss->first - loss->step * static_cast<double>(j));
        }
        EXPECT_LE(numerator, 1 + 1e-11);
        EXPECT_NEAR(denominator, 1, 1e-9);
    }
}

INSTANTIATE_TEST_SUITE_P(Cases,
                         RoundLosses,
                         testing::Values(Case{1, 0.01, 1e-3},
                                         Case{0.5, 0.2, 0.02},
                                         Case{5, 0.1, 1e-3},
                                         Case{0.25, 0.6, 0.05},
                                         Case{2, 0.999, 0.01},
                                         Case{30, 0.01, 2e-6}));

TEST(RoundLosses, ComeCloseWithTheSquareOfTheStep) {
    const double exact = delta_of_one_round(1, 0.1, 0.2, true);
    double before = 0;
    for (const double step : {0.04, 0.02, 0.01}) {
        const RoundBounds bounds = bound_round(1, 0.1, step, 1e-18);
        const double gap =
            lattice_delta(bounds.upper.remove, 0.2) - lattice_delta(bounds.lower.remove, 0.2);
        EXPECT_LT(gap, step * step);
        if (before > 0) {
            EXPECT_LT(gap, 0.6 * before);
        }
        before = gap;
        EXPECT_NEAR(lattice_delta(bounds.upper.remove, 0.2), exact, step * step);
    }
}

TEST(RoundLosses, BoundTheRoundFromBelowWithAnyStepAndLittleNoise) {
    // Where cells are wider than all that there is, and where the record shows by itself.
    for (const auto& [noise, probability, step] :
         {Case{50, 0.01, 0.5}, Case{0.05, 0.01, 0.2}, Case{0.3, 1e-6, 0.01}}) {
        const RoundBounds bounds = bound_round(noise, probability, step, 1e-20);
        for (const double epsilon : {0.0, 1e-4, 0.5, 3.0}) {
            const double exact = delta_of_one_round(noise, probability, epsilon, true);
            EXPECT_LE(lattice_delta(bounds.lower.remove, epsilon), exact * (1 + 1e-6) + 1e-15);
            EXPECT_GE(lattice_delta(bounds.upper.remove, epsilon), exact * (1 - 1e-6));
        }
    }
    const RoundBounds loud = bound_round(0.05, 0.01, 0.2, 1e-20);
    EXPECT_NEAR(lattice_delta(loud.lower.remove, 3), 0.01, 1e-4);
}

TEST(RoundLosses, KnowWhereTheyEnd) {
    EXPECT_NEAR(sampled_loss(2, 0.3, 0.7), std::log(0.7 + 0.3 * std::exp(0.7 / 2 - 0.125)), 1e-15);
    EXPECT_GT(widest_loss({1, 0.5, 1}, 1e-10), 5);
    EXPECT_GT(widest_loss(allocated_rounds(1, 10, 1), 1e-10), 10);
    EXPECT_EQ(first_width(1, 1), 1);
    EXPECT_GT(first_width(5, 10'000), 1);
}

TEST(EpochLosses, BoundTwoRoundsFromBothSidesAtEveryEpsilonInBothDirections) {
    constexpr double quadrature = 2e-6;
    for (const double noise : {0.6, 1.0, 3.0}) {
        constexpr double step = 4e-3;
        const RoundBounds bounds = bound_epoch(noise, 2, step, 1e-16);
        for (const double epsilon : {-0.5, -0.01, 0.0, 0.05, 0.4, 1.5})
            for (const bool removed : {true, false}) {
                const double exact = delta_of_one_epoch(noise, epsilon, removed);
                const LatticeLosses &above = bounds.upper, &below = bounds.lower;
                const double upper = lattice_delta(removed ? above.remove : above.add, epsilon);
                const double lower = lattice_delta(removed ? below.remove : below.add, epsilon);
                EXPECT_GE(upper, exact - quadrature) << noise << " " << epsilon << " " << removed;
                EXPECT_LE(lower, exact + quadrature) << noise << " " << epsilon << " " << removed;
                EXPECT_LE(upper - lower, step) << noise << " " << epsilon << " " << removed;
            }
    }
}

TEST(EpochLosses, AreProbabilitiesWithTheRatiosOfTheirPlaces) {
    for (const long rounds : {2L, 3L, 7L, 100L}) {
        const RoundBounds bounds = bound_epoch(0.8, rounds, 0.02, 1e-14);
        for (const LatticeLoss* loss : {&bounds.upper.remove, &bounds.upper.add}) {
            const double mass = std::accumulate(loss->mass.begin(), loss->mass.end(), 0.0);
            EXPECT_NEAR(mass + loss->infinite, 1, 1e-9) << rounds;
            EXPECT_LE(loss->infinite, 1e-10) << rounds;
        }
        for (const LatticeLoss* loss : {&bounds.lower.remove, &bounds.lower.add}) {
            double numerator = 0, denominator = 0;
            for (std::size_t j = 0; j < loss->mass.size(); ++j) {
                EXPECT_GE(loss->mass[j], 0);
                numerator += loss->mass[j];
                denominator +=
                    loss->mass[j] * std::exp(-loss->first - loss->step * static_cast<double>(j));
            }
            EXPECT_LE(numerator, 1 + 1e-9) << rounds;
            EXPECT_LE(denominator, 1 + 1e-9) << rounds;
        }
    }
}

TEST(EpochLosses, RevealLessTheLongerTheyAre) {
    double before = 1;
    for (const long rounds : {2L, 8L, 64L, 1000L}) {
        const RoundBounds bounds = bound_epoch(1, rounds, 0.01, 1e-14);
        const double delta = lattice_delta(bounds.upper.remove, 0.3);
        EXPECT_LT(delta, 0.8 * before) << rounds;
        EXPECT_GT(lattice_delta(bounds.lower.remove, 0.3), 0.95 * delta) << rounds;
        before = delta;
    }
}

TEST(EpochLosses, WithTooManyCellsAreRefused) {
    EXPECT_THROW((void)bound_epoch(1, 10, 1e-9, 1e-14), ConfigError);
}

TEST(ExactParts, AreTheGaussianCurveAndRandomisedResponse) {
    EXPECT_EQ(exact_delta({4, 0}, 1.5), gdp_delta(2, 1.5));
    const double p = 1 / (1 + std::exp(-1.0));
    EXPECT_NEAR(exact_delta({0, 1}, 0.25), p * (1 - std::exp(-0.75)), 1e-15);
    EXPECT_EQ(exact_delta({0, 1}, 1.5), 0);
}

TEST(ExactParts, GoOnBelowZeroByDuality) {
    for (const ExactParts parts : {ExactParts{1, 0}, ExactParts{0, 0.7}, ExactParts{0.3, 0.7}})
        for (const double x : {0.1, 1.0, 3.0})
            EXPECT_NEAR(exact_delta(parts, -x),
                        1 - std::exp(-x) + std::exp(-x) * exact_delta(parts, x),
                        1e-14);
    EXPECT_NEAR(exact_delta({}, -2), 1 - std::exp(-2.0), 1e-15);
}

TEST(ExactParts, HaveTheMomentsOfTheirLosses) {
    EXPECT_NEAR(exact_log_moment({0.25, 0}, 3), 0.25 * 3 * 4 / 2, 1e-15);
    const double p = 1 / (1 + std::exp(-2.0));
    EXPECT_NEAR(exact_log_moment({0, 2}, 1.5),
                std::log(p * std::exp(3.0) + (1 - p) * std::exp(-3.0)),
                1e-14);
    EXPECT_EQ(exact_log_moment({}, 5), 0);
}

TEST(RoundMoments, OfTwoAreABinomialSum) {
    // E_P (P/Q) = E_Q (P/Q)^2 = 1 + q^2 (e^(1/s^2) - 1).
    const SampledRounds rounds{1.5, 0.2, 7};
    const RoundMoments moments({&rounds, 1}, {}, 1e-30);
    const double one = std::log1p(0.04 * std::expm1(1 / 2.25));
    EXPECT_NEAR(moments.log_moment(Direction::remove, 1), 7 * one, 1e-10);
    const RoundMoments more({&rounds, 1}, {0.5, 0}, 1e-30);
    EXPECT_NEAR(more.log_moment(Direction::remove, 1), 7 * one + 0.5, 1e-10);
}

TEST(RoundMoments, GiveAnUpperBoundOfEpsilonThatIsNotFar) {
    const SampledRounds rounds{1, 0.01, 1000};
    const RoundMoments moments({&rounds, 1}, {}, 1e-20);
    const TiltedEstimate epsilon = estimate_epsilon(moments, Direction::remove, 1e-5);
    EXPECT_GT(epsilon.value, 1.828);
    EXPECT_LT(epsilon.value, 2.2);
    const TiltedEstimate delta = estimate_log_delta(moments, Direction::remove, epsilon.value);
    EXPECT_NEAR(delta.value, std::log(1e-5), 1e-3);
}

}  // namespace
}  // namespace sotto
