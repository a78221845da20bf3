#include "core/picture_parts.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/numbers.hpp"
#include "core/test_support.hpp"

namespace sotto {
namespace {

std::vector<std::string> names_of(const PictureAxis& axis) {
    std::vector<std::string> names;
    for (const auto& [value, name] : axis.ticks) names.push_back(name);
    return names;
}

TEST(PictureAxis, HasTwoToEightTicksWithNamesOfTheirOwnInside) {
    for (const bool log : {false, true})
        for (const auto& [low, high] : {std::pair(5.0, 5.0),
                                        {0.5, 0.52},
                                        {1e-6, 1.0},
                                        {3.0, 40.0},
                                        {1e-9, 2e-9},
                                        {12345.0, 12346.0},
                                        {1e-300, 1e300}}) {
            if (!log && high > 1e299) continue;
            const PictureAxis axis = axis_of({low, high}, log);
            EXPECT_GE(axis.ticks.size(), 2U) << low << " to " << high << ", log " << log;
            EXPECT_LE(axis.ticks.size(), 8U) << low << " to " << high << ", log " << log;
            std::set<double> places;
            for (const auto& [value, name] : axis.ticks) {
                EXPECT_GE(axis.part(value), -1e-6) << name;
                EXPECT_LE(axis.part(value), 1 + 1e-6) << name;
                places.insert(value);
            }
            EXPECT_EQ(places.size(), axis.ticks.size());
            EXPECT_LT(axis.low, low);
            EXPECT_GT(axis.high, high);
        }
}

TEST(PictureAxis, MarksWhatIsAskedForWhereItLies) {
    EXPECT_EQ(names_of(axis_of({1, 4}, false, {1, 2, 4, 9})),
              (std::vector<std::string>{"1", "2", "4"}));
    EXPECT_EQ(names_of(axis_of({0}, false, {0})), (std::vector<std::string>{"0"}))
        << "the only value there is";
    EXPECT_GE(axis_of({0, 1}, false, {1}).ticks.size(), 2U) << "one of several values is too few";
}

TEST(PictureAxis, OfHugeValuesThatHardlyDifferEnds) {
    EXPECT_LE(axis_of({1e18, 1e18 + 256}, false).ticks.size(), 10U);
}

TEST(PictureAxis, WritesPowersOfTenFarFromOne) {
    EXPECT_EQ(names_of(axis_of({1e-5, 1e-3}, true)),
              (std::vector<std::string>{"10⁻⁵", "10⁻⁴", "10⁻³"}));
    EXPECT_EQ(names_of(axis_of({0.1, 10}, true)), (std::vector<std::string>{"0.1", "1", "10"}));
}

TEST(PictureAxis, LeavesOutWhatALogarithmHasNot) {
    EXPECT_GT(axis_of({-1, 0, 3, 40}, true).low, 2);
}

TEST(PictureAxis, OfBarsStartsAtZeroAndOfWordsHasRoomForBars) {
    EXPECT_EQ(axis_of_bars(2).low, 0);
    EXPECT_EQ(axis_of_bars(2).nearest_inside(infinity), 2);
    const PictureAxis words = axis_of_words({"ldp", "a\nlonger"}, true);
    EXPECT_LT(words.part(1), words.part(0));
    EXPECT_EQ(words.nearest_inside(7), 1.5);
    EXPECT_EQ(axis_of_words({"ldp", "decor"}, false).low, -0.5);
    EXPECT_EQ(words.longest_name(), 6U);
    EXPECT_TRUE(
        test::contains(words.commands('y'), "set ytics ('ldp' 0, 'a'.\"\\n\".'longer' 1)\n"));
}

TEST(PictureAxis, CountsLettersNotBytes) { EXPECT_EQ(letters_in("10⁻⁵ ε"), 6U); }

TEST(PictureAxis, MovesByPartsOfItself) {
    EXPECT_NEAR(PictureAxis({1, 100, true}).moved(1, 0.5), 10, 1e-12);
    EXPECT_NEAR(PictureAxis({0, 4, false}).moved(1, 0.5), 3, 1e-12);
}

}  // namespace
}  // namespace sotto
