#pragma once

namespace sotto {

/// How far the normals of a stream (NormalStream) follow the normal distribution: they are drawn in
/// pairs, and pairs up to this radius are within 2^-44 of a pair drawn without rounding. Beyond,
/// which a pair reaches with probability exp(-tail_radius^2 / 2) = 2^-240, the steps between
/// radii grow, and nothing is claimed of them.
inline constexpr double tail_radius = 18.24035763544053;  // sqrt(2 * 240 * log 2)

}  // namespace sotto
