#pragma once

#include <string_view>
#include <vector>

#include "core/picture.hpp"

namespace sotto {

/// Panels of curves: [{"title": "(a)", "x": "round", "y": "loss", "curves": {NAME: [[x, y], [x, y,
/// low, high], ...], ...}}, ...], and if they are not to have their defaults "log_x", "log_y",
/// "marks", "columns", "rows", "bars" (intervals_as_bars) and "joined".
/// @throws DataError naming the key whose value is missing, wrong or not known.
[[nodiscard]] std::vector<PicturePanel> panels_from_json(std::string_view text);

}  // namespace sotto
