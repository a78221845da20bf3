#include "sotto/privacy/privacy_loss.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <vector>

#include "core/numbers.hpp"
#include "core/test_support.hpp"
#include "privacy/privacy_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;
using test::relatively_near;

TEST(SampledRounds, OfOneKindMerge) {
    const std::vector<SampledRounds> rounds{
        {2, 0.1, 3}, {1, 0.5, 1}, {2, 0.1, 4}, {1, 0, 9}, {3, 0.5, 0}, {infinity, 0.5, 8}};
    const std::vector<SampledRounds> merged{{1, 0.5, 1}, {2, 0.1, 7}};
    EXPECT_EQ(merged_rounds(rounds), merged);
    const std::vector<SampledRounds> epochs{
        allocated_rounds(2, 10, 1), {2, 0.1, 3}, allocated_rounds(2, 10, 4)};
    const std::vector<SampledRounds> apart{{2, 0.1, 3}, allocated_rounds(2, 10, 5)};
    EXPECT_EQ(merged_rounds(epochs), apart);
}

TEST(SampledRounds, ThatCannotBeAreRefused) {
    for (const SampledRounds& wrong : {SampledRounds{0, 0.5, 1},
                                       SampledRounds{-1, 0.5, 1},
                                       SampledRounds{not_a_number, 0.5, 1},
                                       SampledRounds{1, -0.1, 1},
                                       SampledRounds{1, 1.1, 1},
                                       SampledRounds{1, not_a_number, 1},
                                       SampledRounds{1, 0.5, -1},
                                       SampledRounds{1, 0.5, most_sampled_rounds + 1},
                                       SampledRounds{1, 0.5, 1, 0},
                                       SampledRounds{1, 0.5, 1, -2},
                                       SampledRounds{1, 0.5, 1, 3},
                                       allocated_rounds(0.09, 10, 1),
                                       allocated_rounds(1, most_rounds_an_epoch + 1, 1)})
        EXPECT_THROW((void)merged_rounds({&wrong, 1}), PrivacyError);
    const std::vector<SampledRounds> many{{1, 0.5, most_sampled_rounds}, {2, 0.5, 1}};
    EXPECT_THROW((void)merged_rounds(many), PrivacyError);
}

TEST(SampledRounds, HaveTheEpsilonsOfAnIndependentAccountant) {
    std::ifstream file(SOTTO_SOURCE_DIR "/tests/golden/amplification.json");
    const auto golden = nlohmann::json::parse(file);
    ASSERT_GT(golden.at("rows").size(), 10U);
    for (const auto& row : golden.at("rows")) {
        std::vector<SampledRounds> rounds;
        for (const auto& one : row.at("rounds"))
            rounds.push_back(
                {one.at("noise_multiplier"), one.at("sampling_probability"), one.at("count")});
        const Certified epsilon = PrivacyLoss::sampled(rounds).epsilon(row.at("delta"));
        const double upper = row.at("epsilon_upper"), lower = row.at("epsilon_lower");
        EXPECT_LE(epsilon.lower, epsilon.upper) << row;
        EXPECT_LE(epsilon.upper, upper * 1.0005) << row;
        EXPECT_GE(epsilon.upper, lower) << row;
        EXPECT_LE(epsilon.upper - epsilon.lower, 1e-3 * epsilon.upper) << row;
    }
}

TEST(RandomAllocation, HasTheEpsilonsOfAnIndependentAccountant) {
    std::ifstream file(SOTTO_SOURCE_DIR "/tests/golden/allocation.json");
    const auto golden = nlohmann::json::parse(file);
    ASSERT_GT(golden.at("rows").size(), 5U);
    for (const auto& row : golden.at("rows")) {
        const SampledRounds rounds = allocated_rounds(
            row.at("noise_multiplier"), row.at("rounds_an_epoch"), row.at("epochs"));
        const Certified epsilon = PrivacyLoss::sampled({&rounds, 1}).epsilon(row.at("delta"));
        const double exact = row.at("epsilon");
        EXPECT_GE(epsilon.upper, exact * (1 - 3e-4)) << row;
        EXPECT_LE(epsilon.lower, exact * (1 + 3e-4)) << row;
        EXPECT_LE(epsilon.upper, exact * (1 + 1e-3)) << row;
        EXPECT_LE(epsilon.upper - epsilon.lower, 1e-3 * epsilon.upper) << row;
    }
}

TEST(RandomAllocation, CostsLessThanSamplingAsOftenOnAverage) {
    for (const auto& [noise, rounds, epochs] : {std::tuple{1.0, 10L, 1L}, {2.0, 50L, 20L}}) {
        const SampledRounds allocated = allocated_rounds(noise, rounds, epochs);
        const SampledRounds poisson{noise, 1 / static_cast<double>(rounds), rounds * epochs};
        EXPECT_LT(PrivacyLoss::sampled({&allocated, 1}).epsilon(1e-5).upper,
                  0.97 * PrivacyLoss::sampled({&poisson, 1}).epsilon(1e-5).lower);
    }
}

TEST(RandomAllocation, ComposesWithEverythingElse) {
    const SampledRounds rounds = allocated_rounds(1.5, 20, 6);
    const PrivacyLoss allocated = PrivacyLoss::sampled({&rounds, 1});
    const SampledRounds more{1.5, 0.05, 40};
    const PrivacyLoss all =
        compose(compose(allocated, PrivacyLoss::sampled({&more, 1})), PrivacyLoss::gaussian(0.2));
    const Certified epsilon = all.epsilon(1e-5);
    EXPECT_GT(epsilon.lower, allocated.epsilon(1e-5).upper);
    EXPECT_LE(epsilon.upper - epsilon.lower, 2e-3 * epsilon.upper);
    EXPECT_EQ(PrivacyLoss::of(all.parts()), all);
    EXPECT_TRUE(allocated.within(all, 0));
    EXPECT_FALSE(all.within(allocated, 1e-9));
    EXPECT_FALSE(PrivacyLoss::sampled({&more, 1}).within(allocated, 1e-9)) << "another kind";
    const SampledRounds shorter = allocated_rounds(1.5, 10, 6);
    EXPECT_TRUE(allocated.within(PrivacyLoss::sampled({&shorter, 1}), 0));
    EXPECT_FALSE(PrivacyLoss::sampled({&shorter, 1}).within(allocated, 1e-9));
    const std::vector<PrivacyLoss> both{all, PrivacyLoss::sampled({&shorter, 1})};
    const PrivacyLoss worst = dominating(both);
    for (const PrivacyLoss& one : both) {
        EXPECT_TRUE(one.within(worst, 0));
        EXPECT_LE(one.epsilon(1e-5).lower, worst.epsilon(1e-5).upper);
    }
    EXPECT_LT(allocated.scaled(0.8).epsilon(1e-5).upper, allocated.epsilon(1e-5).lower);
}

TEST(SampledRounds, ThatAreAlwaysThereAreGaussian) {
    const SampledRounds rounds{10, 1, 100};
    const PrivacyLoss loss = PrivacyLoss::sampled({&rounds, 1});
    EXPECT_DOUBLE_EQ(loss.mu().value(), 1);
    EXPECT_DOUBLE_EQ(loss.epsilon(1e-5).upper, gdp_epsilon(1, 1e-5));
}

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

TEST(PrivacyLoss, ThatDominatesIsAtLeastAsLargeAtEveryDelta) {
    const auto rounds = [](std::vector<SampledRounds> of) { return PrivacyLoss::sampled(of); };
    // Curves of the first two cross: less noise seldom, more noise often.
    const std::vector<std::vector<PrivacyLoss>> cases{
        {rounds({{0.3, 0.001, 1}}), rounds({{5, 0.5, 50}})},
        {rounds({{1, 0.1, 50}}), rounds({{1, 0.1, 20}, {2, 0.3, 30}}), PrivacyLoss::gaussian(0.4)},
        {PrivacyLoss::gaussian(1), PrivacyLoss::pure(0.5), PrivacyLoss()},
        {compose(rounds({{1, 0.2, 10}}), PrivacyLoss::gaussian(0.3)), rounds({{1, 0.3, 10}})}};
    for (const std::vector<PrivacyLoss>& losses : cases) {
        const PrivacyLoss most = dominating(losses);
        for (const PrivacyLoss& loss : losses)
            for (const double delta : {1e-2, 1e-5, 1e-8})
                EXPECT_LE(loss.epsilon(delta).lower, most.epsilon(delta).upper) << delta;
    }
    const double at_1e_2[] = {cases[0][0].epsilon(1e-2).upper, cases[0][1].epsilon(1e-2).upper};
    const double at_1e_8[] = {cases[0][0].epsilon(1e-8).upper, cases[0][1].epsilon(1e-8).upper};
    EXPECT_NE(at_1e_2[0] < at_1e_2[1], at_1e_8[0] < at_1e_8[1]) << "the curves do not cross";
    // Nothing is lost where agents differ by what they draw alone.
    EXPECT_EQ(dominating(std::vector{rounds({{1, 0.1, 50}}), rounds({{1, 0.3, 50}})}),
              rounds({{1, 0.3, 50}}));
    EXPECT_EQ(dominating(std::vector{PrivacyLoss::gaussian(1), PrivacyLoss::gaussian(2)}),
              PrivacyLoss::gaussian(2));
    EXPECT_TRUE(dominating(std::vector{PrivacyLoss::gaussian(infinity), PrivacyLoss()}).infinite());
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

const std::vector<double> gaussian_epsilons{1e-3, 1e-2, 0.1, 0.5, 1, 3, 10, 30, 100, 300, 1e3};
const std::vector<double> gaussian_deltas{1e-12, 1e-9, 1e-6, 1e-5, 1e-3, 0.1, 0.5, 0.9};

/// delta = int (p - e^epsilon q)^+ for p = N(mu, 1), q = N(0, 1). From the point where the two are
/// equal on, the integrand is phi(c + y) (1 - e^(-mu y)), c = epsilon/mu - mu/2: nothing cancels.
double integrated_delta(double mu, double epsilon) {
    const long double m = mu;
    const long double c = epsilon / m - m / 2;
    const auto integrand = [&](long double y) {
        const long double x = c + y;
        return std::exp(-x * x / 2) * -std::expm1(-m * y);
    };
    constexpr long double width = 0.125L;
    const long double start = std::max(0.0L, -c - 40);
    long double sum = 0;
    for (long double a = start; a < std::max(0.0L, -c) + 40; a += width)
        sum += boost::math::quadrature::gauss<long double, 20>::integrate(integrand, a, a + width);
    return static_cast<double>(sum / std::sqrt(2 * std::numbers::pi_v<long double>));
}

TEST(GdpDelta, IsTheIntegralThatDefinesIt) {
    for (const double epsilon : gaussian_epsilons)
        for (const double mu :
             {1e-3, 0.01, 0.1, 0.3, 1.0, 2.0, 3.7, 5.0, 10.0, 20.0, 38.0, 41.0, 44.0, 60.0}) {
            const double expected = integrated_delta(mu, epsilon);
            if (expected < 1e-14) continue;  // beyond what anybody asks for
            EXPECT_TRUE(relatively_near(gdp_delta(mu, epsilon), expected, 1e-11))
                << "mu " << mu << ", epsilon " << epsilon;
        }
}

TEST(GdpDelta, HasNoStepWhereItsFormulaChanges) {
    // The tail of the normal distribution is evaluated in another way beyond 35 deviations: at
    // epsilon/mu + mu/2 = 35.
    for (const double mu : {28.0, 30.0, 33.0}) {
        const double epsilon = mu * (35 - mu / 2);
        for (const double shift : {-1e-9, 0.0, 1e-9})
            EXPECT_TRUE(relatively_near(gdp_delta(mu, epsilon * (1 + shift)),
                                        integrated_delta(mu, epsilon * (1 + shift)),
                                        1e-11))
                << mu;
    }
}

TEST(GdpDelta, HasItsKnownValuesAtTheEnds) {
    EXPECT_EQ(gdp_delta(0, 0), 0.0);
    EXPECT_EQ(gdp_delta(0, 5), 0.0);
    EXPECT_EQ(gdp_delta(infinity, 5), 1.0);
    // delta(0) = 2 Phi(mu/2) - 1.
    for (const double mu : {0.01, 0.5, 1.0, 4.0})
        EXPECT_NEAR(gdp_delta(mu, 0), std::erf(mu / 2 / std::numbers::sqrt2), 1e-15);
}

TEST(GdpDelta, RisesWithMuAndFallsWithEpsilon) {
    for (const double epsilon : gaussian_epsilons) {
        double before = 0;
        for (double mu = 0.02; mu < 60; mu *= 1.3) {
            const double delta = gdp_delta(mu, epsilon);
            EXPECT_GE(delta, before * (1 - 1e-14)) << mu << " " << epsilon;
            EXPECT_GE(delta, 0.0);
            EXPECT_LE(delta, 1.0);
            before = delta;
        }
    }
    for (double mu = 0.02; mu < 60; mu *= 1.3) {
        double before = 1;
        for (const double epsilon : gaussian_epsilons) {
            const double delta = gdp_delta(mu, epsilon);
            EXPECT_LE(delta, before * (1 + 1e-14)) << mu << " " << epsilon;
            before = delta;
        }
    }
}

TEST(GdpMu, MeetsItsEpsilonAndDeltaExactly) {
    for (const double epsilon : gaussian_epsilons)
        for (const double delta : gaussian_deltas) {
            SCOPED_TRACE(testing::Message() << "epsilon " << epsilon << ", delta " << delta);
            const double mu = gdp_mu(epsilon, delta);
            ASSERT_TRUE(mu > 0 && std::isfinite(mu));
            EXPECT_TRUE(relatively_near(gdp_delta(mu, epsilon), delta, 1e-10));
            EXPECT_TRUE(relatively_near(integrated_delta(mu, epsilon), delta, 1e-10));
            // Where delta is large epsilon is badly conditioned: a last bit of delta moves it by
            // delta / |d delta / d epsilon|.
            if (delta < 0.01) {
                EXPECT_TRUE(relatively_near(gdp_epsilon(mu, delta), epsilon, 1e-9));
            }
        }
}

TEST(GdpEpsilon, GivesBackTheMuItCameFrom) {
    for (double mu = 1e-3; mu < 40; mu *= 1.7)
        for (const double delta : {1e-12, 1e-9, 1e-5, 1e-3}) {
            const double epsilon = gdp_epsilon(mu, delta);
            if (epsilon < 1e-3 || epsilon > 1e3) continue;
            EXPECT_TRUE(relatively_near(gdp_mu(epsilon, delta), mu, 1e-9))
                << "mu " << mu << ", delta " << delta;
        }
}

TEST(GdpEpsilon, IsZeroWhereDeltaAloneCoversTheLoss) {
    EXPECT_EQ(gdp_epsilon(0, 1e-5), 0.0);
    EXPECT_EQ(gdp_epsilon(1e-6, 1e-5), 0.0);
    EXPECT_EQ(gdp_epsilon(1, 0.5), 0.0);
    // delta(0) of mu = 1 is erf(1/sqrt 8) = 0.3829...
    EXPECT_EQ(gdp_epsilon(1, 0.38293), 0.0);
    EXPECT_GT(gdp_epsilon(1, 0.38292), 0.0);
}

TEST(GdpEpsilon, OfNoNoiseIsInfinite) { EXPECT_EQ(gdp_epsilon(infinity, 1e-5), infinity); }

TEST(GdpEpsilon, RisesWithMuAndFallsWithDelta) {
    for (const double delta : gaussian_deltas) {
        double before = -1;
        for (double mu = 1e-3; mu < 60; mu *= 1.2) {
            const double epsilon = gdp_epsilon(mu, delta);
            EXPECT_TRUE(epsilon > before || epsilon == 0) << mu << " " << delta;
            before = epsilon;
        }
    }
    for (double mu = 1e-3; mu < 60; mu *= 1.7) {
        double before = infinity;
        for (const double delta : gaussian_deltas) {
            const double epsilon = gdp_epsilon(mu, delta);
            EXPECT_TRUE(epsilon < before || epsilon == 0) << mu << " " << delta;
            before = epsilon;
        }
    }
}

TEST(RdpEpsilon, IsNeverBelowTheExactEpsilon) {
    for (double mu = 1e-3; mu < 60; mu *= 1.2)
        for (const double delta : gaussian_deltas)
            EXPECT_GE(rdp_epsilon(mu, delta), gdp_epsilon(mu, delta)) << mu << " " << delta;
    EXPECT_EQ(rdp_epsilon(0, 1e-5), 0.0);
}

TEST(RdpMu, InvertsRdpEpsilonAndNeedsMoreNoiseThanTheExactCurve) {
    for (const double epsilon : gaussian_epsilons)
        for (const double delta : gaussian_deltas) {
            const double mu = rdp_mu(epsilon, delta);
            EXPECT_TRUE(relatively_near(rdp_epsilon(mu, delta), epsilon, 1e-13));
            EXPECT_LT(mu, gdp_mu(epsilon, delta)) << epsilon << " " << delta;
        }
}

TEST(Gdp, AgreesWithTheIndependentFigures) {
    std::ifstream file(SOTTO_SOURCE_DIR "/tests/golden/calibration.json");
    const auto rows = nlohmann::json::parse(file)["rows"];
    ASSERT_EQ(rows.size(), 22U);
    for (const auto& row : rows) {
        const double epsilon = row["epsilon"], delta = row["delta"];
        SCOPED_TRACE(row.dump());
        const double mu_exact = gdp_mu(epsilon, delta);
        const double mu_paper = paper_mu(epsilon, delta);
        EXPECT_TRUE(relatively_near(mu_exact, row["mu_exact"], 1e-9));
        EXPECT_TRUE(relatively_near(rdp_mu(epsilon, delta), row["mu_rdp"], 1e-9));
        EXPECT_TRUE(relatively_near(mu_paper, row["mu_paper"], 1e-9));
        EXPECT_TRUE(
            relatively_near(gdp_epsilon(mu_paper, delta), row["epsilon_of_mu_paper"], 1e-9));
        EXPECT_TRUE(
            relatively_near(rdp_epsilon(mu_exact, delta), row["epsilon_rdp_of_mu_exact"], 1e-9));
    }
}

TEST(Gdp, RefusesArgumentsOutOfRange) {
    for (const double delta : {0.0, 1.0, -1e-5, 1.5, not_a_number, infinity, -infinity}) {
        EXPECT_THROW((void)gdp_epsilon(1, delta), ConfigError) << delta;
        EXPECT_THROW((void)gdp_mu(1, delta), ConfigError) << delta;
        EXPECT_THROW((void)rdp_epsilon(1, delta), ConfigError) << delta;
        EXPECT_THROW((void)rdp_mu(1, delta), ConfigError) << delta;
        EXPECT_THROW((void)paper_mu(1, delta), ConfigError) << delta;
    }
    for (const double mu : {-1e-300, -1.0, not_a_number, -infinity}) {
        EXPECT_THROW((void)gdp_delta(mu, 1), ConfigError) << mu;
        EXPECT_THROW((void)gdp_epsilon(mu, 1e-5), ConfigError) << mu;
        EXPECT_THROW((void)rdp_epsilon(mu, 1e-5), ConfigError) << mu;
    }
    for (const double epsilon : {-1e-300, -1.0, not_a_number, infinity}) {
        EXPECT_THROW((void)gdp_delta(1, epsilon), ConfigError) << epsilon;
        EXPECT_THROW((void)gdp_mu(epsilon, 1e-5), ConfigError) << epsilon;
        EXPECT_THROW((void)rdp_mu(epsilon, 1e-5), ConfigError) << epsilon;
        EXPECT_THROW((void)paper_mu(epsilon, 1e-5), ConfigError) << epsilon;
    }
}

TEST(Gdp, SavesTheVarianceThatTheEquationsPromise) {
    // docs/equations.md: at epsilon 10, delta 1e-5 exact needs 1.84 times less variance than paper
    // and 1.29 times less than rdp.
    const double exact = gdp_mu(10, 1e-5);
    EXPECT_NEAR(std::pow(exact / paper_mu(10, 1e-5), 2), 1.84, 0.005);
    EXPECT_NEAR(std::pow(exact / rdp_mu(10, 1e-5), 2), 1.29, 0.005);
}

TEST(Gdp, HasNoEdgeWhereSearchesFail) {
    for (const double mu : {1e-29, 1e-10, 1e-3, 1.0, 1e3, 1e10, 1e50, 1e150})
        for (const double delta : {1e-30, 1e-5, 0.3}) {
            const double epsilon = gdp_epsilon(mu, delta);
            EXPECT_GE(epsilon, 0);
            EXPECT_LE(epsilon, rdp_epsilon(mu, delta));
            if (epsilon > 0) {
                EXPECT_NEAR(gdp_mu(epsilon, delta), mu, 1e-9 * mu) << mu << ' ' << delta;
            }
        }
    EXPECT_EQ(gdp_epsilon(1e200, 1e-5), infinity);
    EXPECT_NEAR(gdp_mu(1e100, 1e-5) / std::sqrt(2e100), 1, 1e-12);
    EXPECT_NEAR(gdp_mu(1e-300, 1e-5), 2.5066282747e-5, 1e-14);
}

TEST(LossOfRounds, WithDifferentNoiseIsTheirComposition) {
    const std::vector<RoundLevel> levels{{2.25, 30}, {0.25, 10}};  // 70 rounds of precision 1
    const double squared = 70 / (1.5 * 1.5);                       // noise multiplier 1.5 at 1
    const std::vector<SampledRounds> by_hand{{1, 0.1, 30}, {3, 0.1, 10}};
    const PrivacyLoss loss = loss_of_rounds(StreamDistribution::gaussian, squared, 0.1, levels);
    const PrivacyLoss wanted = PrivacyLoss::sampled(by_hand);
    EXPECT_TRUE(loss.within(wanted, 1e-12));
    EXPECT_TRUE(wanted.within(loss, 1e-12));
    EXPECT_EQ(parameter_text(loss), "noise multiplier 1 to 3");
    // Of records that are always there only the sum counts.
    EXPECT_EQ(loss_of_rounds(StreamDistribution::gaussian, squared, 1, levels),
              loss_of_squared_distance(StreamDistribution::gaussian, squared));
    EXPECT_EQ(parameter_text(PrivacyLoss::gaussian(1.25)), "mu 1.25");
    EXPECT_THROW((void)loss_of_rounds(StreamDistribution::laplace, squared, 0.1, levels),
                 PrivacyError);
}

}  // namespace
}  // namespace sotto
