#include "core/json_output.hpp"

#include <gtest/gtest.h>

#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

TEST(NumberOrNull, IsTheNumberWhereItIsFinite) {
    for (const double value : {0.0, -1.5, 1e308, 5e-324, 0.1})
        EXPECT_EQ(number_or_null(value).get<double>(), value);
}

TEST(NumberOrNull, IsNullWhereThereIsNoNumber) {
    for (const double value : {infinity, -infinity, not_a_number})
        EXPECT_EQ(number_or_null(value).dump(), "null");
    EXPECT_EQ(number_or_null(std::optional<double>()).dump(), "null");
    EXPECT_EQ(number_or_null(std::optional(infinity)).dump(), "null");
    EXPECT_EQ(number_or_null(std::optional(2.0)).dump(), "2.0");
}

}  // namespace
}  // namespace sotto
