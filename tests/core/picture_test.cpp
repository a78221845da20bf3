#include "core/picture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "core/files.hpp"
#include "core/gnuplot.hpp"
#include "core/picture_json.hpp"
#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"

namespace sotto {
namespace {

using test::contains;

/// Panels of the same curves.
std::string script_of(int panels, int curves) {
    PicturePanel panel{.title = "", .x = "x", .y = "y", .curves = {}};
    for (int c = 0; c < curves; ++c)
        panel.curves.push_back({"curve " + std::to_string(c), {{0, c + 1.0}, {1, c + 2.0}}});
    return picture_script("x.svg",
                          std::vector<PicturePanel>(static_cast<std::size_t>(panels), panel));
}

int count(const std::string& text, std::string_view part) {
    int found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

TEST(Picture, NamesEveryCurveOnceAtItsEndOrInTheLegend) {
    // Of three panels the second has its curves named beside it, for the first too; the third
    // below.
    EXPECT_EQ(count(script_of(1, 7), "'curve 6'"), 1);
    EXPECT_EQ(count(script_of(2, 7), "'curve 6'"), 1);
    EXPECT_EQ(count(script_of(3, 7), "'curve 6'"), 2);
    for (const int panels : {1, 2, 3, 4}) EXPECT_EQ(count(script_of(panels, 8), "'curve 6'"), 1);
    EXPECT_TRUE(contains(script_of(1, 7), "set arrow from first 1,7 to screen ")) << "to its end";
    EXPECT_FALSE(contains(script_of(1, 8), "set arrow from first ")) << "it has a legend";
    EXPECT_TRUE(contains(script_of(1, 8), "svg size 680,392 ")) << "below";
    EXPECT_TRUE(contains(script_of(3, 8), "svg size 830,660 ")) << "beside the third";
}

TEST(Picture, HasIntervalsAsBandsOrAsBarsSideBySide) {
    PicturePanel panel{
        .title = "",
        .x = "",
        .y = "",
        .curves = {{"a", {{1, 2, 1, 3}, {2, 3, 2, 9}}}, {"b", {{1, 2, 1, 3}, {2, 2, 1, 3}}}}};
    const std::string bands = picture_script("x.svg", {panel});
    EXPECT_EQ(count(bands, "with filledcurves"), 2);
    EXPECT_EQ(count(bands, "\n1 2 1 3\n"), 2);
    panel.intervals_as_bars = true;
    const std::string script = picture_script("x.svg", {panel});
    EXPECT_EQ(count(script, "with yerrorbars"), 2);
    EXPECT_EQ(count(script, "\n0.9944 2 1 3\n"), 1) << script;
    EXPECT_EQ(count(script, "\n1.0056 2 1 3\n"), 1) << script;
    EXPECT_EQ(count(script, "with linespoints"), 2);
    panel.joined = false;
    EXPECT_EQ(count(picture_script("x.svg", {panel}), "with linespoints"), 0);
}

TEST(Picture, HasRoomRoundCurvesThatDifferFarLessThanTheirIntervals) {
    PicturePanel panel{
        .title = "", .x = "", .y = "", .curves = {{"a", {{1, 5, 1, 9}, {2, 5.1, 1, 9}}}}};
    EXPECT_TRUE(contains(picture_script("x.svg", {panel}), "set yrange [-0.6:10.6]"));
    panel.curves[0].points[1] = {2, 9, 1, 9};
    EXPECT_TRUE(contains(picture_script("x.svg", {panel}), "set yrange [0.68:9.32]"));
}

TEST(Picture, EndsALogarithmicAxisBeforeTheCurveFarBelowAllOthers) {
    PicturePanel panel{.title = "", .x = "", .y = "", .curves = {}, .log_y = true};
    for (const char* name : {"a", "b", "c"}) panel.curves.push_back({name, {{0, 0.3}, {1, 0.1}}});
    panel.curves.push_back({"none", {{0, 0.3}, {1, 1e-6}}});
    EXPECT_TRUE(contains(picture_script("x.svg", {panel}), "set label 'none: below'"));
    panel.curves.back().points[1].y = 0.05;
    EXPECT_FALSE(contains(picture_script("x.svg", {panel}), "none: below"));
}

TEST(Picture, HasWordsBelowItsColumns) {
    auto panels = panels_from_json(R"([{"title": "", "x": "", "y": "", "columns": ["good", "bad"],
        "bars": true, "curves": {"a": [[0, 1, 0, 2]], "b": [[0, 1, 0, 2], [1, 1, 0, 2]]}}])");
    const std::string script = picture_script("x.svg", panels);
    EXPECT_TRUE(contains(script, "set xrange [-0.5:1.5]\nset xtics ('good' 0, 'bad' 1)\n"));
    EXPECT_TRUE(contains(script, "$d0_0 << EOD\n-0.06 1 0 2\nEOD")) << script;
}

std::vector<PicturePanel> bars() {
    PicturePanel panel{.title = "bars",
                       .x = "",
                       .y = "",
                       .curves = {{"outsider", {{0, 1, 0.5, 1.5}, {1, infinity}}},
                                  {"one agent", {{0, 2}, {1, not_a_number}}}}};
    panel.rows = {"ldp", "pairs\n+coalition-size=2"};
    return {panel};
}

TEST(Picture, OfBarsSaysWhichAreInfinite) {
    const std::string script = picture_script("x.svg", bars());
    EXPECT_TRUE(contains(script, "2.08 0.8 0 2.08 0.6 1\n")) << script;
    EXPECT_TRUE(contains(script, "set label 'infinite' at first 2.08,0.8 right")) << script;
    EXPECT_TRUE(contains(script, "$i0_0 << EOD\n1 -0.2 0.5 1.5\nEOD")) << script;
    EXPECT_FALSE(contains(script, "$i0_1")) << "it has no intervals";
    EXPECT_TRUE(contains(script, "set label 'one agent'")) << script;
}

TEST(Picture, GrowsWithItsRowsOfBars) {
    std::vector<PicturePanel> panels = bars();
    EXPECT_TRUE(contains(picture_script("x.svg", panels), "size 680,368 "))
        << picture_script("x.svg", panels);
    panels[0].rows.resize(20, "another");
    EXPECT_TRUE(contains(picture_script("x.svg", panels), "size 680,1024 "))
        << picture_script("x.svg", panels);
}

/// How many of the panels have an axis of losses from 0.94 to 2.56, which holds 1 to 2.5.
int with_axis_of_all(const std::string& script) { return count(script, "set yrange [0.94:2.56]"); }

TEST(Picture, HasOneAxisForPanelsOfOneNameUnlessOneWouldUseLessThanHalfOfIt) {
    std::vector<PicturePanel> panels(
        3, {.title = "", .x = "", .y = "loss", .curves = {{"a", {{0, 1}, {1, 2.5}}}}});
    panels[1].curves[0].points = {{0, 1.2}, {1, 2.1}};
    panels[2].curves[0].points = {{0, 1.1}, {1, 2.4}};
    EXPECT_EQ(with_axis_of_all(picture_script("x.svg", panels)), 3);
    panels[2].curves[0].points = {{0, 1.1}, {1, 1.3}};
    EXPECT_EQ(with_axis_of_all(picture_script("x.svg", panels)), 2) << "those side by side";
    panels[1].y = "accuracy";
    EXPECT_EQ(with_axis_of_all(picture_script("x.svg", panels)), 1) << "of another name";
}

TEST(Picture, OfRowsOnALogarithmicAxisHasPointsInsteadOfBars) {
    std::vector<PicturePanel> panels = bars();
    panels[0].curves = {{"a", {{0, 10, 5, 20}, {1, 1000}}}, {"b", {{0, 0.1}, {1, infinity}}}};
    EXPECT_TRUE(contains(picture_script("x.svg", panels), "with boxxyerror"));
    panels[0].log_x = true;
    const std::string script = picture_script("x.svg", panels);
    EXPECT_FALSE(contains(script, "with boxxyerror")) << script;
    EXPECT_TRUE(contains(script, "set logscale x")) << script;
    EXPECT_TRUE(contains(script, "set ytics ('ldp' 0")) << script;
}

TEST(Picture, LeavesOutWhatCannotBeDrawn) {
    PicturePanel panel;
    panel.curves = {{"a", {{1, infinity}, {2, not_a_number}, {3, 0}, {4, 5, 0, infinity}, {9, 6}}},
                    {"empty", {}}};
    panel.log_y = true;
    const std::string script = picture_script("x.svg", {panel});
    EXPECT_EQ(script.find("$d0_0 << EOD\n3 0 0 0\n4 5 "), 0U) << "a gap, and a point: " << script;
    panel.curves[0].points.push_back({10, -1});
    EXPECT_EQ(picture_script("x.svg", {panel}), script) << "nothing follows on the axes";
    for (const char* absent : {"inf", "nan", "empty"}) EXPECT_FALSE(contains(script, absent));
    panel.curves[0].points.resize(3);
    EXPECT_EQ(picture_script("x.svg", {panel}), "");
    EXPECT_FALSE(draw_picture("x.svg", {panel}));
    EXPECT_FALSE(draw_picture("x.svg", {}));
}

TEST(Picture, IsDrawnByGnuplotWithoutARemark) {
    if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
    const test::TemporaryFolder folder;
    const std::string path = folder.path("it's.svg");
    std::vector<PicturePanel> panels = bars();
    panels.push_back(
        {.title = "`touch x`", .x = "x\\n", .y = "", .curves = {{"c", {{1, 1}, {2, 4}}}}});
    testing::internal::CaptureStderr();
    EXPECT_TRUE(draw_picture(path, panels));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    const std::string picture = read_file(path);
    for (const char* part : {"<svg", "infinite", "coalition-size=2", "`touch x`", "x\\n"})
        EXPECT_TRUE(contains(picture, part)) << picture;
}

TEST(Picture, NeedsGnuplot) {
    const test::TemporaryFolder folder;
    const std::string before = std::getenv("PATH");
    ::setenv("PATH", folder.path("").c_str(), 1);
    EXPECT_FALSE(draw_picture(folder.path("x.svg"), bars()));
    ::setenv("PATH", before.c_str(), 1);
}

}  // namespace
}  // namespace sotto
