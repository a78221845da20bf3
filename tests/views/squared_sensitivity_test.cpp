#include "sotto/views/squared_sensitivity.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(SquaredSensitivity, IsCertifiedByItsSmallestBound) {
    SquaredSensitivity value;
    value.constant_sign = 1;  // an attack, no bound
    value.tight_lower = 2;
    value.abs_sum = 5;
    value.tight_upper = 4;
    value.trivial = 6;
    EXPECT_EQ(value.certified(), 4);
    value.trivial = 3;
    EXPECT_EQ(value.certified(), 3);
    value.infinite = true;
    EXPECT_EQ(value.certified(), infinity);
}

TEST(SquaredSensitivity, IsUnboundedWithoutNoise) {
    const SquaredSensitivity value = SquaredSensitivity::unbounded();
    EXPECT_TRUE(value.infinite);
    EXPECT_EQ(value.constant_sign, infinity);
    EXPECT_EQ(value.certified(), infinity);
}

TEST(SquaredSensitivity, OfAllMessagesIsItsOnlyBound) {
    EXPECT_EQ(SquaredSensitivity::all_messages(7).certified(), 7);
    EXPECT_FALSE(SquaredSensitivity::all_messages(7).infinite);
    EXPECT_TRUE(SquaredSensitivity::all_messages(infinity).infinite);
}

}  // namespace
}  // namespace sotto
