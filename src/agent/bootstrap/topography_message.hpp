#pragma once

// Graph and mixing matrices as bytes; not installed.

#include <cstdint>
#include <string>
#include <string_view>

#include "sotto/graph/topography.hpp"

namespace sotto {

/// Bytes that pack_topography can make at most: every label, every pair of agents, and weights of
/// all of them in every mixing matrix.
[[nodiscard]] std::uint64_t largest_topography_bytes(int agents, double most_matrices);

/// Everything of a topography, bit for bit.
[[nodiscard]] std::string pack_topography(const Topography& topography);

/// What pack_topography made. The bytes may be anything.
/// @throws NetworkError for what is no graph of so many agents with mixing matrices.
[[nodiscard]] Topography unpack_topography(std::string_view bytes, int wanted_agents);

}  // namespace sotto
