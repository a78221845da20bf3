#include "account/distance_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "account/published_bound.hpp"
#include "core/files.hpp"
#include "core/gnuplot.hpp"
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

/// One set of axes.
/// @param data quoted name of the table.  @param first column of the smallest figure.
std::string axes_of(const AccountResult& result,
                    const std::string& data,
                    std::string_view label,
                    std::size_t first) {
    std::string script = fmt::format(
        "set ylabel '{0}'\n"
        "plot {1} using 1:{3}:{2}:{4} with yerrorbars pointtype 7 title 'min, mean, max', "
        "'' using 1:{3} with lines linetype 1 notitle, "
        "'' using 1:{5} with lines dashtype 2 title 'local DP'",
        label,
        data,
        first,
        first + 1,
        first + 2,
        first + 3);
    const auto bounds = view_bounds();
    for (std::size_t i = 0; i < bounds.size(); ++i)
        if (result.has_published(i))
            script += fmt::format(", '' using 1:{} with linespoints title {}",
                                  first + 4 + i,
                                  quoted_for_gnuplot(bounds[i]->title));
    return script + "\n";
}

/// Epsilon and the divergence, on a logarithmic axis, as in [U] Figure 2.
/// @param path of the picture.
std::string script_of(const std::string& path,
                      const std::string& table,
                      const AccountResult& result) {
    const std::string data = quoted_for_gnuplot(table);
    const bool both = result.has_renyi();
    std::string script = fmt::format(
        "set terminal svg size {},420 font 'sans,13' background 'white'\n"
        "set output {}\nset multiplot layout 1,{}\nset xlabel 'graph distance from the observer'\n"
        "set xtics 1\nset grid\nset key top right\nset offsets 0.3, 0.3, 0, 0\nset yrange [0:*]\n",
        both ? 1280 : 640,
        quoted_for_gnuplot(path),
        both ? 2 : 1);
    script += axes_of(result, data, "epsilon", 2);
    const std::size_t first_divergence = 2 + 4 + view_bounds().size() + 1;
    if (both)
        script += "set yrange [*:*]\nset logscale y\n" +
                  axes_of(result, data, "Renyi divergence of order 2", first_divergence);
    return script + "unset multiplot\n";
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
    if (!draw_with_gnuplot(script_of(path, table, result)))
        throw ConfigError(fmt::format(
            "--by-distance: gnuplot could not draw {}; the table is in {}", path, table));
}

}  // namespace sotto
