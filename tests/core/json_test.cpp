#include "core/json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/numbers.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

using Json = nlohmann::json;

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
    // Brackets in texts do not count, whatever is escaped there.
    const std::string text = R"({"a":"\\\"[[[[","b":"]]\\"})";
    EXPECT_EQ(json_from_text<Json>("[" + text + "]").at(0).at("a"), "\\\"[[[[");
    std::string many = "[";
    for (int k = 0; k < 100; ++k) many += R"("[\\",)";
    EXPECT_EQ(json_from_text<Json>(many + "1]").size(), 101u);
    EXPECT_THROW((void)json_from_text<Json>(R"(["\\",)" + nested(deepest_json) + "]"), DataError);
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

const char* const sample = R"({"format":"f","version":1,"list":[{"n":7,"x":1.5},{"n":"seven"}],
    "flag":true,"none":null,"numbers":[1,2.5]})";

TEST(JsonValue, ReadsWhatIsThere) {
    const JsonDocument document(sample);
    document.require_format("f", 1);
    const JsonValue root = document.root();
    EXPECT_EQ(root.at("list").items()[0].at("n").integer<int>(0, 7), 7);
    EXPECT_EQ(root.at("list").items()[0].at("x").number(), 1.5);
    EXPECT_EQ(root.at("list").items()[1].at("n").text(), "seven");
    EXPECT_TRUE(root.at("flag").boolean());
    EXPECT_FALSE(root.find("none"));
    EXPECT_FALSE(root.find("nothing"));
    EXPECT_EQ(root.at("numbers").numbers(), (std::vector<double>{1, 2.5}));
    EXPECT_EQ(root.members().size(), 6U);
}

TEST(JsonValue, SaysWhereItStandsWhatItIsAndWhatMustStandThere) {
    const JsonDocument document(sample);
    const auto why = [&](auto&& read) {
        return message_of<DataError>([&] { (void)read(document.root()); });
    };
    EXPECT_EQ(
        why([](const JsonValue& r) { return r.at("list").items()[1].at("n").integer<int>(); }),
        "list[1].n is \"seven\" (must be a whole number from -2147483648 to 2147483647)");
    EXPECT_EQ(why([](const JsonValue& r) { return r.at("list").items()[0].at("n").integer(0, 6); }),
              "list[0].n is 7 (must be a whole number from 0 to 6)");
    EXPECT_EQ(why([](const JsonValue& r) { return r.at("list").items()[0].at("m").text(); }),
              "list[0].m is missing");
    EXPECT_EQ(why([](const JsonValue& r) { return r.at("numbers").integers(); }),
              "numbers[1] is 2.5 (must be a whole number from -2147483648 to 2147483647)");
    EXPECT_EQ(why([](const JsonValue& r) { return r.at("flag").at("x").text(); }),
              "flag is true (must be an object with \"x\")");
    EXPECT_EQ(why([](const JsonValue& r) { return r.at("list").number(); }),
              "list is an array of 2 (must be a number)");
    EXPECT_EQ(why([](const JsonValue& r) { return r.at("format").boolean(); }),
              "format is \"f\" (must be true or false)");
}

TEST(JsonDocument, SaysWhereATextIsNoJson) {
    EXPECT_EQ(message_of<DataError>([] { JsonDocument("{\"a\":1,}"); }),
              "it is no JSON from byte 8 on");
    EXPECT_EQ(message_of<DataError>([] { JsonDocument("[1e999]"); }),
              "it holds a number that is too large");
    EXPECT_EQ(message_of<DataError>([] { JsonDocument(std::string(1000000, '[')); }),
              "arrays and objects are nested more than 32 deep");
    EXPECT_EQ(message_of<DataError>([] { JsonDocument("[]").require_format("f", 1); }),
              "the whole document is an array of 0 (must be an object with \"format\")");
    EXPECT_EQ(message_of<DataError>([] { JsonDocument(sample).require_format("f", 2); }),
              "version is 1 (must be 2)");
}

}  // namespace
}  // namespace sotto
