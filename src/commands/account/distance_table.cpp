#include "commands/account/distance_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "run/gnuplot.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

namespace sotto {

namespace {

bool is_picture(const std::string& path) { return path.ends_with(".svg"); }

std::string table_of(const AccountResult& result) {
    std::string table =
        "# epsilon by graph distance from the nearest observer (inf: a view breaks the "
        "protection)\n# distance min mean max ldp muffliato_bound pairs\n";
    for (const DistanceRow& row : result.by_distance)
        table += fmt::format("{} {:.9g} {:.9g} {:.9g} {:.9g} {} {}\n",
                             row.distance,
                             row.min,
                             row.mean,
                             row.max,
                             row.ldp,
                             row.muffliato ? fmt::format("{:.9g}", *row.muffliato) : "nan",
                             row.pairs);
    return table;
}

/// @param path of the picture.  @param bound whether the table has the Muffliato bound.
std::string script_of(const std::string& path, const std::string& table, bool bound) {
    const std::string data = quoted_for_gnuplot(table);
    std::string script = fmt::format(
        "set terminal svg size 640,420 font 'sans,13' background 'white'\n"
        "set output {}\nset xlabel 'graph distance from the observer'\nset ylabel 'epsilon'\n"
        "set xtics 1\nset grid\nset key top right\nset offsets 0.3, 0.3, 0, 0\nset yrange [0:*]\n"
        "plot {} using 1:3:2:4 with yerrorbars pointtype 7 title 'min, mean, max', "
        "'' using 1:3 with lines linetype 1 notitle, "
        "'' using 1:5 with lines dashtype 2 title 'local DP'",
        quoted_for_gnuplot(path),
        data);
    if (bound) script += ", '' using 1:6 with linespoints title 'Muffliato bound'";
    return script + "\n";
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
    if (std::ranges::none_of(result.by_distance,
                             [](const DistanceRow& row) { return std::isfinite(row.mean); }))
        throw ConfigError(fmt::format(
            "--by-distance: there is no finite epsilon to draw; the table is in {}", table));
    const bool bound = result.by_distance.front().muffliato.has_value();
    if (!draw_with_gnuplot(script_of(path, table, bound)))
        throw ConfigError(fmt::format(
            "--by-distance: gnuplot could not draw {}; the table is in {}", path, table));
}

}  // namespace sotto
