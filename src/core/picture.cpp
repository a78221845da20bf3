#include "core/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>

#include "core/gnuplot.hpp"
#include "core/json.hpp"
#include "core/picture_parts.hpp"

namespace sotto {

namespace {

/// In pixels: the widths of a page and of a single panel, the height of a panel, the room above and
/// below its axes, and the size of text (letters are narrower on average).
constexpr double page_width = 830, width_of_one = 680, usual_height = 330, above_axes = 36,
                 below_axes = 70, letter_width = 7.5, line_height = 16;
/// In pixels, of the legend: the length of a sample of a curve, that with the room round the name,
/// and the height of an entry.
constexpr double sample_width = 26, around_sample = sample_width + 24, entry_height = 24;
/// What a row of bars is at least higher than its name, in pixels; and the part of a row that bars
/// fill.
constexpr double around_name = 12, filled = 0.8;
constexpr std::size_t most_named_at_ends = 7;
constexpr const char* point_size = "ps 0.7";

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

    [[nodiscard]] bool of_bars() const { return !panel.rows.empty(); }

    [[nodiscard]] double height_of_rows() const {
        std::ptrdiff_t lines = 1;
        for (const std::string& row : panel.rows)
            lines = std::max(lines, 1 + std::ranges::count(row, '\n'));
        return (around_name + line_height * real_of(lines)) * real_of(panel.rows.size());
    }

    /// The height of a bar, in rows.
    [[nodiscard]] double bar() const { return filled / real_of(panel.curves.size()); }

    /// Where a point of curve c is drawn: what several curves have at one place stands side by
    /// side.
    [[nodiscard]] std::pair<double, double> place(std::size_t c, const PicturePoint& point) const {
        const double from_middle = real_of(c) - (real_of(panel.curves.size()) - 1) / 2;
        if (of_bars()) return {x.nearest_inside(point.y), point.x + from_middle * bar()};
        return {x.moved(point.x, aside * from_middle), point.y};
    }

    /// The point that the curve's name stands beside.
    [[nodiscard]] const PicturePoint& end(std::size_t c) const {
        const auto& points = panel.curves[c].points;
        return of_bars() ? points.front() : points.back();
    }

    /// Whether names fit at the ends of the curves, and are near them.
    [[nodiscard]] bool can_be_direct() const {
        return panel.curves.size() <= most_named_at_ends &&
               (of_bars() || std::ranges::all_of(panel.curves, [&](const PictureCurve& curve) {
                    return x.part(curve.points.back().x) > 0.5;
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
    for (const PictureCurve& curve : panel.curves)
        for (const PicturePoint& point : curve.points)
            for (const double value : {point.y, point.high})
                if (std::isfinite(value)) top = std::max(top, value);
    top = panel.longest_bar.value_or(top > 0 ? 1.04 * top : 1.0);
    Plot plot{std::move(panel), axis_of_bars(top), {}};
    plot.y = axis_of_words(plot.panel.rows, true);
    plot.named = std::ranges::any_of(plot.panel.curves,
                                     [](const PictureCurve& curve) { return !curve.name.empty(); });
    return plot;
}

/// Axes span all curves and intervals, with room around them if intervals are far wider than the
/// curves differ.
Plot plot_of_curves(PicturePanel panel) {
    std::vector<double> xs, means, ends;
    for (const PictureCurve& curve : panel.curves)
        for (const PicturePoint& point : curve.points) {
            xs.push_back(point.x);
            means.push_back(point.y);
            for (const double value : {point.y, point.low, point.high})
                if (std::isfinite(value)) ends.push_back(value);
        }
    const auto span = [](const std::vector<double>& values) {
        const auto [least, largest] = std::ranges::minmax(values);
        return largest - least;
    };
    const bool slab = !panel.log_y && span(means) > 0 && span(ends) > 4 * span(means);
    Plot plot{std::move(panel), {}, {}};
    const PicturePanel& kept = plot.panel;
    plot.x = kept.columns.empty()
                 ? axis_of(xs, kept.log_x, kept.marks, kept.intervals_as_bars ? 0.06 : 0.04, 4)
                 : axis_of_words(kept.columns, false);
    plot.y = axis_of(ends, kept.log_y, {}, slab ? 0.8 : 0.04);
    if (kept.intervals_as_bars && std::ranges::count_if(kept.curves, has_intervals) > 1)
        plot.aside = kept.columns.empty() ? 0.01 : 0.06;
    return plot;
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
    return fmt::format("lc rgb \"{}\" lw 1.8 dt {}", look.colour, dash);
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
        script += fmt::format("set label '' at {} point pt {} {} lc rgb \"{}\"\n",
                              canvas.place(x + sample_width / 2, y),
                              sample.look.point,
                              point_size,
                              sample.look.colour);
    const double first = y - real_of(name.size() - 1) * line_height / 2;
    for (std::size_t k = 0; k < name.size(); ++k)
        script += fmt::format("set label {} at {} left\n",
                              quoted_for_gnuplot(name[k]),
                              canvas.place(x + sample_width + 5, first + real_of(k) * line_height));
    return script;
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

/// All panels on their canvas.
class Picture {
  public:
    explicit Picture(std::vector<Plot> plots) : plots_(std::move(plots)) {
        columns_ = std::min<std::size_t>(plots_.size(), 2);
        direct_ = std::ranges::all_of(plots_, &Plot::can_be_direct);
        choose_named();
        choose_looks();
        height_ = usual_height;
        for (const Plot& plot : plots_)
            height_ = std::max(height_, above_axes + below_axes + plot.height_of_rows());
        lay_out_legend(columns_ == 2 ? page_width : width_of_one);
    }

    [[nodiscard]] std::string script(const std::string& path) const {
        std::string data,
            script = fmt::format(
                "set terminal svg size {:g},{:g} noenhanced background rgb \"white\" font "
                "\"Helvetica,13\"\nset output {}\nset multiplot\nset border 3 back\n"
                "set tics nomirror out\nset grid back lc rgb \"#dddddd\" lt 1 lw 0.5\nunset key\n",
                canvas_.width,
                canvas_.height,
                quoted_for_gnuplot(path));
        const std::vector<Box> boxes = boxes_of();
        for (std::size_t p = 0; p < plots_.size(); ++p) {
            const Plot& plot = plots_[p];
            script += margins(canvas_, boxes[p]) + "unset label\nunset arrow\n" +
                      axis_names(plot, boxes[p]);
            if (direct_ && plot.named) script += end_samples(plot, boxes[p]);
            if (!direct_ && p + 1 == plots_.size()) script += legend();
            script += plot.x.commands('x') + plot.y.commands('y');
            script += plot.of_bars() ? bars(p, data) : curves(p, data);
        }
        return data + script + "unset multiplot\n";
    }

  private:
    /// If the right one of two panels has all curves of the left one, only the right one names
    /// them.
    void choose_named() {
        for (std::size_t p = 0; p + 1 < plots_.size(); p += 2) {
            if (plots_[p].of_bars()) continue;
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
            legend_order_.push_back(name);
            samples_[name] = {look, false};
        }
        constexpr int square = 5;
        for (const Plot& plot : plots_)
            for (const PictureCurve& curve : plot.panel.curves)
                if (plot.of_bars())
                    samples_[curve.name].look.point = square;
                else if (plot.panel.joined && curve.points.size() > 1)
                    samples_[curve.name].lined = true;
    }

    void lay_out_legend(double width) {
        std::size_t longest = 0;
        for (const std::string& name : legend_order_) longest = std::max(longest, letters_in(name));
        const bool beside = plots_.size() == 3;
        across_ = beside
                      ? 1
                      : std::max<std::size_t>(
                            1,
                            static_cast<std::size_t>(
                                (width - 40) / (letter_width * real_of(longest) + around_sample)));
        const std::size_t lines = (legend_order_.size() + across_ - 1) / across_;
        below_ = direct_ || beside ? 0 : entry_height * real_of(lines) + 14;
        const std::size_t rows = (plots_.size() + columns_ - 1) / columns_;
        canvas_ = {width, real_of(rows) * height_ + below_};
    }

    /// Below all panels, or in the free place beside three.
    [[nodiscard]] std::string legend() const {
        const bool beside = plots_.size() == 3;
        const double left = beside ? canvas_.width / 2 + 60 : 30,
                     top = beside ? height_ + above_axes + 10 : canvas_.height - below_ + 8,
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
        for (std::size_t p = column; p < plots_.size(); p += columns_) {
            const bool free_beside = columns_ == 2 && p % 2 == 0 && p + 1 == plots_.size();
            if (!direct_ || !plots_[p].named || free_beside) continue;
            for (const PictureCurve& curve : plots_[p].panel.curves)
                for (const std::string& line : wrapped(curve.name, columns_))
                    most = std::max(most, around_sample + letter_width * real_of(letters_in(line)));
        }
        return most;
    }

    /// Places of the axes of every plot.
    [[nodiscard]] std::vector<Box> boxes_of() const {
        std::size_t longest = 0;
        for (const Plot& plot : plots_) longest = std::max(longest, plot.y.longest_name());
        const double left = 42 + letter_width * real_of(longest);
        std::vector<double> beside_column;
        double axes = canvas_.width - real_of(columns_) * left;
        for (std::size_t column = 0; column < columns_; ++column) {
            beside_column.push_back(beside(column));
            axes -= beside_column.back();
        }
        axes /= real_of(columns_);
        std::vector<Box> boxes;
        for (std::size_t p = 0; p < plots_.size(); ++p) {
            const double start = p % columns_ == 0 ? left : 2 * left + axes + beside_column[0];
            const auto row = real_of(p / columns_);
            boxes.push_back({start,
                             row * height_ + above_axes,
                             start + axes,
                             (row + 1) * height_ - below_axes});
        }
        return boxes;
    }

    /// The title, and the names of the axes.
    [[nodiscard]] std::string axis_names(const Plot& plot, const Box& box) const {
        const double middle = (box.left + box.right) / 2;
        const double beside = letter_width * real_of(plot.y.longest_name()) + 32;
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

    /// Names beside the ends of curves, as near to them as possible without overlap, and thin lines
    /// to them.
    [[nodiscard]] std::string end_samples(const Plot& plot, const Box& box) const {
        struct Name {
            std::size_t curve;
            double x, y;  ///< of the end
            double wanted;
            std::vector<std::string> lines;
        };
        std::vector<Name> names;
        for (std::size_t c = 0; c < plot.panel.curves.size(); ++c) {
            const auto [x, y] = plot.place(c, plot.end(c));
            names.push_back({c,
                             x,
                             y,
                             box.bottom - plot.y.part(y) * box.height(),
                             wrapped(plot.panel.curves[c].name, columns_)});
        }
        std::ranges::stable_sort(names, {}, &Name::wanted);
        std::vector<double> wanted, heights;
        for (const Name& name : names) {
            wanted.push_back(name.wanted);
            heights.push_back(line_height * real_of(name.lines.size()) + 2);
        }
        const auto middles = spread(wanted, heights, box.top - 8, box.bottom + 8);
        std::string script;
        for (std::size_t k = 0; k < names.size(); ++k) {
            const Sample& sample = samples_.at(plot.panel.curves[names[k].curve].name);
            const double to = box.right + 10 + (sample.lined ? 0 : sample_width / 2 - 5);
            script += fmt::format("set arrow from first {},{} to {} nohead lc rgb \"{}\" lw 0.7\n",
                                  number(names[k].x),
                                  number(names[k].y),
                                  canvas_.place(to, middles[k]),
                                  sample.look.colour) +
                      sample_at(canvas_, box.right + 10, middles[k], names[k].lines, sample);
        }
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
            const std::string mark = fmt::format(" pt {} {}", look.point, point_size);
            const bool barred = has_intervals(curve) && plot.panel.intervals_as_bars;
            if (barred)
                lines.push_back(name + " using 1:2:3:4 with yerrorbars " + stroke(look, 1) + mark);
            else if (has_intervals(curve))
                parts.push_back(fmt::format(
                    "{} using 1:3:4 with filledcurves lc rgb \"{}\" fs transparent solid {:.3f} "
                    "noborder",
                    name,
                    look.colour,
                    std::min(0.15, 0.45 / real_of(intervals))));
            if (plot.panel.joined || !barred)
                lines.push_back(
                    look.point != 0
                        ? fmt::format("{} using 1:2 with linespoints {}{} pointinterval {}",
                                      name,
                                      stroke(look, look.dash),
                                      mark,
                                      (curve.points.size() + 9) / 10)
                        : fmt::format("{} using 1:2 with lines {}", name, stroke(look, look.dash)));
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
            parts.push_back(fmt::format("$d{} using 1:2:3:4:5:6 with boxxyerror lc rgb \"{}\"",
                                        name,
                                        samples_.at(curve.name).look.colour));
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
    std::size_t columns_ = 1, across_ = 1;
    bool direct_ = true;
    double height_ = 0, below_ = 0;
    Canvas canvas_{};
};

PictureCurve curve_from(const std::string& name, const JsonValue& json) {
    PictureCurve curve{name, {}};
    for (const JsonValue& point : json.items()) {
        const std::vector<double> numbers = point.numbers();
        if (numbers.size() == 2)
            curve.points.push_back({numbers[0], numbers[1]});
        else if (numbers.size() == 4)
            curve.points.push_back({numbers[0], numbers[1], numbers[2], numbers[3]});
        else
            point.fail("[x, y] or [x, y, low, high]");
    }
    return curve;
}

PicturePanel panel_from(const JsonValue& json) {
    constexpr std::array keys{
        "title", "x", "y", "curves", "log_x", "log_y", "marks", "columns", "bars", "joined"};
    for (const auto& [key, value] : json.members())
        if (std::ranges::find(keys, key) == keys.end())
            value.fail(fmt::format("left out: a panel has {}", fmt::join(keys, ", ")));
    const auto flag = [&](const char* key, bool otherwise) {
        const auto found = json.find(key);
        return found ? found->boolean() : otherwise;
    };
    PicturePanel panel{.title = json.at("title").text(),
                       .x = json.at("x").text(),
                       .y = json.at("y").text(),
                       .curves = {},
                       .log_x = flag("log_x", false),
                       .log_y = flag("log_y", false)};
    panel.intervals_as_bars = flag("bars", false);
    panel.joined = flag("joined", true);
    if (const auto marks = json.find("marks")) panel.marks = marks->numbers();
    if (const auto columns = json.find("columns"))
        for (const JsonValue& word : columns->items()) panel.columns.push_back(word.text());
    for (const auto& [name, points] : json.at("curves").members())
        panel.curves.push_back(curve_from(name, points));
    return panel;
}

}  // namespace

std::vector<PicturePanel> panels_from_json(std::string_view text) {
    const JsonDocument document(text);
    std::vector<PicturePanel> panels;
    for (const JsonValue& json : document.root().items()) panels.push_back(panel_from(json));
    return panels;
}

std::string picture_script(const std::string& path, std::vector<PicturePanel> panels) {
    std::vector<Plot> plots;
    for (PicturePanel& panel : panels) {
        keep_drawable(panel);
        if (panel.curves.empty()) continue;
        plots.push_back(panel.rows.empty() ? plot_of_curves(std::move(panel))
                                           : plot_of_bars(std::move(panel)));
    }
    return plots.empty() ? std::string() : Picture(std::move(plots)).script(path);
}

bool draw_picture(const std::string& path, std::vector<PicturePanel> panels) {
    const std::string script = picture_script(path, std::move(panels));
    return !script.empty() && has_gnuplot() && draw_with_gnuplot(script);
}

}  // namespace sotto
