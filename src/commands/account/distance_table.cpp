#include "commands/account/distance_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "run/gnuplot.hpp"
#include "run/published_bound.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

namespace sotto {

namespace {

bool is_picture(const std::string& path) { return path.ends_with(".svg"); }

std::string table_of(const AccountResult& result) {
    std::string table =
        "# epsilon by graph distance from the nearest observer (inf: a view breaks the "
        "protection)\n# distance min mean max ldp";
    for (const PublishedBound* bound : view_bounds()) table += " " + bound->name;
    table += " pairs\n";
    for (const DistanceRow& row : result.by_distance) {
        table += fmt::format(
            "{} {:.9g} {:.9g} {:.9g} {:.9g}", row.distance, row.min, row.mean, row.max, row.ldp);
        for (std::size_t i = 0; i < view_bounds().size(); ++i)
            table += i < row.published.size() && row.published[i]
                         ? fmt::format(" {:.9g}", *row.published[i])
                         : " nan";
        table += fmt::format(" {}\n", row.pairs);
    }
    return table;
}

/// @param path of the picture.
std::string script_of(const std::string& path,
                      const std::string& table,
                      const AccountResult& result) {
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
    constexpr std::size_t columns_before = 5;
    const auto bounds = view_bounds();
    for (std::size_t i = 0; i < bounds.size(); ++i)
        if (result.has_published(i))
            script += fmt::format(", '' using 1:{} with linespoints title {}",
                                  columns_before + i + 1,
                                  quoted_for_gnuplot(bounds[i]->title));
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
    if (!draw_with_gnuplot(script_of(path, table, result)))
        throw ConfigError(fmt::format(
            "--by-distance: gnuplot could not draw {}; the table is in {}", path, table));
}

}  // namespace sotto
