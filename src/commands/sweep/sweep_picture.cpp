#include "commands/sweep/sweep_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/gnuplot.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

/// Colours that people with any colour vision tell apart (Okabe and Ito).
constexpr std::array<std::string_view, 7> colours{
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};

/// Points of one line of a picture.
struct Line {
    std::string name;
    std::vector<std::array<double, 3>> points;  ///< x, mean, half width
};

std::vector<Line> lines_of(const SweepConfig& config, const SweepResult& result) {
    std::vector<Line> lines;
    for (std::size_t c = 0; c < result.cells.size(); ++c) {
        const SweepCell& cell = result.cells[c];
        const auto mean = mean_of(result.results[c], config.choose_by);
        const std::string* x = value_of(cell.fixed, *config.plot);
        if (!mean || x == nullptr) continue;
        const std::string name = cell_name(cell, *config.plot);
        auto line = std::ranges::find(lines, name, &Line::name);
        if (line == lines.end()) line = lines.insert(line, {name, {}});
        line->points.push_back({parse_real("plot", *x),
                                mean->mean,
                                std::isfinite(mean->half_width) ? mean->half_width : 0.0});
    }
    for (Line& line : lines) std::ranges::sort(line.points);
    return lines;
}

/// An axis of numbers far apart is logarithmic, and leaves room around them; error bars that reach
/// below zero are cut there. @param column of the points.
std::string axis(const std::vector<Line>& lines, char name, std::size_t column, double far_apart) {
    double smallest = infinity, largest = -smallest;
    for (const Line& line : lines)
        for (const auto& point : line.points) {
            smallest = std::min(smallest, point[column]);
            largest = std::max(largest, point[column]);
        }
    return smallest > 0 && largest >= far_apart * smallest
               ? fmt::format("set logscale {0}\nset {0}range [{1:g}:{2:g}]\n",
                             name,
                             smallest / 1.25,
                             largest * 1.25)
               : std::string();
}

/// The x axis is marked at the values that were measured, where these are few; a single one stands
/// in the middle.
std::string x_axis(const std::vector<Line>& lines) {
    std::set<double> values;
    for (const Line& line : lines)
        for (const auto& point : line.points) values.insert(point[0]);
    const double first = *values.begin(), last = *values.rbegin();
    const double room = first < last ? 0.05 * (last - first)
                        : first != 0 ? 0.5 * std::abs(first)
                                     : 1.0;
    std::string script = axis(lines, 'x', 0, 10);
    if (script.empty())
        script = fmt::format("set xrange [{:.9g}:{:.9g}]\n", first - room, last + room);
    if (constexpr std::size_t few = 8; values.size() > few) return script;
    std::string marks;
    for (const double value : values)
        marks += fmt::format("{}\"{:g}\" {:.9g}", marks.empty() ? "" : ", ", value, value);
    return script + fmt::format("set xtics ({})\n", marks);
}

/// How line i looks: lines of one colour have other points.
std::string look_of(std::size_t i) {
    constexpr std::array<int, 8> points{7, 5, 9, 11, 13, 6, 4, 8};
    return fmt::format(
        "linetype {} pointtype {}", i + 1, points[(i + i / colours.size()) % points.size()]);
}

std::string line_types() {
    std::string script;
    for (std::size_t i = 0; i < colours.size(); ++i)
        script += fmt::format("set linetype {} lc rgb '{}'\n", i + 1, colours[i]);
    return script + fmt::format("set linetype cycle {}\n", colours.size());
}

std::string points_of(const std::vector<Line>& lines) {
    std::string script;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        script += fmt::format("$line{} << END\n", i);
        for (const auto& point : lines[i].points)
            script += fmt::format("{:.9g} {:.9g} {:.9g}\n", point[0], point[1], point[2]);
        script += "END\n";
    }
    return script;
}

}  // namespace

std::string draw_sweep(const SweepConfig& config, const SweepResult& result) {
    const std::vector<Line> lines = lines_of(config, result);
    if (lines.empty() || !has_gnuplot()) return {};
    const std::string path = (config.directory / "results.svg").string();
    std::string script = fmt::format(
        "set terminal svg size 720,440 font 'sans,13' background 'white'\nset output {}\n"
        "set xlabel {} noenhanced\nset ylabel {} noenhanced\nset grid xtics ytics mxtics "
        "mytics\nset key outside right top "
        "noenhanced\n",
        quoted_for_gnuplot(path),
        quoted_for_gnuplot(*config.plot),
        quoted_for_gnuplot(config.choose_by));
    script += line_types() + x_axis(lines) + axis(lines, 'y', 1, 3) + points_of(lines);
    for (std::size_t i = 0; i < lines.size(); ++i)
        script += fmt::format("{}$line{} using 1:2:3 with yerrorlines {} title {}",
                              i == 0 ? "plot " : ", ",
                              i,
                              look_of(i),
                              quoted_for_gnuplot(lines[i].name));
    return draw_with_gnuplot(script + "\n") ? path : std::string();
}

}  // namespace sotto
