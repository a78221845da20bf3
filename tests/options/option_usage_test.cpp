#include "options/option_usage.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

WrittenOption option_of(OptionKind kind, const AllowedValues& allowed = {}) {
    return written_option({.name = "x", .help = "one of red, blue"}, kind, allowed, "true");
}

TEST(OptionUsage, SaysHowAnOptionIsTyped) {
    EXPECT_EQ(usage_of(option_of(OptionKind::value)), "--x VALUE");
    EXPECT_EQ(usage_of(option_of(OptionKind::flag)), "--x");
    EXPECT_EQ(usage_of(option_of(OptionKind::output)), "--x [FILE]");
    EXPECT_EQ(usage_of(option_of(OptionKind::list)), "--x \"VALUE ...\"");
}

TEST(OptionUsage, SaysValuesThatTheHelpDoesNotSay) {
    EXPECT_EQ(values_beside_help(option_of(OptionKind::value, one_of({"red", "blue"}))), "");
    EXPECT_EQ(values_beside_help(option_of(OptionKind::value, "1 to 5")), "1 to 5");
}

TEST(OptionUsage, GivesNoDefaultToFlags) {
    EXPECT_EQ(default_of(option_of(OptionKind::value)), "true");
    EXPECT_EQ(default_of(option_of(OptionKind::flag)), "");
}

}  // namespace
}  // namespace sotto
