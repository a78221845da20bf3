#include "privacy/tilted_composition.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace sotto {
namespace {

/// delta of the composition by convolving masses one by one.
double convolved_delta(const std::vector<LatticeGroup>& groups, double epsilon) {
    std::vector<double> sum{1};
    double first = 0, finite = 1;
    for (const LatticeGroup& group : groups)
        for (long i = 0; i < group.count; ++i) {
            const auto& mass = group.loss->mass;
            std::vector<double> next(sum.size() + mass.size() - 1, 0.0);
            for (std::size_t j = 0; j < sum.size(); ++j)
                for (std::size_t k = 0; k < mass.size(); ++k) next[j + k] += sum[j] * mass[k];
            sum = next;
            first += group.loss->first;
            finite *= 1 - group.loss->infinite;
        }
    double delta = 1 - finite;
    for (std::size_t j = 0; j < sum.size(); ++j) {
        const double at = first + groups.front().loss->step * static_cast<double>(j);
        if (at > epsilon) delta += sum[j] * -std::expm1(epsilon - at);
    }
    return delta;
}

TEST(TiltedComposition, IsTheConvolutionDoneByHand) {
    const RoundBounds one = bound_round(1.2, 0.3, 0.05, 1e-14);
    const RoundBounds other = bound_round(3, 0.1, 0.05, 1e-14);
    const std::vector<LatticeGroup> groups{{&one.upper.remove, 4}, {&other.upper.remove, 3}};
    for (const double epsilon : {0.0, 0.5, 2.0, 4.0}) {
        const double direct = convolved_delta(groups, epsilon);
        const Certified delta = TiltedComposition(groups, {}, 2 + epsilon).delta(epsilon);
        EXPECT_GE(delta.upper, direct * (1 - 1e-12)) << epsilon;
        EXPECT_LE(delta.lower, direct * (1 + 1e-12)) << epsilon;
        EXPECT_LT(delta.upper - delta.lower, 2e-3 * direct) << epsilon;
    }
}

TEST(TiltedComposition, KeepsItsDigitsHoweverSmallDeltaIs) {
    // 40 coins of loss 1 with probability 1/4, else -1: delta beside 38 is what 40 and 39 leave.
    const LatticeLoss coin{-1, 2, {0.75, 0.25}, 0};
    const double all = std::pow(0.25, 40);
    const double delta = all * -std::expm1(-1.0);
    const Certified found = TiltedComposition({{&coin, 40}}, {}, 3).delta(39);
    EXPECT_NEAR(found.upper, delta, 1e-4 * delta);
    EXPECT_GE(found.upper, delta * (1 - 1e-12));
    EXPECT_LE(found.lower, delta * (1 + 1e-12));
    EXPECT_LT(delta, 1e-24);
}

TEST(TiltedComposition, NeitherOverflowsNorVanishesFarOut) {
    // A coin of loss 400 that is almost always 0: moments are e^1200 and more.
    LatticeLoss coin{0, 1, std::vector<double>(401, 0.0), 0};
    coin.mass.front() = 0.99;
    coin.mass.back() = 0.01;
    double three = 0, term = std::pow(0.99, 100);  // P of at least 3 of 100
    for (int k = 0; k <= 100; ++k) {
        if (k >= 3) three += term;
        term *= 0.01 / 0.99 * (100 - k) / (k + 1);
    }
    for (const double tilt : {1e-9, 1e-3, 0.01, 0.5, 3.0}) {
        const Certified delta = TiltedComposition({{&coin, 100}}, {}, tilt).delta(1190);
        EXPECT_GE(delta.upper, three * (1 - 1e-4)) << tilt;  // 1 - e^-10
        EXPECT_LE(delta.lower, three) << tilt;
        if (tilt < 0.005) {
            EXPECT_NEAR(delta.lower, three, 1e-4 * three) << tilt;
        }
    }
}

TEST(TiltedComposition, SaysThatItKnowsNothingRatherThanToTakeMoreMemory) {
    const LatticeLoss wide{0, 1e-9, {0.5, 0.5}, 0};
    LatticeLoss far = wide;
    far.mass.assign(5'000'000, 1 / 5e6);
    const Certified delta = TiltedComposition({{&far, 100}}, {}, 1).delta(0.1);
    EXPECT_EQ(delta.upper, 1);
    EXPECT_EQ(delta.lower, 0);
}

/// A loss that is almost always 0, with a tail that no tilt suits: mass 1e-9 e^-sqrt(j) at j.
LatticeLoss heavy_tail() {
    LatticeLoss loss{0, 1e-3, std::vector<double>(2001, 0.0), 0};
    for (std::size_t j = 1; j < loss.mass.size(); ++j)
        loss.mass[j] = 1e-9 * std::exp(-std::sqrt(static_cast<double>(j)));
    loss.mass[0] = 1 - std::accumulate(loss.mass.begin(), loss.mass.end(), 0.0);
    return loss;
}

double delta_of_one(const LatticeLoss& loss, double epsilon) {
    double sum = 0;
    for (std::size_t j = 0; j < loss.mass.size(); ++j) {
        const double at = loss.first + loss.step * static_cast<double>(j);
        if (at > epsilon) sum += loss.mass[j] * -std::expm1(epsilon - at);
    }
    return sum;
}

TEST(LatticeCurve, CountsOneRareLossApart) {
    const LatticeLoss loss = heavy_tail();
    for (const long count : {1L, 100L}) {
        const double epsilon = 1.2,
                     exact = static_cast<double>(count) * delta_of_one(loss, epsilon);
        ASSERT_LT(exact, 1e-20);
        const LatticeCurve curve(
            {{&loss, count}}, {0.3}, {}, 90, epsilon, std::log(exact) + std::log(1e-4 / 1e-12));
        const Certified delta = curve.delta(epsilon);
        EXPECT_GE(delta.upper, exact * (1 - 1e-6)) << count;
        EXPECT_LE(delta.lower, exact * (1 + 1e-2)) << count;
        EXPECT_GE(delta.lower, exact * (1 - 1e-2)) << count;
        // Two or more, and what transforms leave of the others.
        EXPECT_LE(delta.upper, exact * 1.01 + std::pow(static_cast<double>(count) * 1e-15, 2))
            << count;
    }
}

TEST(LatticeCurve, IsTheCompositionWhereNothingIsRare) {
    const LatticeLoss coin{-1, 2, {0.75, 0.25}, 0};
    const Certified whole = LatticeCurve({{&coin, 10}}, {}, 1).delta(3);
    const Certified alone = TiltedComposition({{&coin, 10}}, {}, 1).delta(3);
    EXPECT_EQ(whole.upper, alone.upper);
    EXPECT_EQ(whole.lower, alone.lower);
}

}  // namespace
}  // namespace sotto
