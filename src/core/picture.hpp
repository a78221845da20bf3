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
    /// A known one (picture_style.json) looks the same in every picture. Bars that the title of
    /// their panel names need none.
    std::string name;
    std::vector<PicturePoint> points;
};

/// One set of axes, with curves or with bars. Points that are not finite, and on a logarithmic
/// axis those that are not positive, are not drawn; an interval ends with the axis.
struct PicturePanel {
    std::string title;
    std::string x, y;  ///< names of the axes
    std::vector<PictureCurve> curves;
    bool log_x = false, log_y = false;
    std::vector<double> marks{};     ///< ticks of the x axis; empty: at round numbers
    bool intervals_as_bars = false;  ///< not as bands
    /// Words on the y axis from top to bottom. x of a point is then its row, and y the length of a
    /// bar from zero, on the x axis; "infinite" stands in one that is.
    std::vector<std::string> rows{};
    std::optional<double> longest_bar{};  ///< where the axis of bars ends
};

/// The script for gnuplot: panels in two columns on a page's width, in the style of docs/figures,
/// which bench/figures/pictures.py draws from the same description (picture_style.json). Few curves
/// are named at their ends, more in a legend below, or in the free place beside three panels. No
/// two curves look alike. Empty if no panel has a point.
[[nodiscard]] std::string picture_script(const std::string& path, std::vector<PicturePanel> panels);
/// Draws it. @return false without a point, or if gnuplot is missing or fails.
[[nodiscard]] bool draw_picture(const std::string& path, std::vector<PicturePanel> panels);

}  // namespace sotto
