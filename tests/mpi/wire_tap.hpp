#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace sotto::test {

/// What crosses the wire in MPI_Ineighbor_alltoallv, MPI_Igatherv and MPI_Iscatter of this program:
/// seen, and changed, between the agents. Pieces are `piece` bytes for each neighbour, ascending.
struct WireTap {
    std::function<void(std::span<const std::uint8_t> sent, std::size_t piece)> on_sent;
    std::function<void(std::span<std::uint8_t> received, std::size_t piece)> on_received;
    bool fail = false;  ///< the call reports an error, and nothing arrives
    /// The same for what MPI_Igatherv sends to rank 0 and MPI_Iscatter brings back.
    std::function<void(std::span<const std::uint8_t> sent)> on_gathered;
    std::function<void(std::span<std::uint8_t> received)> on_scattered;
};
[[nodiscard]] WireTap& wire_tap();

}  // namespace sotto::test
