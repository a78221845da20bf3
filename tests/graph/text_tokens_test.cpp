#include "graph/text_tokens.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sotto {
namespace {

std::vector<std::string> tokens_of(std::string_view line) {
    std::vector<std::string> tokens;
    for (auto token = take_token(line); !token.empty(); token = take_token(line))
        tokens.emplace_back(token);
    EXPECT_TRUE(line.empty());
    return tokens;
}

TEST(TakeToken, SeparatesByBlanksTabsAndCommas) {
    const std::vector<std::string> wanted{"a", "b-1", "c"};
    for (const char* line : {"a b-1 c", " a,b-1,c\r", "a\t , b-1   c  ", ",,a,b-1\v\f,c"})
        EXPECT_EQ(tokens_of(line), wanted) << line;
    EXPECT_TRUE(tokens_of("").empty());
    EXPECT_TRUE(tokens_of(" \t,\r").empty());
}

TEST(TakeToken, EndsTheLineAtATokenThatStartsAComment) {
    EXPECT_EQ(tokens_of("a b # c d"), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(tokens_of("a %b"), std::vector<std::string>{"a"});
    EXPECT_EQ(tokens_of("a#1 b%"), (std::vector<std::string>{"a#1", "b%"}));
    EXPECT_TRUE(tokens_of("# all of it").empty());
}

TEST(ForMessage, IsShortAndPrintable) {
    EXPECT_EQ(for_message("plain text"), "plain text");
    EXPECT_EQ(for_message("a\x01\n\x7f\xe4z"), "a????z");
    EXPECT_EQ(for_message(std::string(40, 'x')), std::string(40, 'x'));
    EXPECT_EQ(for_message(std::string(41, 'x')), std::string(40, 'x') + "...");
}

TEST(LooksBinary, SeesBytesThatNoTextHolds) {
    EXPECT_FALSE(looks_binary("1 2\t3,4\r\f\v"));
    EXPECT_FALSE(looks_binary("Z\xc3\xbcrich"));
    for (const char byte : {'\x00', '\x01', '\x1b', '\x7f'})
        EXPECT_TRUE(looks_binary(std::string("1 2") + byte)) << static_cast<int>(byte);
}

}  // namespace
}  // namespace sotto
