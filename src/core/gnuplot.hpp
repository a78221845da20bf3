#pragma once

#include <string>

namespace sotto {

/// Whether gnuplot can be started.
[[nodiscard]] bool has_gnuplot();
/// A string of a gnuplot script, on one line of it and without special characters.
[[nodiscard]] std::string quoted_for_gnuplot(const std::string& text);
/// Runs gnuplot on a script. @return false if it cannot be started or fails.
[[nodiscard]] bool draw_with_gnuplot(const std::string& script);

}  // namespace sotto
