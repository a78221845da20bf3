#pragma once

// Records side by side, so that what is computed for one does not depend on the others that are
// there; not installed.

#include <Eigen/Core>
#include <vector>

#include "layer_chain.hpp"

namespace sotto {

/// Numbers of records, the largest first and the last one small, such that a chain that always gets
/// one of these computes the same bits for a record in every place of each: then a record that
/// leaves or joins moves others, and changes nothing of what is computed for them. How products are
/// carried out decides it, and that belongs to the library and the processor: so it is measured, on
/// this chain, with random numbers. {1} where nothing larger passes, and that always does.
/// Cost: a few passes of the largest number.
[[nodiscard]] std::vector<Eigen::Index> place_independent_tiles(LayerChain& chain);

}  // namespace sotto
