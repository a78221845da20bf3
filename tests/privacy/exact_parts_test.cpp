#include "privacy/exact_parts.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/privacy/gdp.hpp"

namespace sotto {
namespace {

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

}  // namespace
}  // namespace sotto
