#include "sotto/privacy/privacy_loss.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/test_support.hpp"
#include "privacy/privacy_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;
using test::relatively_near;

const std::vector<double> composed_epsilons{0, 1e-3, 0.1, 0.7, 1, 3, 10};
const std::vector<double> composed_deltas{1e-12, 1e-9, 1e-5, 1e-3, 0.1, 0.5};

/// Losses of every kind, all finite.
std::vector<PrivacyLoss> sample_losses() {
    std::vector<PrivacyLoss> losses;
    for (const double mu : {0.0, 0.01, 0.3, 1.0, 2.5})
        for (const double epsilon : {0.0, 0.02, 0.5, 2.0}) {
            losses.push_back(PrivacyLoss::gaussian(mu));
            losses.push_back(PrivacyLoss::pure(epsilon));
            losses.push_back(compose(losses[losses.size() - 2], losses.back()));
        }
    return losses;
}

/// A distribution of privacy losses on multiples of a step, by number of steps.
using LossDistribution = std::map<long, double>;
constexpr double step = 1.0 / 256;

/// Every loss is rounded up (or down), so that delta is a bound from above (or below).
long steps_of(double loss, bool up) {
    return static_cast<long>(up ? std::ceil(loss / step) : std::floor(loss / step));
}

/// N(mu, 1) against N(0, 1): losses are N(mu^2 / 2, mu^2).
LossDistribution of_gaussian(double mu, bool up) {
    const auto below = [&](long steps) {
        const double loss = static_cast<double>(steps) * step;
        return 0.5 * std::erfc((mu * mu / 2 - loss) / (mu * std::sqrt(2.0)));
    };
    const long first = steps_of(mu * mu / 2 - 9 * mu, false);
    const long last = steps_of(mu * mu / 2 + 9 * mu, true);
    LossDistribution result;
    for (long k = first; k < last; ++k) result[up ? k + 1 : k] += below(k + 1) - below(k);
    return result;
}

LossDistribution of_randomised_response(double epsilon, bool up) {
    const double likely = 1 / (1 + std::exp(-epsilon));
    LossDistribution result;
    result[steps_of(epsilon, up)] += likely;
    result[steps_of(-epsilon, up)] += 1 - likely;
    return result;
}

/// One Laplace variable of scale 1 and a shift of epsilon.
LossDistribution of_laplace(double epsilon, bool up) {
    LossDistribution result;
    result[steps_of(epsilon, up)] += 0.5;
    result[steps_of(-epsilon, up)] += 0.5 * std::exp(-epsilon);
    const long cells = 4 * steps_of(epsilon, true);
    for (long k = 0; k < cells; ++k) {
        const double begin = epsilon * static_cast<double>(k) / static_cast<double>(cells);
        const double end = epsilon * static_cast<double>(k + 1) / static_cast<double>(cells);
        result[steps_of(epsilon - 2 * (up ? begin : end), up)] +=
            0.5 * (std::exp(-begin) - std::exp(-end));
    }
    return result;
}

LossDistribution convolved(const LossDistribution& a, const LossDistribution& b) {
    LossDistribution result;
    for (const auto& [k, p] : a)
        for (const auto& [l, q] : b) result[k + l] += p * q;
    return result;
}

/// E max(0, 1 - e^(epsilon - loss)).
double delta_of(const LossDistribution& losses, double epsilon) {
    double delta = 0;
    for (const auto& [steps, p] : losses)
        delta += p * std::max(0.0, -std::expm1(epsilon - static_cast<double>(steps) * step));
    return delta;
}

TEST(PrivacyLoss, OfGaussianNoiseIsTheGdpCurve) {
    for (const double mu : {0.0, 0.01, 0.3, 1.0, 2.5, 30.0}) {
        const PrivacyLoss loss = PrivacyLoss::gaussian(mu);
        EXPECT_EQ(loss.mu(), mu);
        for (const double epsilon : composed_epsilons) {
            EXPECT_EQ(loss.delta(epsilon).upper, gdp_delta(mu, epsilon));
            EXPECT_EQ(loss.delta(epsilon).lower, gdp_delta(mu, epsilon));
        }
        for (const double delta : composed_deltas) {
            EXPECT_EQ(loss.epsilon(delta).upper, gdp_epsilon(mu, delta));
            EXPECT_EQ(loss.epsilon(delta).lower, gdp_epsilon(mu, delta));
        }
        EXPECT_EQ(loss.epsilon(0).upper, mu > 0 ? infinity : 0);
    }
}

TEST(PrivacyLoss, OfLaplaceNoiseIsPureAndTheCurveThatOfRandomisedResponse) {
    for (const double pure : {1e-3, 0.5, 3.0, 40.0}) {
        const PrivacyLoss loss = PrivacyLoss::pure(pure);
        EXPECT_EQ(loss.epsilon(0).upper, pure);
        EXPECT_EQ(loss.epsilon(0).lower, pure);
        EXPECT_FALSE(loss.mu().has_value());
        EXPECT_EQ(loss.delta(pure).upper, 0);
        EXPECT_TRUE(relatively_near(loss.delta(0).upper, std::tanh(pure / 2), 1e-14));
        for (const double epsilon : composed_epsilons)
            if (epsilon < pure) {
                EXPECT_TRUE(
                    relatively_near(loss.delta(epsilon).upper,
                                    (std::exp(pure) - std::exp(epsilon)) / (1 + std::exp(pure)),
                                    1e-13));
            }
    }
}

TEST(PrivacyLoss, EpsilonAndDeltaAreInverse) {
    for (const PrivacyLoss& loss : sample_losses())
        for (const double delta : composed_deltas) {
            const Certified epsilon = loss.epsilon(delta);
            EXPECT_LE(epsilon.lower, epsilon.upper);
            EXPECT_LE(epsilon.upper - epsilon.lower, 1e-12 * epsilon.upper);
            if (epsilon.upper == 0) {
                EXPECT_LE(loss.delta(0).upper, delta);
            } else {
                EXPECT_NEAR(loss.delta(epsilon.upper).upper, delta, 1e-9 * delta + 1e-15);
                EXPECT_GE(loss.delta(0).upper, delta);
            }
        }
}

TEST(PrivacyLoss, EpsilonOfBothKindsIsTheEndOfItsIntervalThatHolds) {
    for (const double mu : {0.05, 0.3, 1.0, 2.5})
        for (const double pure : {0.01, 0.5, 2.0})
            for (const double delta : composed_deltas) {
                const PrivacyLoss loss =
                    compose(PrivacyLoss::gaussian(mu), PrivacyLoss::pure(pure));
                const Certified epsilon = loss.epsilon(delta);
                EXPECT_LE(loss.delta(epsilon.upper).upper, delta);
                // Basic composition above, each part alone below.
                EXPECT_LE(epsilon.upper, gdp_epsilon(mu, delta) + pure);
                EXPECT_GE(epsilon.lower, gdp_epsilon(mu, delta));
                EXPECT_GE(epsilon.lower, PrivacyLoss::pure(pure).epsilon(delta).upper);
            }
}

TEST(PrivacyLoss, ComposesInAnyOrder) {
    // Dyadic numbers: their sums are exact.
    const std::vector<PrivacyLoss> parts{PrivacyLoss::gaussian(0.5),
                                         PrivacyLoss::pure(0.25),
                                         PrivacyLoss::gaussian(2),
                                         PrivacyLoss::pure(1.5),
                                         PrivacyLoss()};
    for (const PrivacyLoss& a : parts)
        for (const PrivacyLoss& b : parts) {
            EXPECT_EQ(compose(a, b), compose(b, a));
            EXPECT_EQ(compose(a, PrivacyLoss()), a);
            for (const PrivacyLoss& c : parts)
                EXPECT_EQ(compose(compose(a, b), c), compose(a, compose(b, c)));
        }
}

TEST(PrivacyLoss, AddsUpSquaresOfMuAndPureEpsilons) {
    PrivacyLoss gaussian, pure;
    for (int i = 0; i < 9; ++i) {
        gaussian += PrivacyLoss::gaussian(0.5);
        pure += PrivacyLoss::pure(0.5);
    }
    EXPECT_EQ(gaussian.mu(), 1.5);
    EXPECT_EQ(gaussian.amount().value, 9 * 0.25);
    EXPECT_EQ(gaussian.amount().name, "mu^2");
    EXPECT_EQ(gaussian.parameter().name, "mu");
    EXPECT_EQ(pure.epsilon(0).upper, 4.5);
    EXPECT_EQ(pure.amount().value, 4.5);
    EXPECT_EQ(pure.amount().name, "epsilon");
    EXPECT_EQ(gaussian.with_amount(4), PrivacyLoss::gaussian(2));
    EXPECT_EQ(pure.with_amount(4), PrivacyLoss::pure(4));
    const PrivacyLoss both = compose(gaussian, pure);
    EXPECT_FALSE(both.mu().has_value());
    EXPECT_THROW((void)both.amount(), PrivacyError);
    EXPECT_THROW((void)both.parameter(), PrivacyError);
    EXPECT_THROW((void)both.with_amount(1), PrivacyError);
}

TEST(PrivacyLoss, GivesBackEveryMuBitForBit) {
    SeededRandom random(11, "privacy loss");
    for (int i = 0; i < 10000; ++i) {
        const double mu = std::exp(20 * (random.uniform() - 0.5));
        EXPECT_EQ(PrivacyLoss::gaussian(mu).mu(), mu);
        EXPECT_EQ(PrivacyLoss::gaussian(mu).amount().value, mu * mu);
        for (const auto noise : {StreamDistribution::gaussian, StreamDistribution::laplace})
            EXPECT_EQ(loss_of_distance(noise, mu).parameter().value, mu);
    }
}

TEST(PrivacyLoss, OfBothKindsIsTheConvolutionWithRandomisedResponse) {
    for (const double mu : {0.5, 1.5})
        for (const double pure : {0.25, 1.0, 2.0}) {
            const PrivacyLoss loss = compose(PrivacyLoss::gaussian(mu), PrivacyLoss::pure(pure));
            const auto upper = convolved(of_gaussian(mu, true), of_randomised_response(pure, true));
            const auto lower =
                convolved(of_gaussian(mu, false), of_randomised_response(pure, false));
            for (const double epsilon : {0.0, 0.5, 1.0, 2.0, 4.0}) {
                const Certified delta = loss.delta(epsilon);
                EXPECT_LE(delta.upper, delta_of(upper, epsilon) + 1e-15) << mu << " " << pure;
                EXPECT_GE(delta.lower, delta_of(lower, epsilon) - 1e-15) << mu << " " << pure;
                // The two are close: the grid is fine.
                EXPECT_LT(delta_of(upper, epsilon) - delta_of(lower, epsilon), 4 * step);
            }
        }
}

TEST(PrivacyLoss, BoundsGaussianAndLaplaceNoiseTogether) {
    for (const double mu : {0.5, 1.5})
        for (const double shift : {0.25, 1.0}) {
            const PrivacyLoss loss = compose(loss_of_distance(StreamDistribution::gaussian, mu),
                                             loss_of_distance(StreamDistribution::laplace, shift));
            const auto lower = convolved(of_gaussian(mu, false), of_laplace(shift, false));
            for (const double epsilon : {0.0, 0.5, 1.0, 2.0, 4.0}) {
                const double truth = delta_of(lower, epsilon);
                EXPECT_GE(loss.delta(epsilon).upper, truth);
                if (truth < 1e-6) continue;
                EXPECT_GE(loss.epsilon(truth).upper, epsilon);
                // Less would not do: one part alone leaks less.
                EXPECT_GT(loss.delta(epsilon).upper, gdp_delta(mu, epsilon));
            }
        }
}

TEST(PrivacyLoss, BoundsSeveralPureParts) {
    const PrivacyLoss loss = compose(compose(PrivacyLoss::pure(0.25), PrivacyLoss::pure(0.5)),
                                     PrivacyLoss::gaussian(0.5));
    const auto lower = convolved(
        of_gaussian(0.5, false),
        convolved(of_randomised_response(0.25, false), of_randomised_response(0.5, false)));
    for (const double epsilon : {0.0, 0.25, 0.5, 1.0, 2.0})
        EXPECT_GE(loss.delta(epsilon).upper, delta_of(lower, epsilon));
    EXPECT_EQ(compose(PrivacyLoss::pure(0.25), PrivacyLoss::pure(0.5)), PrivacyLoss::pure(0.75));
}

TEST(PrivacyLoss, OfEverythingStaysSo) {
    for (const PrivacyLoss& everything :
         {PrivacyLoss::gaussian(infinity), PrivacyLoss::pure(infinity)})
        for (const PrivacyLoss& other : sample_losses())
            for (const PrivacyLoss& loss :
                 {compose(everything, other), compose(other, everything)}) {
                EXPECT_TRUE(loss.infinite());
                EXPECT_EQ(loss.epsilon(1e-5).upper, infinity);
                EXPECT_EQ(loss.epsilon(1e-5).lower, infinity);
                EXPECT_EQ(loss.delta(3).upper, 1);
                EXPECT_TRUE(other.less_at(1e-5, loss));
                EXPECT_FALSE(loss.less_at(1e-5, other));
            }
    for (const PrivacyLoss& loss : sample_losses()) EXPECT_FALSE(loss.infinite());
    EXPECT_EQ(PrivacyLoss::gaussian(infinity).mu(), infinity);
}

TEST(PrivacyLoss, OfNothingIsZero) {
    const PrivacyLoss nothing;
    EXPECT_EQ(nothing.mu(), 0.0);
    EXPECT_EQ(nothing.epsilon(0).upper, 0);
    EXPECT_EQ(nothing.delta(0).upper, 0);
    // A pure part of epsilon 0 reveals as little, but is no mu-GDP mechanism by its noise.
    EXPECT_FALSE(PrivacyLoss::pure(0).mu().has_value());
    EXPECT_EQ(PrivacyLoss::pure(0).epsilon(1e-5).upper, 0);
}

TEST(PrivacyLoss, RefusesWhatIsNoLoss) {
    for (const double wrong : {not_a_number, -1e-300, -1.0, -infinity}) {
        EXPECT_THROW((void)PrivacyLoss::gaussian(wrong), PrivacyError) << wrong;
        EXPECT_THROW((void)PrivacyLoss::pure(wrong), PrivacyError) << wrong;
        for (const auto noise : {StreamDistribution::gaussian, StreamDistribution::laplace}) {
            EXPECT_THROW((void)loss_of_distance(noise, wrong), PrivacyError) << wrong;
            EXPECT_THROW((void)loss_of_squared_distance(noise, wrong), PrivacyError) << wrong;
        }
    }
    const PrivacyLoss loss = PrivacyLoss::gaussian(1);
    for (const double delta : {-1e-9, 1.0, 2.0, not_a_number})
        EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)loss.epsilon(delta); }), "delta"));
    for (const double epsilon : {-1e-9, infinity, not_a_number})
        EXPECT_TRUE(
            contains(message_of<ConfigError>([&] { (void)loss.delta(epsilon); }), "epsilon"));
}

TEST(PrivacyLoss, IsOrderedByWhatIsWorseAtADelta) {
    for (const PrivacyLoss& a : sample_losses())
        for (const PrivacyLoss& b : sample_losses())
            for (const double delta : {1e-9, 1e-5, 1e-2}) {
                EXPECT_FALSE(a.less_at(delta, b) && b.less_at(delta, a));
                if (a.less_at(delta, b)) {
                    EXPECT_LE(a.epsilon(delta).lower, b.epsilon(delta).upper * (1 + 1e-12));
                } else {
                    EXPECT_GE(a.epsilon(delta).upper * (1 + 1e-12), b.epsilon(delta).lower);
                }
            }
    // Gaussian losses go by mu, even where epsilon is 0 for both.
    EXPECT_TRUE(PrivacyLoss::gaussian(1e-7).less_at(1e-5, PrivacyLoss::gaussian(2e-7)));
    // Which of two kinds is worse depends on delta.
    const PrivacyLoss gaussian = PrivacyLoss::gaussian(0.3), pure = PrivacyLoss::pure(1);
    EXPECT_TRUE(gaussian.less_at(1e-3, pure));
    EXPECT_TRUE(pure.less_at(1e-12, gaussian));
}

TEST(PrivacyLoss, IsWithinALimitPartByPart) {
    const PrivacyLoss limit = PrivacyLoss::gaussian(2);
    EXPECT_TRUE(limit.within(limit, 0));
    EXPECT_TRUE(PrivacyLoss::gaussian(2 * (1 + 1e-10)).within(limit, 1e-9));
    EXPECT_FALSE(PrivacyLoss::gaussian(2 * (1 + 1e-8)).within(limit, 1e-9));
    EXPECT_FALSE(PrivacyLoss::gaussian(infinity).within(limit, 1e-9));
    EXPECT_FALSE(PrivacyLoss::pure(1e-3).within(limit, 1e-9)) << "a limit of another kind";
    EXPECT_FALSE(compose(limit, PrivacyLoss::pure(1e-3)).within(limit, 1e-9));
    EXPECT_TRUE(PrivacyLoss().within(PrivacyLoss(), 0));
}

TEST(LossOfDistance, IsInvertedByTheLargestDistance) {
    for (const auto noise : {StreamDistribution::gaussian, StreamDistribution::laplace})
        for (const double distance : {0.0, 1e-3, 0.7, 12.0}) {
            const PrivacyLoss loss = loss_of_distance(noise, distance);
            EXPECT_EQ(loss.parameter().value, distance);
            EXPECT_EQ(loss, loss_of_squared_distance(noise, distance * distance));
            EXPECT_EQ(largest_squared_distance(noise, loss), distance * distance);
        }
    // A limit for other noise allows nothing.
    EXPECT_EQ(largest_squared_distance(StreamDistribution::laplace, PrivacyLoss::gaussian(1)), 0);
    EXPECT_EQ(largest_squared_distance(StreamDistribution::gaussian, PrivacyLoss::pure(1)), 0);
}

TEST(StatedDelta, IsZeroWhereEpsilonsArePure) {
    EXPECT_EQ(stated_delta(StreamDistribution::gaussian, 1e-5), 1e-5);
    EXPECT_EQ(stated_delta(StreamDistribution::laplace, 1e-5), 0);
}

const SampledRounds some_rounds{1.5, 0.05, 100};
const PrivacyLoss some_sampled = PrivacyLoss::sampled({&some_rounds, 1});

TEST(SampledLoss, ComposesInAnyOrderAndMergesRoundsOfOneKind) {
    const std::vector<SampledRounds> twice{{1.5, 0.05, 200}};
    EXPECT_EQ(compose(some_sampled, some_sampled), PrivacyLoss::sampled(twice));
    const PrivacyLoss gaussian = PrivacyLoss::gaussian(0.5), pure = PrivacyLoss::pure(0.25);
    EXPECT_EQ(compose(compose(gaussian, some_sampled), pure),
              compose(some_sampled, compose(pure, gaussian)));
    EXPECT_EQ(compose(some_sampled, PrivacyLoss()), some_sampled);
}

TEST(SampledLoss, HasNoMuAndNoAmountButANoiseMultiplier) {
    EXPECT_FALSE(some_sampled.mu().has_value());
    EXPECT_FALSE(some_sampled.infinite());
    EXPECT_THROW((void)some_sampled.amount(), PrivacyError);
    EXPECT_THROW((void)some_sampled.with_amount(1), PrivacyError);
    EXPECT_EQ(some_sampled.parameter().value, 1.5);
    EXPECT_EQ(some_sampled.parameter().name, "noise multiplier");
    EXPECT_THROW((void)compose(some_sampled, PrivacyLoss::gaussian(1)).parameter(), PrivacyError);
    EXPECT_TRUE(compose(some_sampled, PrivacyLoss::gaussian(infinity)).infinite());
    EXPECT_EQ(compose(some_sampled, PrivacyLoss::gaussian(infinity)).epsilon(1e-5).upper, infinity);
    EXPECT_EQ(compose(some_sampled, PrivacyLoss::gaussian(infinity)).delta(1).upper, 1);
    EXPECT_EQ(some_sampled.epsilon(0).lower, infinity);
}

TEST(SampledLoss, CostsLessThanWhatIsAlwaysThere) {
    const PrivacyLoss always = PrivacyLoss::gaussian(std::sqrt(100) / 1.5);
    EXPECT_LT(some_sampled.epsilon(1e-5).upper, 0.2 * always.epsilon(1e-5).lower);
    EXPECT_TRUE(some_sampled.less_at(1e-5, always));
    EXPECT_FALSE(always.less_at(1e-5, some_sampled));
    EXPECT_FALSE(some_sampled.less_at(1e-5, some_sampled));
}

TEST(SampledLoss, IsWithinRoundsThatRevealAsMuch) {
    const auto sampled = [](double noise, double probability, long count) {
        const SampledRounds rounds{noise, probability, count};
        return PrivacyLoss::sampled({&rounds, 1});
    };
    EXPECT_TRUE(some_sampled.within(some_sampled, 0));
    EXPECT_TRUE(sampled(1.6, 0.05, 99).within(some_sampled, 0));
    EXPECT_TRUE(sampled(1.4999999999, 0.05, 100).within(some_sampled, 1e-9));
    EXPECT_FALSE(sampled(1.4, 0.05, 100).within(some_sampled, 1e-9));
    EXPECT_FALSE(sampled(1.5, 0.06, 100).within(some_sampled, 1e-9));
    EXPECT_FALSE(sampled(1.5, 0.05, 101).within(some_sampled, 1e-9));
    EXPECT_FALSE(some_sampled.within(PrivacyLoss::gaussian(100), 1e-9));
    EXPECT_TRUE(some_sampled.within(compose(sampled(1.4, 0.05, 60), sampled(1.5, 0.06, 40)), 0));
}

TEST(SampledLoss, GrowsWithItsScale) {
    const PrivacyLoss all =
        compose(some_sampled, compose(PrivacyLoss::gaussian(0.1), PrivacyLoss::pure(0.1)));
    EXPECT_EQ(all.scaled(1), all);
    EXPECT_LT(all.scaled(0.9).epsilon(1e-5).upper, all.epsilon(1e-5).lower);
    EXPECT_EQ(some_sampled.scaled(0), PrivacyLoss());
    EXPECT_NEAR(some_sampled.largest_part(), 100 / 2.25, 1e-12);
    EXPECT_NEAR(some_sampled.scaled(4).parameter().value, 0.75, 1e-15);
    EXPECT_EQ(PrivacyLoss().largest_part(), 0);
}

TEST(SampledLoss, IsMadeOfItsParts) {
    const PrivacyLoss all =
        compose(some_sampled, compose(PrivacyLoss::gaussian(0.1), PrivacyLoss::pure(0.1)));
    EXPECT_EQ(PrivacyLoss::of(all.parts()), all);
    EXPECT_THROW((void)PrivacyLoss::of({-1, {}, {}}), PrivacyError);
    EXPECT_THROW((void)PrivacyLoss::of({0, -1, {}}), PrivacyError);
    EXPECT_THROW((void)PrivacyLoss::of({0, {}, {{-1, 0.5, 1}}}), PrivacyError);
}

}  // namespace
}  // namespace sotto
