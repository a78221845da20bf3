#pragma once

namespace sotto {

/// z with which mean +- z standard errors is a normal interval of this level.
/// @throws ConfigError unless the level is between 0 and 1.
[[nodiscard]] double two_sided_z(double level);

}  // namespace sotto
