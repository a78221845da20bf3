#include "core/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "core/gnuplot.hpp"
#include "core/picture_parts.hpp"
#include "core/picture_style.hpp"

namespace sotto {

namespace {

using namespace picture_style;

/// In pixels, of the legend: the length of a sample of a curve, that with the room round the name,
/// and the height of an entry.
constexpr double sample_width = 26, around_sample = sample_width + 24, entry_height = 24;
/// In pixels, of names at the ends of curves: from the axes to the name, and how far from the end
/// of its curve, up or down, a name may be.
constexpr double before_name = 16, farthest_name = 20;
/// What a row of bars, or of points, is at least higher than its name, in pixels; and the part of a
/// row that bars fill.
constexpr double around_name = 12, around_point = 5, filled = 0.8;
constexpr double left_of_legend = 60;
constexpr std::size_t most_named_at_ends = 7;

double real_of(auto count) { return static_cast<double>(count); }

std::string number(double value) { return fmt::format("{:.10g}", value); }

bool has_intervals(const PictureCurve& curve) {
    return std::ranges::any_of(curve.points,
                               [](const PicturePoint& point) { return !std::isnan(point.low); });
}

/// A panel with what is drawn of it.
struct Plot {
    PicturePanel panel;
    PictureAxis x, y;
    bool named = true;  ///< whether curves are named at their ends
    double aside = 0;   ///< part of the x axis between intervals of two curves at one place
    std::vector<std::string> below{};  ///< curves that the axis leaves out, except where they begin

    [[nodiscard]] bool of_bars() const { return !panel.rows.empty(); }
    /// Bars from zero need a linear axis.
    [[nodiscard]] bool of_points() const { return of_bars() && panel.log_x; }

    [[nodiscard]] double height_of_rows() const {
        std::ptrdiff_t lines = 1;
        for (const std::string& row : panel.rows)
            lines = std::max(lines, 1 + std::ranges::count(row, '\n'));
        return ((of_points() ? around_point : around_name) + line_height * real_of(lines)) *
               real_of(panel.rows.size());
    }

    /// The height of a bar, in rows.
    [[nodiscard]] double bar() const { return filled / real_of(panel.curves.size()); }

    /// Whether intervals of curve c are bars: in a band, a reference line shows that it is one, and
    /// a single point nothing.
    [[nodiscard]] bool barred(std::size_t c, const PictureLook& look) const {
        const PictureCurve& curve = panel.curves[c];
        return has_intervals(curve) &&
               (curve.points.size() == 1 || (panel.intervals_as_bars && look.point != 0));
    }

    /// Whether curve c stands beside what others have at the same place.
    [[nodiscard]] bool moved(std::size_t c) const {
        return panel.intervals_as_bars || panel.curves[c].points.size() == 1;
    }

    /// Where a point of curve c is drawn: what several curves have at one place stands side by
    /// side, and single points to the right of curves.
    [[nodiscard]] std::pair<double, double> place(std::size_t c, const PicturePoint& point) const {
        std::size_t before = 0, all = 0;
        for (std::size_t k = 0; k < panel.curves.size(); ++k)
            if (of_bars() || moved(k)) {
                before += k < c ? 1 : 0;
                ++all;
            }
        const double from_middle = real_of(before) - (real_of(all) - 1) / 2;
        if (of_bars()) return {x.nearest_inside(point.y), point.x + from_middle * bar()};
        if (!moved(c)) return {point.x, point.y};
        const double steps = panel.intervals_as_bars ? from_middle : real_of(before) + 1;
        return {x.moved(point.x, aside * steps), point.y};
    }

    /// The point that the curve's name stands beside.
    [[nodiscard]] const PicturePoint& end(std::size_t c) const {
        return panel.curves[c].points.back();
    }

    /// Whether curves are few, and end near the right end of the axes.
    [[nodiscard]] bool can_be_direct() const {
        return panel.curves.size() <= most_named_at_ends &&
               (of_bars() ? std::ranges::all_of(
                                panel.curves,
                                [](const PictureCurve& curve) { return curve.name.empty(); })
                          : std::ranges::all_of(panel.curves, [&](const PictureCurve& curve) {
                                return x.part(curve.points.back().x) > 0.85;
                            }));
    }
};

/// Removes points and curves that cannot be drawn, and sorts points from left to right. A point
/// that is not positive stays on a logarithmic axis, where it makes a gap, unless it is the last.
void keep_drawable(PicturePanel& panel) {
    const auto off_axes = [&](const PicturePoint& point) {
        return (panel.log_x && point.x <= 0) || (panel.log_y && point.y <= 0);
    };
    for (PictureCurve& curve : panel.curves) {
        auto& points = curve.points;
        std::erase_if(points, [&](const PicturePoint& point) {
            if (!panel.rows.empty()) return std::isnan(point.y);
            return !std::isfinite(point.x) || !std::isfinite(point.y);
        });
        std::ranges::stable_sort(points, {}, &PicturePoint::x);
        while (!points.empty() && off_axes(points.back())) points.pop_back();
    }
    std::erase_if(panel.curves, [](const PictureCurve& curve) { return curve.points.empty(); });
}

Plot plot_of_bars(PicturePanel panel) {
    double top = 0;
    std::vector<double> lengths;
    for (const PictureCurve& curve : panel.curves)
        for (const PicturePoint& point : curve.points)
            for (const double value : {point.y, point.high}) {
                if (std::isfinite(value)) top = std::max(top, value);
                if (std::isfinite(value) && value > 0) lengths.push_back(value);
            }
    top = panel.longest_bar.value_or(top > 0 ? 1.04 * top : 1.0);
    Plot plot{std::move(panel), axis_of_bars(top), {}};
    if (plot.of_points()) plot.x = axis_of(lengths, true);
    plot.y = axis_of_words(plot.panel.rows, true);
    plot.named = false;
    return plot;
}

/// Values of a panel's points and of the ends of their intervals.
/// @param without the name of a curve that is left out; empty: none is.
std::vector<double> heights_of(const PicturePanel& panel, const std::string& without) {
    std::vector<double> ends;
    for (const PictureCurve& curve : panel.curves)
        if (without.empty() || curve.name != without)
            for (const PicturePoint& point : curve.points)
                for (const double value : {point.y, point.low, point.high})
                    if (std::isfinite(value) && (!panel.log_y || value > 0)) ends.push_back(value);
    return ends;
}

/// How far values reach: their span, or on a logarithmic axis the logarithm of their ratio.
double reach(const std::vector<double>& values, bool log) {
    const auto [least, largest] = std::ranges::minmax(values);
    return log ? std::log(largest / least) : largest - least;
}

/// The curve without which the others would fill five times as much of a logarithmic axis, if
/// there is one that falls below them; empty: none.
std::string far_below(const PicturePanel& panel) {
    constexpr std::size_t enough = 4;
    constexpr double factor = 5;
    if (!panel.log_y || panel.curves.size() < enough) return {};
    const std::vector<double> all = heights_of(panel, {});
    for (const PictureCurve& curve : panel.curves) {
        const std::vector<double> rest = heights_of(panel, curve.name);
        if (reach(all, true) >= factor * reach(rest, true) &&
            curve.points.back().y < std::ranges::min(rest))
            return curve.name;
    }
    return {};
}

/// Axes span all curves and intervals, with room around them if intervals are far wider than the
/// curves differ. A curve far below all others leaves a logarithmic axis.
Plot plot_of_curves(PicturePanel panel) {
    std::vector<double> xs, means;
    for (const PictureCurve& curve : panel.curves)
        for (const PicturePoint& point : curve.points) {
            xs.push_back(point.x);
            means.push_back(point.y);
        }
    const std::string below = far_below(panel);
    const std::vector<double> ends = heights_of(panel, below);
    const double differ = reach(means, false);
    const bool slab = !panel.log_y && differ > 0 && reach(ends, false) > 4 * differ;
    Plot plot{std::move(panel), {}, {}};
    const PicturePanel& kept = plot.panel;
    plot.x = kept.columns.empty()
                 ? axis_of(xs, kept.log_x, kept.marks, kept.intervals_as_bars ? 0.06 : 0.04, 4)
                 : axis_of_words(kept.columns, false);
    plot.y = axis_of(ends, kept.log_y, {}, slab ? 0.2 : below.empty() ? 0.04 : 0.25);
    if (!below.empty()) plot.below.push_back(below);
    const auto beside = [&](const PictureCurve& curve) {
        return has_intervals(curve) && (kept.intervals_as_bars || curve.points.size() == 1);
    };
    if (std::ranges::count_if(kept.curves, beside) > 1)
        plot.aside = !kept.columns.empty() ? 0.06 : kept.intervals_as_bars ? 0.01 : 0.025;
    return plot;
}

/// Gives plots one y axis if it has the same name and unit in all of them and none would use less
/// than half of it. @return whether it did.
bool share_axis(const std::vector<Plot*>& plots) {
    if (plots.size() < 2) return false;
    const Plot& first = *plots.front();
    double low = first.y.low, high = first.y.high;
    for (const Plot* plot : plots) {
        if (plot->of_bars() || plot->panel.y != first.panel.y || plot->y.log != first.y.log)
            return false;
        low = std::min(low, plot->y.low);
        high = std::max(high, plot->y.high);
    }
    const PictureAxis shared = axis_between(low, high, first.y.log);
    for (const Plot* plot : plots)
        if (shared.part(plot->y.high) - shared.part(plot->y.low) < 0.5) return false;
    for (Plot* plot : plots) plot->y = shared;
    return true;
}

/// All plots share an axis, or else those that stand side by side.
void share_axes(std::vector<Plot>& plots) {
    std::vector<Plot*> all;
    for (Plot& plot : plots)
        if (!plot.of_bars()) all.push_back(&plot);
    if (share_axis(all)) return;
    for (std::size_t p = 0; p + 1 < all.size(); p += 2) share_axis({all[p], all[p + 1]});
}

/// gnuplot commands in pixels from the upper left corner.
struct Canvas {
    double width, height;

    [[nodiscard]] std::string place(double x, double y) const {
        return fmt::format("screen {:.5f},{:.5f}", x / width, 1 - y / height);
    }
};

struct Box {
    double left, top, right, bottom;
    [[nodiscard]] double height() const { return bottom - top; }
};

std::string margins(const Canvas& canvas, const Box& box) {
    return fmt::format(
        "set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\nset tmargin at screen "
        "{:.5f}\nset bmargin at screen {:.5f}\n",
        box.left / canvas.width,
        box.right / canvas.width,
        1 - box.top / canvas.height,
        1 - box.bottom / canvas.height);
}

std::string stroke(const PictureLook& look, int dash) {
    return fmt::format("lc rgb \"{}\" lw {} dt {}", look.colour, line_width, dash);
}

std::string mark(const PictureLook& look) {
    return fmt::format("pt {} ps {}", look.point, point_size);
}

/// Lines of text, whose middle is y, from x to the right.
std::string text_at(const Canvas& canvas,
                    double x,
                    double y,
                    const std::vector<std::string>& lines) {
    std::string script;
    const double first = y - real_of(lines.size() - 1) * line_height / 2;
    for (std::size_t k = 0; k < lines.size(); ++k)
        script += fmt::format("set label {} at {} left\n",
                              quoted_for_gnuplot(lines[k]),
                              canvas.place(x, first + real_of(k) * line_height));
    return script;
}

/// Breaks a name at blanks, for the place beside a panel.
std::vector<std::string> wrapped(const std::string& name, std::size_t columns) {
    const std::size_t most = columns == 2 ? 18 : 24;
    std::vector<std::string> lines;
    std::istringstream stream(name);
    for (std::string word; stream >> word;)
        if (!lines.empty() && letters_in(lines.back()) + 1 + letters_in(word) <= most)
            lines.back() += " " + word;
        else
            lines.push_back(word);
    return lines;
}

/// How a curve is drawn in a legend.
struct Sample {
    PictureLook look;
    bool lined = false;
};

/// A piece of a curve from x, with its name to the right.
std::string sample_at(const Canvas& canvas,
                      double x,
                      double y,
                      const std::vector<std::string>& name,
                      const Sample& sample) {
    std::string script;
    if (sample.lined)
        script += fmt::format("set arrow from {} to {} nohead {}\n",
                              canvas.place(x, y),
                              canvas.place(x + sample_width, y),
                              stroke(sample.look, sample.look.dash));
    if (sample.look.point != 0)
        script += fmt::format("set label '' at {} point {} lc rgb \"{}\"\n",
                              canvas.place(x + sample_width / 2, y),
                              mark(sample.look),
                              sample.look.colour);
    return script + text_at(canvas, x + sample_width + 5, y, name);
}

/// Middles of boxes of these heights, from low to high, without overlap and near the wanted ones,
/// which ascend.
std::vector<double> spread(const std::vector<double>& wanted,
                           const std::vector<double>& heights,
                           double low,
                           double high) {
    struct Group {
        std::size_t first, end;
        double height, top;
        [[nodiscard]] bool overlaps(const Group& below) const { return top + height > below.top; }
    };
    const auto group_of = [&](std::size_t first, std::size_t end) {
        double mean = 0, height = 0;
        for (std::size_t i = first; i < end; ++i) {
            mean += wanted[i];
            height += heights[i];
        }
        mean /= real_of(end - first);
        return Group{first, end, height, std::min(std::max(mean - height / 2, low), high - height)};
    };
    std::vector<Group> groups;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        Group last = group_of(i, i + 1);
        for (; !groups.empty() && groups.back().overlaps(last); groups.pop_back())
            last = group_of(groups.back().first, i + 1);
        groups.push_back(last);
    }
    std::vector<double> middles;
    for (const Group& group : groups) {
        double top = group.top;
        for (std::size_t i = group.first; i < group.end; ++i) {
            middles.push_back(top + heights[i] / 2);
            top += heights[i];
        }
    }
    return middles;
}

/// Where a panel stands; a wide one has its row for itself.
struct Cell {
    std::size_t row = 0, column = 0;
    bool wide = false;
};

/// All panels on their canvas.
class Picture {
  public:
    explicit Picture(std::vector<Plot> plots) : plots_(std::move(plots)) {
        place_panels();
        choose_named();
        choose_looks();
        direct_ = std::ranges::all_of(plots_, &Plot::can_be_direct);
        lay_out_legend();
        if (direct_ && !names_are_near()) {
            direct_ = false;
            lay_out_legend();
        }
    }

    [[nodiscard]] std::string script(const std::string& path) const {
        std::string data,
            script = fmt::format(
                "set terminal svg size {:g},{:g} noenhanced background rgb \"{}\" font "
                "\"{}\"\nset output {}\nset multiplot\nset border 3 back\n"
                "set tics nomirror out\nset grid back {}\nset errorbars {}\nset pointintervalbox "
                "0\nunset key\n",
                canvas_.width,
                canvas_.height,
                background,
                font,
                quoted_for_gnuplot(path),
                grid,
                bar_ends);
        const std::vector<Box> boxes = boxes_of();
        for (std::size_t p = 0; p < plots_.size(); ++p) {
            const Plot& plot = plots_[p];
            script += margins(canvas_, boxes[p]) + "unset label\nunset arrow\n" +
                      axis_names(plot, boxes[p]) + what_is_below(plot, boxes[p]);
            if (direct_ && plot.named) script += end_names(plot, boxes[p]);
            if (!direct_ && p + 1 == plots_.size()) script += legend();
            script += plot.x.commands('x') + plot.y.commands('y');
            script += plot.of_bars() ? bars(p, data) : curves(p, data);
        }
        return data + script + "unset multiplot\n";
    }

  private:
    void place_panels() {
        const auto of_curves =
            std::ranges::count_if(plots_, [](const Plot& plot) { return !plot.of_bars(); });
        std::size_t narrow = 0;
        const auto is_wide = [&](const Plot& plot) { return plot.of_bars() && of_curves > 0; };
        for (const Plot& plot : plots_)
            cells_.push_back(is_wide(plot) ? Cell{0, 0, true}
                                           : Cell{narrow / 2, narrow % 2, (++narrow, false)});
        std::size_t rows = (narrow + 1) / 2;
        columns_ = std::min<std::size_t>(narrow, 2);
        if (narrow > 2 && narrow % 2 == 1) free_ = Cell{rows - 1, 1};
        for (Cell& cell : cells_)
            if (cell.wide) cell.row = rows++;
        heights_.assign(rows, 0);
        for (std::size_t p = 0; p < plots_.size(); ++p) {
            const double needed =
                plots_[p].of_bars() ? above_axes + below_axes + plots_[p].height_of_rows() : 0;
            double& height = heights_[cells_[p].row];
            height = std::max({height, needed, cells_[p].wide ? 0 : picture_style::height});
        }
    }

    /// If the right one of two panels has all curves of the left one, only the right one names
    /// them.
    void choose_named() {
        for (std::size_t p = 0; p + 1 < plots_.size(); ++p) {
            if (plots_[p].of_bars() || cells_[p].column != 0 || cells_[p + 1].wide ||
                cells_[p + 1].row != cells_[p].row)
                continue;
            const auto& right = plots_[p + 1].panel.curves;
            plots_[p].named =
                !std::ranges::all_of(plots_[p].panel.curves, [&](const PictureCurve& curve) {
                    return std::ranges::find(right, curve.name, &PictureCurve::name) != right.end();
                });
        }
    }

    void choose_looks() {
        std::vector<std::string> names;
        for (const Plot& plot : plots_)
            for (const PictureCurve& curve : plot.panel.curves)
                if (std::ranges::find(names, curve.name) == names.end())
                    names.push_back(curve.name);
        for (const auto& [name, look] : looks_of(names)) {
            if (!name.empty()) legend_order_.push_back(name);
            samples_[name] = {look, false};
        }
        constexpr int square = 5, circle = 7;
        for (const Plot& plot : plots_)
            for (const PictureCurve& curve : plot.panel.curves) {
                Sample& sample = samples_[curve.name];
                if (plot.of_bars())
                    sample.look.point = plot.of_points() ? circle : square;
                else if (plot.panel.joined && curve.points.size() > 1)
                    sample.lined = true;
            }
    }

    /// The top of a row of panels, or of what is below all of them.
    [[nodiscard]] double top_of(std::size_t row) const {
        double top = 0;
        for (std::size_t r = 0; r < row; ++r) top += heights_[r];
        return top;
    }

    void lay_out_legend() {
        const double width = columns_ == 2 ? page_width : width_of_one;
        std::size_t longest = 0;
        for (const std::string& name : legend_order_) longest = std::max(longest, letters_in(name));
        const double entry = letter_width * real_of(longest) + around_sample;
        legend_beside_ =
            free_ && entry < width / 2 - left_of_legend &&
            entry_height * real_of(legend_order_.size()) < heights_[free_->row] - above_axes;
        across_ = legend_beside_
                      ? 1
                      : std::max<std::size_t>(1, static_cast<std::size_t>((width - 40) / entry));
        const std::size_t lines = (legend_order_.size() + across_ - 1) / across_;
        below_ = direct_ || legend_beside_ || lines == 0 ? 0 : entry_height * real_of(lines) + 14;
        canvas_ = {width, top_of(heights_.size()) + below_};
    }

    /// Below all panels, or where no panel is.
    [[nodiscard]] std::string legend() const {
        const double left = legend_beside_ ? canvas_.width / 2 + left_of_legend : 30,
                     top = legend_beside_ ? top_of(free_->row) + above_axes + 10
                                          : canvas_.height - below_ + 8,
                     step = (canvas_.width - 40) / real_of(across_);
        std::string script;
        for (std::size_t e = 0; e < legend_order_.size(); ++e)
            script += sample_at(canvas_,
                                left + real_of(e % across_) * step,
                                top + real_of(e / across_) * entry_height,
                                {legend_order_[e]},
                                samples_.at(legend_order_[e]));
        return script;
    }

    /// Room for names beside the panels of a column.
    [[nodiscard]] double beside(std::size_t column) const {
        double most = 16;
        for (std::size_t p = 0; p < plots_.size(); ++p) {
            const Cell& cell = cells_[p];
            const bool free_beside = free_ && cell.row == free_->row;
            if (!direct_ || !plots_[p].named || free_beside || cell.wide || cell.column != column)
                continue;
            for (const PictureCurve& curve : plots_[p].panel.curves)
                for (const std::string& line : wrapped(curve.name, columns_))
                    most =
                        std::max(most, before_name + 12 + letter_width * real_of(letters_in(line)));
        }
        return most;
    }

    /// Places of the axes of every plot: all narrow ones are equally wide.
    [[nodiscard]] std::vector<Box> boxes_of() const {
        std::vector<double> left(columns_, 0), beside_column;
        const auto left_beside = [](const Plot& plot) {
            return 42 + letter_width * real_of(plot.y.longest_name()) +
                   line_height * real_of(std::ranges::count(plot.panel.y, '\n'));
        };
        for (std::size_t p = 0; p < plots_.size(); ++p)
            if (double& most = left[cells_[p].column]; !cells_[p].wide)
                most = std::max(most, left_beside(plots_[p]));
        double axes = canvas_.width;
        for (std::size_t column = 0; column < columns_; ++column) {
            beside_column.push_back(beside(column));
            axes -= left[column] + beside_column.back();
        }
        axes /= real_of(columns_);
        std::vector<Box> boxes;
        for (std::size_t p = 0; p < plots_.size(); ++p) {
            const Cell& cell = cells_[p];
            const double start = cell.wide          ? left_beside(plots_[p])
                                 : cell.column == 0 ? left[0]
                                                    : left[0] + axes + beside_column[0] + left[1];
            boxes.push_back({start,
                             top_of(cell.row) + above_axes,
                             cell.wide ? canvas_.width - 16 : start + axes,
                             top_of(cell.row + 1) - below_axes});
        }
        return boxes;
    }

    /// Says inside the axes which curves leave them.
    [[nodiscard]] std::string what_is_below(const Plot& plot, const Box& box) const {
        if (plot.below.empty()) return {};
        return fmt::format(
            "set label {} at {} right textcolor rgb \"{}\"\n",
            quoted_for_gnuplot(fmt::format("{}: below", fmt::join(plot.below, ", "))),
            canvas_.place(box.right - 4, box.bottom - 12),
            grey);
    }

    /// The title, and the names of the axes.
    [[nodiscard]] std::string axis_names(const Plot& plot, const Box& box) const {
        const double middle = (box.left + box.right) / 2;
        const double beside = letter_width * real_of(plot.y.longest_name()) + 32 +
                              line_height * real_of(std::ranges::count(plot.panel.y, '\n'));
        const auto label = [&](const std::string& text, double x, double y, const char* turned) {
            return fmt::format("set label {} at {} center{}\n",
                               quoted_for_gnuplot(text),
                               canvas_.place(x, y),
                               turned);
        };
        return label(plot.panel.title, middle, box.top - 20, "") +
               label(plot.panel.y, box.left - beside, (box.top + box.bottom) / 2, " rotate") +
               label(plot.panel.x, middle, box.bottom + 49, "");
    }

    struct EndName {
        double x, y;            ///< of the end of the curve
        double wanted, middle;  ///< heights on the canvas: of the end, and of the name
        std::vector<std::string> lines;
        std::string colour;
    };

    /// Names of the curves of a plot beside their ends, as near to them as they are without
    /// overlap.
    [[nodiscard]] std::vector<EndName> names_at_ends(const Plot& plot, const Box& box) const {
        std::vector<EndName> names;
        for (std::size_t c = 0; c < plot.panel.curves.size(); ++c) {
            const auto [x, y] = plot.place(c, plot.end(c));
            const std::string& name = plot.panel.curves[c].name;
            const double height = box.bottom - plot.y.part(plot.y.nearest_inside(y)) * box.height();
            names.push_back(
                {x, y, height, height, wrapped(name, columns_), samples_.at(name).look.colour});
        }
        std::ranges::stable_sort(names, {}, &EndName::wanted);
        std::vector<double> wanted, heights;
        for (const EndName& name : names) {
            wanted.push_back(name.wanted);
            heights.push_back(line_height * real_of(name.lines.size()) + 2);
        }
        const auto middles = spread(wanted, heights, box.top - 8, box.bottom + 8);
        for (std::size_t k = 0; k < names.size(); ++k) names[k].middle = middles[k];
        return names;
    }

    /// Whether all names are near the ends of their curves.
    [[nodiscard]] bool names_are_near() const {
        const std::vector<Box> boxes = boxes_of();
        for (std::size_t p = 0; p < plots_.size(); ++p)
            if (plots_[p].named)
                for (const EndName& name : names_at_ends(plots_[p], boxes[p]))
                    if (std::abs(name.middle - name.wanted) > farthest_name) return false;
        return true;
    }

    /// The names, and thin lines to them from the ends of their curves.
    [[nodiscard]] std::string end_names(const Plot& plot, const Box& box) const {
        std::string script;
        for (const EndName& name : names_at_ends(plot, box))
            script += fmt::format("set arrow from first {},{} to {} nohead lc rgb \"{}\" lw {}\n",
                                  number(name.x),
                                  number(plot.y.nearest_inside(name.y)),
                                  canvas_.place(box.right + before_name - 4, name.middle),
                                  name.colour,
                                  leader_width) +
                      text_at(canvas_, box.right + before_name, name.middle, name.lines);
        return script;
    }

    /// Appends the points of the curves of plot p to the data, and draws them.
    [[nodiscard]] std::string curves(std::size_t p, std::string& data) const {
        const Plot& plot = plots_[p];
        const auto intervals = std::ranges::count_if(plot.panel.curves, has_intervals);
        std::vector<std::string> parts, lines;
        for (std::size_t c = 0; c < plot.panel.curves.size(); ++c) {
            const PictureCurve& curve = plot.panel.curves[c];
            const PictureLook& look = samples_.at(curve.name).look;
            const std::string name = fmt::format("$d{}_{}", p, c);
            data += name + " << EOD\n";
            for (const PicturePoint& point : curve.points) {
                const auto end = [&](double value) {
                    return number(std::isnan(value) ? point.y : plot.y.nearest_inside(value));
                };
                data += fmt::format("{} {} {} {}\n",
                                    number(plot.place(c, point).first),
                                    number(point.y),
                                    end(point.low),
                                    end(point.high));
            }
            data += "EOD\n";
            const bool barred = plot.barred(c, look);
            if (barred)
                lines.push_back(name + " using 1:2:3:4 with yerrorbars " + stroke(look, 1) +
                                " pt 0 ps 0");
            else if (has_intervals(curve))
                parts.push_back(fmt::format(
                    "{} using 1:3:4 with filledcurves lc rgb \"{}\" fs transparent solid {:.3f} "
                    "noborder",
                    name,
                    look.colour,
                    std::min(opacity, opacity_of_all / real_of(intervals))));
            const bool joined = !barred || (plot.panel.joined && curve.points.size() > 1);
            const std::string drawn = joined && look.point == 0 ? "lines"
                                      : joined                  ? "linespoints"
                                                                : "points";
            lines.push_back(fmt::format(
                "{} using 1:2 with {} {}",
                name,
                drawn,
                stroke(look, look.dash) + (look.point != 0 ? " " + mark(look) : "") +
                    (drawn == "linespoints"
                         ? fmt::format(" pointinterval {}", (curve.points.size() + 9) / 10)
                         : "")));
        }
        parts.insert(parts.end(), lines.begin(), lines.end());
        return fmt::format("plot {}\n", fmt::join(parts, ", \\\n  "));
    }

    /// Appends the bars of plot p to the data, and draws them.
    [[nodiscard]] std::string bars(std::size_t p, std::string& data) const {
        const Plot& plot = plots_[p];
        std::string script = "set style fill solid noborder\n";
        std::vector<std::string> parts, intervals;
        for (std::size_t c = 0; c < plot.panel.curves.size(); ++c) {
            const PictureCurve& curve = plot.panel.curves[c];
            std::string boxes, ends;
            for (const PicturePoint& point : curve.points) {
                const auto [end, row] = plot.place(c, point);
                boxes += fmt::format("{0} {1} 0 {0} {2} {3}\n",
                                     number(end),
                                     number(row),
                                     number(row - plot.bar() / 2),
                                     number(row + plot.bar() / 2));
                if (!std::isnan(point.low))
                    ends += fmt::format("{} {} {} {}\n",
                                        number(end),
                                        number(row),
                                        number(plot.x.nearest_inside(point.low)),
                                        number(plot.x.nearest_inside(point.high)));
                if (std::isinf(point.y))
                    script += fmt::format(
                        "set label 'infinite' at first {},{} right offset -0.5,0 front textcolor "
                        "rgb \"white\"\n",
                        number(end),
                        number(row));
            }
            const std::string name = fmt::format("{}_{}", p, c);
            data += fmt::format("$d{} << EOD\n{}EOD\n", name, boxes);
            const PictureLook& look = samples_.at(curve.name).look;
            parts.push_back(
                plot.of_points()
                    ? fmt::format(
                          "$d{} using 1:2 with points {} {}", name, stroke(look, 1), mark(look))
                    : fmt::format("$d{} using 1:2:3:4:5:6 with boxxyerror lc rgb \"{}\"",
                                  name,
                                  look.colour));
            if (ends.empty()) continue;
            data += fmt::format("$i{} << EOD\n{}EOD\n", name, ends);
            intervals.push_back(
                fmt::format("$i{} using 1:2:3:4 with xerrorbars lc rgb \"black\" pt 0", name));
        }
        parts.insert(parts.end(), intervals.begin(), intervals.end());
        return script + fmt::format("plot {}\n", fmt::join(parts, ", \\\n  "));
    }

    std::vector<Plot> plots_;
    std::map<std::string, Sample> samples_;
    std::vector<std::string> legend_order_;
    std::vector<Cell> cells_;
    std::vector<double> heights_;  ///< of the rows
    std::optional<Cell> free_;     ///< where no panel is
    std::size_t columns_ = 1, across_ = 1;
    bool direct_ = true, legend_beside_ = false;
    double below_ = 0;
    Canvas canvas_{};
};

}  // namespace

std::string picture_script(const std::string& path, std::vector<PicturePanel> panels) {
    std::vector<Plot> plots;
    for (PicturePanel& panel : panels) {
        keep_drawable(panel);
        if (panel.curves.empty()) continue;
        plots.push_back(panel.rows.empty() ? plot_of_curves(std::move(panel))
                                           : plot_of_bars(std::move(panel)));
    }
    share_axes(plots);
    return plots.empty() ? std::string() : Picture(std::move(plots)).script(path);
}

bool draw_picture(const std::string& path, std::vector<PicturePanel> panels) {
    const std::string script = picture_script(path, std::move(panels));
    return !script.empty() && has_gnuplot() && draw_with_gnuplot(script);
}

}  // namespace sotto
