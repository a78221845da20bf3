#pragma once

// Keys for what leaves the process; not installed.

#include <Eigen/Dense>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sotto/trust/link_cipher.hpp"
#include "sotto/trust/pair_secrets.hpp"

namespace sotto {

/// The secrets of this rank's agent. @throws Error unless they are what is given, and all.
[[nodiscard]] PairSecrets& own_secrets(std::span<PairSecrets> secrets, int rank);

/// A cipher for the edge to each neighbour, same order.
[[nodiscard]] std::vector<LinkCipher> edge_ciphers(PairSecrets& own,
                                                   std::span<const int> neighbours,
                                                   std::uint32_t key_epoch);

/// Ciphers for what process 0 collects and returns: one with process 0; on process 0 one with every
/// other process, ascending.
[[nodiscard]] std::vector<LinkCipher> collection_ciphers(PairSecrets& own,
                                                         int ranks,
                                                         std::uint32_t key_epoch);

/// Bytes of `count` values or words on the wire in one piece.
[[nodiscard]] inline std::size_t wire_size(Eigen::Index count, bool encrypted) {
    return static_cast<std::size_t>(count) * sizeof(double) +
           (encrypted ? LinkCipher::tag_size : 0);
}

}  // namespace sotto
