#include "audit/confidence.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(Confidence, IsThePartOfANormalVariableWithinZ) {
    for (const double level : {0.1, 0.5, 0.95, 0.99, 1 - 1e-9})
        EXPECT_NEAR(std::erf(two_sided_z(level) / std::sqrt(2.0)), level, 1e-14) << level;
}

TEST(Confidence, LiesBetweenZeroAndOne) {
    for (const double level : {0.0, 1.0, -0.1, 2.0, std::nan("")})
        EXPECT_THROW((void)two_sided_z(level), ConfigError) << level;
}

}  // namespace
}  // namespace sotto
