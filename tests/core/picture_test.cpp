#include "core/picture.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files.hpp"
#include "core/gnuplot.hpp"
#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"

namespace sotto {
namespace {

using test::contains;
using Panels = nlohmann::ordered_json;  // keeps the order of curves

PictureCurve curve_of(const std::string& name, const Panels& points) {
    PictureCurve curve{name, {}};
    for (const Panels& point : points) {
        curve.points.push_back({point.at(0), point.at(1)});
        if (point.size() > 2) {
            curve.points.back().low = point.at(2);
            curve.points.back().high = point.at(3);
        }
    }
    return curve;
}

std::vector<PicturePanel> panels_of(const Panels& example) {
    std::vector<PicturePanel> panels;
    for (const Panels& told : example) {
        PicturePanel& panel = panels.emplace_back();
        panel.title = told.at("title");
        panel.x = told.at("x");
        panel.y = told.at("y");
        panel.log_x = told.value("log_x", false);
        panel.log_y = told.value("log_y", false);
        panel.marks = told.value("marks", std::vector<double>{});
        panel.intervals_as_bars = told.value("bars", false);
        for (const auto& [name, points] : told.at("curves").items())
            panel.curves.push_back(curve_of(name, points));
    }
    return panels;
}

// tests/figures/check.py compares the same scripts with those of bench/figures/pictures.py.
TEST(Picture, IsDrawnLikeTheFiguresOfTheDocumentation) {
    int examples = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(SOTTO_SOURCE_DIR "/tests/core/picture_examples")) {
        if (entry.path().extension() != ".json") continue;
        ++examples;
        std::filesystem::path script = entry.path();
        script.replace_extension(".gp");
        EXPECT_EQ(picture_script("picture.svg",
                                 panels_of(Panels::parse(read_file(entry.path().string())))),
                  read_file(script.string()))
            << entry.path();
    }
    EXPECT_GE(examples, 5);
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
    EXPECT_TRUE(contains(picture_script("x.svg", panels), "size 680,330 "))
        << picture_script("x.svg", panels);
    panels[0].rows.resize(20, "another");
    EXPECT_TRUE(contains(picture_script("x.svg", panels), "size 680,986 "))
        << picture_script("x.svg", panels);
}

TEST(Picture, LeavesOutWhatCannotBeDrawn) {
    PicturePanel panel;
    panel.curves = {{"a", {{1, infinity}, {2, not_a_number}, {3, 0}, {4, 5, 0, infinity}, {9, 6}}},
                    {"empty", {}}};
    panel.log_y = true;
    const std::string script = picture_script("x.svg", {panel});
    EXPECT_EQ(script.find("$d0_0 << EOD\n4 5 "), 0U) << script;
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
