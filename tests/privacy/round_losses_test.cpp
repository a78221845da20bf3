#include "privacy/round_losses.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "privacy/sampled_fixtures.hpp"

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
    for (const LatticeLosses* pair : {&bounds.upper, &bounds.lower}) {
        const auto& p = pair->remove.mass;
        const auto& q = pair->add.mass;
        ASSERT_EQ(p.size(), q.size());
        EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-11);
        EXPECT_NEAR(std::accumulate(q.begin(), q.end(), 0.0), 1, 1e-11);
        // What lies beyond the lattice is at its ends, in one direction each.
        for (std::size_t j = 1; j + 1 < p.size(); j += 7) {
            EXPECT_GE(p[j], 0);
            const double ratio =
                std::exp(pair->remove.first + pair->remove.step * static_cast<double>(j));
            EXPECT_NEAR(p[j], ratio * q[p.size() - 1 - j], 1e-9 * p[j] + 1e-30);
        }
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

TEST(RoundLosses, SayThatNothingIsKnownFromBelowWhereCellsResolveNothing) {
    EXPECT_TRUE(bound_round(50, 0.01, 0.5, 1e-10).lower.remove.mass.empty());
}

TEST(RoundLosses, KnowWhereTheNormalTailBegins) {
    EXPECT_NEAR(normal_tail_point(0.15865525393145705), 1, 1e-12);
    EXPECT_NEAR(sampled_loss(2, 0.3, 0.7), std::log(0.7 + 0.3 * std::exp(0.7 / 2 - 0.125)), 1e-15);
    EXPECT_GT(widest_loss(1, 0.5, 1e-10), 5);
}

}  // namespace
}  // namespace sotto
