#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/numbers.hpp"

namespace sotto {

/// A point of a curve, and the ends of its interval; NaN: it has none.
struct PicturePoint {
    double x = 0, y = 0;
    double low = not_a_number, high = not_a_number;
};

struct PictureCurve {
    /// A known one (looks_of) looks the same in every picture. Bars that the title of their panel
    /// names need none.
    std::string name;
    std::vector<PicturePoint> points;
};

/// One set of axes, with curves or with bars. Points that are not finite are left out; those that
/// are not positive leave a gap on a logarithmic axis; an interval ends with the axis.
struct PicturePanel {
    std::string title;
    std::string x, y;  ///< names of the axes
    std::vector<PictureCurve> curves;
    bool log_x = false, log_y = false;
    std::vector<double> marks{};         ///< ticks of the x axis; empty: at round numbers
    std::vector<std::string> columns{};  ///< words on the x axis, at 0, 1, ..., instead of numbers
    bool intervals_as_bars = false;      ///< not as bands
    bool joined = true;                  ///< whether lines go through bars that are intervals
    /// Words on the y axis from top to bottom. x of a point is then its row, and y the length of a
    /// bar from zero, on the x axis, or if that is logarithmic the place of a point; "infinite"
    /// stands in a bar that is.
    std::vector<std::string> rows{};
    std::optional<double> longest_bar{};  ///< where the axis of bars ends
};

/// The script for gnuplot: panels in two columns on a page's width, those of rows below others as
/// wide as the page. A picture names its curves once: at their ends if all names are near them
/// without overlap, else in a legend below, or in the free place beside an odd number of panels.
/// Panels have the same y axis if its name is the same and none would use less than half of it. No
/// two curves look alike. Empty if no panel has a point.
[[nodiscard]] std::string picture_script(const std::string& path, std::vector<PicturePanel> panels);
/// Draws it. @return false without a point, or if gnuplot is missing or fails.
[[nodiscard]] bool draw_picture(const std::string& path, std::vector<PicturePanel> panels);

}  // namespace sotto
