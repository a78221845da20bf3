#include "config/config.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(BatchSize, IsANumberOrAPartOfEachAgentsRecords) {
    EXPECT_EQ(BatchSize().of(1000), 128);
    EXPECT_EQ(parse_batch_size("b", "20").of(7), 20) << "refused later, where it must fit";
    EXPECT_EQ(parse_batch_size("b", "all").of(7), 7);
    EXPECT_EQ(parse_batch_size("b", "0.1").of(120), 12);
    EXPECT_EQ(parse_batch_size("b", "0.1").of(3), 1);
    EXPECT_EQ(parse_batch_size("b", "0.999").of(3), 3);
    for (const char* text : {"all", "0.25"})
        EXPECT_EQ(parse_batch_size("b", text).of(0), std::nullopt) << "not known";
    for (const char* text : {"1", "128", "0.1", "1e-05", "all"})
        EXPECT_EQ(name_of(parse_batch_size("b", text)), text);
    for (const char* text : {"0", "-1", "1.5", "", "few", "nan", "inf", "1e13"})
        EXPECT_THROW((void)parse_batch_size("b", text), ConfigError) << text;
}

TEST(MixingRuleNames, AreThoseOfAnyGraph) {
    EXPECT_TRUE(is_mixing_rule("optimised"));
    EXPECT_TRUE(is_mixing_rule("metropolis"));
    EXPECT_FALSE(is_mixing_rule("some.npy"));
    EXPECT_EQ(mixing_rule_names().back(), "optimised");
}

}  // namespace
}  // namespace sotto
