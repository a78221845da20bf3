#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace sotto {

/// What all pictures have in common; lengths are in pixels.
namespace picture_style {
/// Colours that people with any colour vision can tell apart (Okabe and Ito), black and grey.
inline constexpr const char *black = "#000000", *grey = "#777777", *blue = "#0072b2",
                            *orange = "#e69f00", *green = "#009e73", *purple = "#cc79a7",
                            *vermilion = "#d55e00", *sky = "#56b4e9";
/// Of curves that have no look of their own, in turn; report pages take them too.
inline constexpr std::array<const char*, 6> colours{blue, orange, green, purple, sky, vermilion};
inline constexpr const char *font = "Helvetica,13", *background = "white",
                            *grid = "lc rgb \"#dddddd\" lt 1 lw 0.5";
inline constexpr double line_width = 1.8, leader_width = 0.7, point_size = 0.7;
/// The lines across the ends of bars, as a part of gnuplot's.
inline constexpr double bar_ends = 0.6;
/// Of one band, and of all bands of a panel together.
inline constexpr double opacity = 0.15, opacity_of_all = 0.45;
inline constexpr double page_width = 830, width_of_one = 680, height = 330;
/// Room above and below axes.
inline constexpr double above_axes = 36, below_axes = 70;
/// Letters are narrower on average.
inline constexpr double letter_width = 7.5, line_height = 16;
}  // namespace picture_style

/// What a curve looks like.
struct PictureLook {
    std::string colour;
    int dash = 1;
    int point = 0;  ///< 0: none
    [[nodiscard]] bool operator==(const PictureLook&) const = default;
};

/// Looks of the curves of one picture: a known mechanism or bound has its own in every picture,
/// others have colours, dashes and points in turn. 'NAME (ours)' looks like NAME. All 'NAME:
/// DETAIL' have the colour of NAME, and the first looks like NAME where no curve is called so.
/// Dash and point alone tell up to 40 curves apart, the whole look up to 240.
/// @param curves their names, each once.
[[nodiscard]] std::vector<std::pair<std::string, PictureLook>> looks_of(
    const std::vector<std::string>& curves);

}  // namespace sotto
