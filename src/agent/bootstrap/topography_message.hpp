#pragma once

// Graph and mixing matrices as bytes; not installed.

#include <string>
#include <string_view>

#include "sotto/graph/topography.hpp"

namespace sotto {

/// Everything of a topography, bit for bit.
[[nodiscard]] std::string pack_topography(const Topography& topography);

/// What pack_topography made. The bytes may be anything.
/// @throws NetworkError for what is no graph of so many agents with mixing matrices.
[[nodiscard]] Topography unpack_topography(std::string_view bytes, int wanted_agents);

}  // namespace sotto
