#include "config/config.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

TEST(MixingRuleNames, AreThoseOfAnyGraph) {
    EXPECT_TRUE(is_mixing_rule("optimised"));
    EXPECT_TRUE(is_mixing_rule("metropolis"));
    EXPECT_FALSE(is_mixing_rule("some.npy"));
    EXPECT_EQ(mixing_rule_names().back(), "optimised");
}

}  // namespace
}  // namespace sotto
