#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sotto {

/// What a curve looks like.
struct PictureLook {
    std::string colour;
    int dash = 1;
    int point = 0;  ///< 0: none
    [[nodiscard]] bool operator==(const PictureLook&) const = default;
};

/// What all pictures look like: picture_style.json, which bench/figures/pictures.py reads too.
struct PictureStyle {
    /// Sizes in pixels; letter: an upper bound of the mean width of a letter.
    double width, one_panel, height, above, below, letter, line, sample;
    std::size_t most_named_at_ends;
    std::string terminal, line_width, thin_line, point_size;
    std::vector<std::string> start;
    std::vector<std::string> colours;             ///< of curves that have no look of their own
    std::vector<int> points;                      ///< of these
    std::map<std::string, PictureLook> of_curve;  ///< by name
};
[[nodiscard]] const PictureStyle& picture_style();

/// Looks of curves of one picture: their own, or colours, dashes and points in turn. 'NAME: DETAIL'
/// has the colour of NAME. No two are alike, up to 240.
/// @param curves their names, each once.
[[nodiscard]] std::vector<std::pair<std::string, PictureLook>> looks_of(
    const std::vector<std::string>& curves);

/// picture_style.json, as it is.
[[nodiscard]] std::string_view picture_style_text();

}  // namespace sotto
