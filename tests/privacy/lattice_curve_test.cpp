#include "privacy/lattice_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace sotto {
namespace {

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
