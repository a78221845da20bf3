#include "sotto/core/json_input.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/test_support.hpp"

namespace sotto {
namespace {

using Json = nlohmann::json;
using test::contains;
using test::message_of;

std::string nested(int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
}

TEST(JsonFromText, ReadsWhatTheLibraryReads) {
    const std::string text = R"({"a":[1,2.5,"x",null,true],"b":{}})";
    EXPECT_EQ(json_from_text<Json>(text), Json::parse(text));
    EXPECT_THROW((void)json_from_text<Json>("{"), Json::exception);
}

TEST(JsonFromText, RefusesNestingThatIsTooDeepBeforeItCosts) {
    EXPECT_NO_THROW((void)json_from_text<Json>(nested(deepest_json)));
    for (const int depth : {deepest_json + 2, 1000, 1'000'000})
        EXPECT_THROW((void)json_from_text<Json>(nested(depth)), DataError) << depth;
}

TEST(IntegerFromJson, TakesWholeNumbersThatFit) {
    EXPECT_EQ(integer_from_json<int>(Json(-7)), -7);
    EXPECT_EQ(integer_from_json<std::uint64_t>(Json::parse("18446744073709551615")),
              std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(integer_from_json<std::int64_t>(Json::parse("-9223372036854775808")),
              std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(integer_from_json<std::uint8_t>(Json(255)), 255);
}

TEST(IntegerFromJson, RefusesWhatAConversionWouldCut) {
    for (const char* const text : {"256", "-1", "1.5", "1e300", "18446744073709551616", "true"}) {
        const std::string message = message_of<DataError>(
            [&] { (void)integer_from_json<std::uint8_t>(Json::parse(text)); });
        EXPECT_TRUE(contains(message, "a whole number from 0 to 255 must stand")) << text;
    }
}

TEST(IntegerFromJson, NamesTheTypeOfWhatIsNoNumber) {
    EXPECT_TRUE(contains(
        message_of<DataError>([] { (void)integer_from_json<int>(Json::parse(nested(40))); }),
        "array where"));
    EXPECT_TRUE(contains(message_of<DataError>([] { (void)integer_from_json<int>(Json("12")); }),
                         "string where"));
}

}  // namespace
}  // namespace sotto
