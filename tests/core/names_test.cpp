#include "sotto/core/names.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/numbers.hpp"
#include "core/test_support.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

const std::vector<std::string> mechanisms{"none", "ldp", "cdp", "decor", "corn"};

TEST(NearestName, FindsTheNameBehindATypingMistake) {
    EXPECT_EQ(nearest_name("decorr", mechanisms), "decor");  // insertion
    EXPECT_EQ(nearest_name("deor", mechanisms), "decor");    // deletion
    EXPECT_EQ(nearest_name("dekor", mechanisms), "decor");   // substitution
    EXPECT_EQ(nearest_name("edcor", mechanisms), "decor");   // swap
    EXPECT_EQ(nearest_name("ocrn", mechanisms), "corn");
    EXPECT_EQ(nearest_name("ldp", mechanisms), "ldp");
}

TEST(NearestName, CountsASwapOfNeighboursAsOneMistake) {
    // Two substitutions lead to either; one swap leads to the second only.
    const std::vector<std::string> candidates{"xxrm", "from"};
    EXPECT_EQ(nearest_name("form", candidates), "from");
}

TEST(NearestName, CompletesTheBeginningOfALongName) {
    const std::vector<std::string> topologies{"ring", "exponential", "erdos-renyi"};
    EXPECT_EQ(nearest_name("expo", topologies), "exponential");
    EXPECT_EQ(nearest_name("erdos", topologies), "erdos-renyi");
}

TEST(NearestName, SuggestsNothingForAWordThatResemblesNone) {
    EXPECT_EQ(nearest_name("homomorphic", mechanisms), std::nullopt);
    EXPECT_EQ(nearest_name("xyzzy", mechanisms), std::nullopt);
    EXPECT_EQ(nearest_name("corn", {}), std::nullopt);
}

TEST(UnknownName, GivesTheOptionTheWordTheSuggestionAndAllThatIsAllowed) {
    const std::string message = unknown_name_error("mechanism", "cron", mechanisms).what();
    EXPECT_TRUE(contains(message, "mechanism"));
    EXPECT_TRUE(contains(message, "'cron'"));
    EXPECT_TRUE(contains(message, "did you mean 'corn'?"));
    EXPECT_TRUE(contains(message, "none, ldp, cdp, decor, corn"));
    EXPECT_FALSE(
        contains(unknown_name_error("mechanism", "homomorphic", mechanisms).what(), "did you"));
    EXPECT_EQ(unknown_name_error("a", "b", mechanisms).exit_code(), ExitCode::usage);
}

TEST(ParseReal, ReadsEveryUsualWayToWriteANumber) {
    EXPECT_EQ(parse_real("x", "0.1"), 0.1);
    EXPECT_EQ(parse_real("x", "-2"), -2.0);
    EXPECT_EQ(parse_real("x", "+3.5"), 3.5);
    EXPECT_EQ(parse_real("x", "1e-5"), 1e-5);
    EXPECT_EQ(parse_real("x", ".5"), 0.5);
}

TEST(ParseReal, RefusesWhatIsNotOneFiniteNumber) {
    for (const char* text : {"",
                             "+",
                             " 1",
                             "1 ",
                             "1,5",
                             "1.5x",
                             "abc",
                             "1e",
                             "nan",
                             "inf",
                             "-inf",
                             "+-1",
                             "--1",
                             "++1",
                             "1e999",
                             "1 2",
                             "0x10",
                             "infinity"}) {
        const std::string message =
            message_of<ConfigError>([&] { (void)parse_real("epsilon", text); });
        EXPECT_TRUE(contains(message, "epsilon")) << text;
        EXPECT_TRUE(contains(message, std::string("'") + text + "'"));
    }
}

TEST(ParseReal, RefusesNumbersThatHaveLostTheirDigits) {
    EXPECT_EQ(parse_real("x", "2.3e-308"), 2.3e-308);
    EXPECT_EQ(parse_real("x", "0"), 0);
    for (const char* text : {"1e-320", "-1e-320", "2.2e-308", "1e-400", "-1e400"}) {
        const std::string message =
            message_of<ConfigError>([&] { (void)parse_real("--clip-norm", text); });
        EXPECT_TRUE(contains(message, std::string("--clip-norm: '") + text + "' is too near to 0"))
            << message;
    }
}

TEST(ParseInteger, ReadsWholeNumbersOfBothSigns) {
    EXPECT_EQ(parse_integer("n", "0"), 0);
    EXPECT_EQ(parse_integer("n", "-17"), -17);
    EXPECT_EQ(parse_integer("n", "+20"), 20);
    EXPECT_EQ(parse_integer("n", "9223372036854775807"), std::numeric_limits<long long>::max());
}

TEST(ParseInteger, RefusesWhatIsNotOneWholeNumber) {
    for (const char* text :
         {"", "+", "1.0", "1e3", " 1", "1 ", "ten", "9223372036854775808", "+-5", "-+5", "0x1F"})
        EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)parse_integer("agents", text); }),
                             "agents"))
            << text;
}

TEST(RequireInRange, AcceptsItsEndsAndRefusesWhatLiesOutside) {
    EXPECT_NO_THROW(require_in_range("p", 0, 0, 1));
    EXPECT_NO_THROW(require_in_range("p", 1, 0, 1));
    EXPECT_THROW(require_in_range("p", -1e-300, 0, 1), ConfigError);
    const std::string message = message_of<ConfigError>([] { require_in_range("p", 1.5, 0, 1); });
    EXPECT_TRUE(contains(message, "p: 1.5"));
    EXPECT_TRUE(contains(message, "0 to 1"));
}

TEST(RequireInRange, RefusesNotANumber) {
    EXPECT_THROW(require_in_range("p", not_a_number, 0, 1), ConfigError);
    EXPECT_THROW(require_in_range("p", not_a_number, -infinity, infinity), ConfigError);
}

TEST(RequirePositive, AcceptsFiniteNumbersAboveZeroOnly) {
    EXPECT_NO_THROW(require_positive("clip-norm", 1e-300));
    for (const double value : {0.0, -0.0, -1.0, not_a_number, infinity, -infinity})
        EXPECT_TRUE(contains(message_of<ConfigError>([&] { require_positive("clip-norm", value); }),
                             "clip-norm"))
            << value;
}

TEST(NameTable, GoesFromNameToValueAndBack) {
    enum class Colour { red, green, blue };
    constexpr NameTable<Colour, 2> table{{{{Colour::red, "red"}, {Colour::green, "green"}}}};
    for (const auto& [value, name] : table.entries) {
        EXPECT_EQ(table.parse("colour", name), value);
        EXPECT_EQ(table.name_of(value), name);
    }
    EXPECT_EQ(table.names(), (std::vector<std::string>{"red", "green"}));
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)table.parse("colour", "gren"); }),
                         "did you mean 'green'?"));
    EXPECT_THROW((void)table.parse("colour", "Red"), ConfigError);
    EXPECT_THROW((void)table.name_of(Colour::blue), Error);
}

TEST(Join, PutsTheLastWordAfterItsOwnSeparator) {
    EXPECT_EQ(join(std::vector<std::string>{}), "");
    EXPECT_EQ(join(std::vector<std::string>{"a"}), "a");
    EXPECT_EQ(join(std::vector<std::string>{"a", "b"}), "a or b");
    EXPECT_EQ(join(std::vector<std::string>{"a", "b", "c"}, " and "), "a, b and c");
}

TEST(Split, KeepsEmptyParts) {
    using Parts = std::vector<std::string_view>;
    EXPECT_EQ(split("", ','), (Parts{""}));
    EXPECT_EQ(split("a", ','), (Parts{"a"}));
    EXPECT_EQ(split(",a,,bc,", ','), (Parts{"", "a", "", "bc", ""}));
    EXPECT_EQ(split("a,b;c", ';'), (Parts{"a,b", "c"}));
}

struct Shape {
    std::string name;
    int corners = 0;
};

Registry<Shape>& shapes() {
    static Registry<Shape> table("shape", {{"triangle", 3}, {"square", 4}});
    return table;
}

const Registered<Shape> pentagon(shapes(), {"pentagon", 5});

TEST(Registry, FindsWhatStandsInItsTableAndWhatWasAddedElsewhere) {
    EXPECT_EQ(shapes().find("--shape", "square").corners, 4);
    EXPECT_EQ(shapes().find("--shape", "pentagon").corners, 5);
    EXPECT_EQ(shapes().names(), (std::vector<std::string>{"triangle", "square", "pentagon"}));
    EXPECT_EQ(shapes().look_up("circle"), nullptr);
}

TEST(Registry, SuggestsTheNearestName) {
    try {
        (void)shapes().find("--shape", "sqare");
        FAIL() << "an unknown name was found";
    } catch (const ConfigError& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find("--shape"), std::string::npos) << message;
        EXPECT_NE(message.find("square"), std::string::npos) << message;
    }
}

TEST(Registry, RefusesASecondRecordOfTheSameName) {
    Registry<Shape> table("shape", {{"triangle", 3}});
    EXPECT_THROW(table.add({"triangle", 3}), Error);
    EXPECT_THROW((Registry<Shape>("shape", {{"a", 1}, {"a", 2}})), Error);
}

TEST(Registry, KeepsReferencesValidWhenMoreAreAdded) {
    Registry<Shape> table("shape", {{"triangle", 3}});
    const Shape& triangle = table.find("", "triangle");
    for (int i = 0; i < 1000; ++i) table.add({std::to_string(i), i});
    EXPECT_EQ(&triangle, table.look_up("triangle"));
    EXPECT_EQ(triangle.corners, 3);
}

}  // namespace
}  // namespace sotto
