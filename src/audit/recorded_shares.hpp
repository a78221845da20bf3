#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sotto/graph/graph.hpp"
#include "sotto/views/view.hpp"

namespace sotto {

/// Masked shares that members of a view got in secure sums, looked at one by one: the difference of
/// two shares of one sender for one receiver is uniform modulo 2^64, unless both carry the same
/// masks; then it is the difference of two messages, and small.
struct MaskCheck {
    long pairs = 0;                     ///< of shares compared; 0: shares were not recorded
    std::vector<std::string> findings;  ///< one a sender and receiver whose masks repeat
};

/// Cost: the square of the number of exchanges for every neighbour of every member, 256 coordinates
/// each. White shares are taken for repeated ones with probability below 1e-15 a pair.
/// @param folder `views` of a run directory.  @throws DataError for files that are not whole.
[[nodiscard]] MaskCheck check_masks(const std::filesystem::path& folder,
                                    const View& view,
                                    const Graph& graph);

}  // namespace sotto
