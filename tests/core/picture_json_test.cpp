#include "core/picture_json.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;

TEST(PictureJson, HasPanelsAndCurvesInTheirOrder) {
    const auto panels = panels_from_json(R"([
        {"title": "a", "x": "round", "y": "loss", "log_x": true, "marks": [1, 4],
         "curves": {"z": [[1, 2], [4, 3, 2.5, 5]], "a": []}},
        {"title": "b", "x": "", "y": "loss", "log_y": true, "columns": ["good", "bad"],
         "bars": true, "joined": false, "curves": {}},
        {"title": "c", "x": "seconds", "y": "", "rows": ["fast", "slow"], "curves": {}}])");
    ASSERT_EQ(panels.size(), 3U);
    const PicturePanel& first = panels[0];
    EXPECT_EQ(first.title + first.x + first.y, "aroundloss");
    EXPECT_TRUE(first.log_x && first.joined && !first.log_y && !first.intervals_as_bars);
    EXPECT_EQ(first.marks, (std::vector<double>{1, 4}));
    ASSERT_EQ(first.curves.size(), 2U);
    EXPECT_EQ(first.curves[0].name, "z") << "curves keep their order";
    EXPECT_EQ(first.curves[0].points[1].high, 5);
    EXPECT_TRUE(std::isnan(first.curves[0].points[0].low));
    EXPECT_TRUE(panels[1].log_y && panels[1].intervals_as_bars && !panels[1].joined);
    EXPECT_EQ(panels[2].rows, (std::vector<std::string>{"fast", "slow"}));
    EXPECT_EQ(panels[1].columns, (std::vector<std::string>{"good", "bad"}));
}

TEST(PictureJson, NamesTheKeyThatIsWrong) {
    const auto message = [](const std::string& text) {
        return test::message_of<DataError>([&] { (void)panels_from_json(text); });
    };
    const std::string start = R"([{"title": "", "x": "", "y": "")";
    EXPECT_EQ(message("{}"), "the whole document is an object (must be an array)");
    EXPECT_EQ(message(R"([{"title": ""}])"), "[0].x is missing");
    EXPECT_EQ(message(start + R"(, "curves": {"a": [[1]]}}])"),
              "[0].curves.a[0] is an array of 1 (must be [x, y] or [x, y, low, high])");
    EXPECT_EQ(message(start + R"(, "curves": {"a": [[1, null]]}}])"),
              "[0].curves.a[0][1] is null (must be a number)");
    EXPECT_TRUE(contains(message(start + R"(, "curves": {}, "logx": true}])"),
                         "[0].logx is true (must be left out: a panel has title, x, y, "));
    EXPECT_TRUE(contains(message("[1,"), "no JSON"));
}

}  // namespace
}  // namespace sotto
