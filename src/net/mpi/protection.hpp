#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "net/agent_blocks.hpp"
#include "trust/link_cipher.hpp"
#include "trust/pair_secrets.hpp"

namespace sotto {

/// @throws Error unless the secrets are those of all of this process's agents, in order.
void require_own_secrets(std::span<const PairSecrets> secrets,
                         const AgentBlocks& blocks,
                         int process);

/// One cipher per process, same order. Its keys require the secrets of all agents of one end.
/// @param own of all local agents.
[[nodiscard]] std::vector<LinkCipher> process_ciphers(std::span<PairSecrets> own,
                                                      const AgentBlocks& blocks,
                                                      std::span<const int> processes,
                                                      std::uint32_t key_epoch,
                                                      LinkUse use,
                                                      AeadCipher cipher);

/// Ciphers for collections by process 0: one with process 0; on process 0 one with every other
/// process, ascending.
[[nodiscard]] std::vector<LinkCipher> collection_ciphers(std::span<PairSecrets> own,
                                                         const AgentBlocks& blocks,
                                                         std::uint32_t key_epoch,
                                                         AeadCipher cipher);

/// Bytes of `count` values or words on the wire in one piece.
[[nodiscard]] inline std::size_t wire_size(Eigen::Index count, bool encrypted) {
    return static_cast<std::size_t>(count) * sizeof(double) +
           (encrypted ? LinkCipher::tag_size : 0);
}

}  // namespace sotto
