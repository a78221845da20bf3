#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace sotto {

/// An axis of a picture from low to high, which may be the smaller, with its ticks.
struct PictureAxis {
    double low = 0, high = 1;
    bool log = false;
    std::vector<std::pair<double, std::string>> ticks{};
    std::vector<double> small_ticks{};  ///< without a name

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
/// An axis with these ends, of which `low` is the smaller, and with ticks at round numbers.
[[nodiscard]] PictureAxis axis_between(double low, double high, bool log, std::size_t most = 8);
/// From zero to `top`, which is positive.
[[nodiscard]] PictureAxis axis_of_bars(double top);
/// Words at 0, 1, ...; `down`: from high to low.
[[nodiscard]] PictureAxis axis_of_words(const std::vector<std::string>& words, bool down);

/// The number of characters of a UTF-8 text.
[[nodiscard]] std::size_t letters_in(const std::string& text);

}  // namespace sotto
