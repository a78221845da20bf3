#include "commands/cli/options.hpp"

#include <gtest/gtest.h>

#include "sotto/core/error.hpp"

namespace sotto::cli {
namespace {

std::vector<OptionGroup> groups_with_a_positional_option() {
    return {{"Test",
             {{"place", "", "DIR", Option::Kind::value, false, true},
              {"size", "3", "a number"},
              {"json", "", "FILE", Option::Kind::output, false}}}};
}

std::string message_of(const std::vector<OptionGroup>& groups,
                       const std::vector<std::string>& arguments) {
    try {
        const ParsedOptions parsed(groups, arguments);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

TEST(PositionalOption, TakesTheWordThatStandsByItself) {
    const auto groups = groups_with_a_positional_option();
    for (const auto& arguments : std::vector<std::vector<std::string>>{
             {"here"}, {"--place", "here"}, {"--size", "3", "here"}, {"here", "--json", "-"}}) {
        const ParsedOptions parsed(groups, arguments);
        EXPECT_TRUE(parsed.given("place"));
        EXPECT_EQ(parsed.text("place"), "here");
        EXPECT_EQ(parsed.text("size"), "3");
    }
    EXPECT_FALSE(ParsedOptions(groups, {}).has("place"));
}

TEST(PositionalOption, DoesNotBelongIntoAConfigurationThatLeavesItOut) {
    EXPECT_EQ(ParsedOptions(groups_with_a_positional_option(), {"here"}).as_ini("x").find("here"),
              std::string::npos);
}

TEST(PositionalOption, IsRefusedTwice) {
    const auto groups = groups_with_a_positional_option();
    for (const auto& arguments :
         std::vector<std::vector<std::string>>{{"a", "b"}, {"a", "--place", "b"}})
        EXPECT_NE(message_of(groups, arguments).find("--place"), std::string::npos)
            << message_of(groups, arguments);
}

TEST(PositionalOption, LeavesUnknownOptionsToTheirMessage) {
    EXPECT_NE(message_of(groups_with_a_positional_option(), {"--sise", "here"}).find("--size"),
              std::string::npos);
}

TEST(PositionalOption, StandsInTheLineOfUsage) {
    EXPECT_EQ(positional_usage(groups_with_a_positional_option()), " [PLACE]");
    EXPECT_EQ(positional_usage({common_options()}), "");
}

TEST(StrayWords, AreRefusedWhereNoOptionIsPositional) {
    EXPECT_NE(message_of({common_options()}, {"here"}).find("'here' is not an option"),
              std::string::npos);
}

}  // namespace
}  // namespace sotto::cli
