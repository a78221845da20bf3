#include "agent/robust_rule.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(RobustRule, IsWrittenAsItIsRead) {
    for (const std::string text : {"off", "clip", "clip:2.5", "trimmed:3"})
        EXPECT_EQ(name_of(parse_robust_rule("robust", text)), text);
    EXPECT_EQ(parse_robust_rule("robust", "clip:auto"), parse_robust_rule("robust", "clip"));
    EXPECT_TRUE(parse_robust_rule("robust", "clip").limits_from_plan());
    EXPECT_FALSE(parse_robust_rule("robust", "clip:1").limits_from_plan());
    EXPECT_FALSE(parse_robust_rule("robust", "trimmed:1").keeps_messages());
    EXPECT_FALSE(RobustRule{}.on());
}

TEST(RobustRule, IsRefusedNamingTheOptionAndWhatIsAllowed) {
    for (const std::string text : {"", "on", "clip:0", "clip:-1", "clip:x", "clip:1:2", "trimmed",
                                   "trimmed:0", "trimmed:1.5"})
        try {
            (void)parse_robust_rule("robust", text);
            ADD_FAILURE() << text;
        } catch (const ConfigError& error) {
            EXPECT_TRUE(std::string(error.what()).starts_with("robust: ")) << error.what();
        }
}

}  // namespace
}  // namespace sotto
