#include "account/distance_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "account/published_bound.hpp"
#include "core/files.hpp"
#include "core/gnuplot.hpp"
#include "core/picture.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

bool is_picture(const std::string& path) { return path.ends_with(".svg"); }

/// Columns: min, mean, max, ldp and every bound.
std::string column_names(const std::string& prefix) {
    std::string names;
    for (const char* name : {"min", "mean", "max", "ldp"}) names += " " + prefix + name;
    for (const PublishedBound* bound : view_bounds()) names += " " + prefix + bound->name;
    return names;
}

std::string figure_columns(const DistanceFigures& figures) {
    std::string columns = fmt::format(
        " {:.9g} {:.9g} {:.9g} {:.9g}", figures.min, figures.mean, figures.max, figures.ldp);
    for (std::size_t i = 0; i < view_bounds().size(); ++i)
        columns += i < figures.published.size() && figures.published[i]
                       ? fmt::format(" {:.9g}", *figures.published[i])
                       : " nan";
    return columns;
}

std::string table_of(const AccountResult& result) {
    std::string table =
        "# epsilon by graph distance from the nearest observer (inf: a view breaks the "
        "protection), and Renyi divergence of order 2\n# distance" +
        column_names("") + " pairs" + column_names("renyi_") + "\n";
    for (const DistanceRow& row : result.by_distance)
        table += fmt::format("{}{} {}{}\n",
                             row.distance,
                             figure_columns(row.epsilon),
                             row.pairs,
                             figure_columns(row.renyi));
    return table;
}

/// Distances to mark: whole numbers, all or, where they are many, every second, fifth, ...
std::vector<double> marks_of(const std::vector<DistanceRow>& rows) {
    int least = rows.front().distance, largest = least;
    for (const DistanceRow& row : rows) {
        least = std::min(least, row.distance);
        largest = std::max(largest, row.distance);
    }
    constexpr int most = 10;
    int step = 1;
    for (int power = 1; (largest - least) / step >= most; power *= 10)
        for (const int factor : {2, 5, 10})
            if ((largest - least) / step >= most) step = factor * power;
    std::vector<double> marks;
    for (int distance = least; distance <= largest; ++distance)
        if (distance % step == 0) marks.push_back(distance);
    return marks;
}

/// One set of axes.
/// @param of the figures of a distance.
PicturePanel panel_of(const AccountResult& result,
                      const std::string& label,
                      DistanceFigures DistanceRow::*of) {
    PictureCurve exact{"mean (least to largest)", {}}, ldp{"local DP", {}};
    std::vector<PictureCurve> published;
    for (const PublishedBound* bound : view_bounds()) published.push_back({bound->title, {}});
    bool infinite = false;
    for (const DistanceRow& row : result.by_distance) {
        const DistanceFigures& figures = row.*of;
        const double x = row.distance;
        infinite = infinite || std::isinf(figures.mean);
        exact.points.push_back({x, figures.mean, figures.min, figures.max});
        ldp.points.push_back({x, figures.ldp});
        for (std::size_t i = 0; i < published.size() && i < figures.published.size(); ++i)
            if (figures.published[i]) published[i].points.push_back({x, *figures.published[i]});
    }
    PicturePanel panel{.title = infinite ? "infinite where there is no point" : "",
                       .x = "graph distance from the observer",
                       .y = label,
                       .curves = {std::move(exact), std::move(ldp)},
                       .marks = marks_of(result.by_distance),
                       .intervals_as_bars = true};
    panel.curves.insert(panel.curves.end(), published.begin(), published.end());
    return panel;
}

/// Epsilon and the divergence, on a logarithmic axis, as in [U] Figure 2.
std::vector<PicturePanel> panels_of(const AccountResult& result) {
    std::vector<PicturePanel> panels{panel_of(result, "epsilon", &DistanceRow::epsilon)};
    if (result.has_renyi()) {
        panels.push_back(panel_of(result, "Renyi divergence of order 2", &DistanceRow::renyi));
        panels.back().log_y = true;
    }
    return panels;
}

}  // namespace

void require_by_distance_writable(const std::string& path) {
    require_writable(path);
    if (!is_picture(path)) return;
    require_writable(path + ".txt");
    if (!has_gnuplot())
        throw ConfigError(fmt::format(
            "--by-distance: {} is a picture, and gnuplot is not installed (Debian package "
            "gnuplot-nox); a name that does not end in .svg gets the table",
            path));
}

void write_by_distance(const AccountResult& result, const std::string& path) {
    if (!is_picture(path)) {
        write_file_atomically(path, table_of(result));
        return;
    }
    const std::string table = path + ".txt";
    write_file_atomically(table, table_of(result));
    if (std::ranges::none_of(result.by_distance, [](const DistanceRow& row) {
            return std::isfinite(row.epsilon.mean);
        }))
        throw ConfigError(fmt::format(
            "--by-distance: there is no finite epsilon to draw; the table is in {}", table));
    if (!draw_picture(path, panels_of(result)))
        throw ConfigError(fmt::format(
            "--by-distance: gnuplot could not draw {}; the table is in {}", path, table));
}

}  // namespace sotto
