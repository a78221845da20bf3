#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sotto {

/// An axis of a picture from low to high, which may be the smaller, with its ticks.
struct PictureAxis {
    double low = 0, high = 1;
    bool log = false;
    std::vector<std::pair<double, std::string>> ticks{};

    /// The place of a value on the axis, from 0 to 1.
    [[nodiscard]] double part(double value) const;
    /// The value that lies this part of the axis further.
    [[nodiscard]] double moved(double value, double part) const;
    [[nodiscard]] double nearest_inside(double value) const;
    /// Letters of the longest line among the ticks' names.
    [[nodiscard]] std::size_t longest_name() const;
    /// Commands for gnuplot, one a line. @param name x or y.
    [[nodiscard]] std::string commands(char name) const;
};

/// An axis of all values, which must be finite, and a little room.
/// @param marks ticks, if at least two of them lie on the axis or one is the only value; otherwise
/// there are at least two ticks at round numbers.
/// @param room at each end, as a part of the values' span.
/// @param most ticks of a logarithmic axis that spans less than three powers of ten.
[[nodiscard]] PictureAxis axis_of(std::vector<double> values,
                                  bool log,
                                  const std::vector<double>& marks = {},
                                  double room = 0.04,
                                  std::size_t most = 8);
/// From zero to `top`, which is positive.
[[nodiscard]] PictureAxis axis_of_bars(double top);
/// Words at 0, 1, ...; `down`: from high to low.
[[nodiscard]] PictureAxis axis_of_words(const std::vector<std::string>& words, bool down);

/// What a curve looks like.
struct PictureLook {
    std::string colour;
    int dash = 1;
    int point = 0;  ///< 0: none
    [[nodiscard]] bool operator==(const PictureLook&) const = default;
};
/// Looks of the curves of one picture: a known mechanism or bound has its own in every picture,
/// others have colours, dashes and points in turn. 'NAME: DETAIL' has the colour of NAME, and
/// 'NAME (ours)' looks like NAME. No two are alike, up to 240.
/// @param curves their names, each once.
[[nodiscard]] std::vector<std::pair<std::string, PictureLook>> looks_of(
    const std::vector<std::string>& curves);

/// The number of characters of a UTF-8 text.
[[nodiscard]] std::size_t letters_in(const std::string& text);

}  // namespace sotto
