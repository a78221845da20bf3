#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/hash.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "trust/key_ring.hpp"
#include "trust/secret.hpp"

namespace sotto {

/// Who makes the seed of a group; always members of the group.
enum class SeedMaker {
    owner,          ///< one member: drawn by it; nothing is sent
    pair,           ///< two members: derived from their pair secret; nothing is sent
    lowest_member,  ///< three or more, but not all agents: drawn by the lowest, sealed for each
    everybody       ///< all agents, three or more: from a committed share of each
};
[[nodiscard]] SeedMaker maker_of(const SeedGroup& group, int agents);

/// The groups of every agent, ascending. One pass over the plan.
[[nodiscard]] std::vector<std::vector<int>> groups_of_agents(const NoisePlan& plan);

/// The seed of a group in this run, from what its maker drew:
///
///     seed = BLAKE2b-256(key = drawn; "sotto.group-seed.v1", transcript, group)
///
/// Seeds of another run, graph or plan differ, whatever was drawn.
[[nodiscard]] SecretKey group_seed(const SecretKey& drawn, const Digest& transcript, int group);

/// Drawn value of a group of two: KDF(pair secret, "sottopsd", group).
[[nodiscard]] SecretKey drawn_by_pair(const SecretKey& pair_secret, int group);

/// Drawn value of a group of all agents: BLAKE2b-256("sotto.joint-seed.v1", shares in agent order).
/// All shares are committed before any is revealed, so nobody can choose or bias the result.
/// @param shares 32 bytes per agent.
[[nodiscard]] SecretKey drawn_by_everybody(std::span<const std::uint8_t> shares);

/// Seals the group numbers and drawn seeds in one message.
[[nodiscard]] std::string seal_seeds(const SecretKey& pair_secret,
                                     int sender,
                                     int recipient,
                                     std::span<const int> groups,
                                     const std::map<int, SecretKey>& drawn);
/// Opens what seal_seeds made.
/// @param groups exactly those whose seeds the plan has the sender give to the recipient.
/// @return what was drawn, in the order of `groups`.
/// @throws CryptoError as open_sealed, and for any other groups.
[[nodiscard]] std::vector<SecretKey> open_seeds(const SecretKey& pair_secret,
                                                int sender,
                                                int recipient,
                                                std::span<const int> groups,
                                                std::string_view sealed);

/// @param shares 32 bytes per agent.  @param commitments as announced in the handshake.
/// @throws CryptoError naming the first agent whose share does not match its commitment.
void check_shares(std::span<const std::uint8_t> shares, std::span<const Digest> commitments);

/// Key rings with exactly the seeds the plan gives to these agents, derived from a number without
/// any message; independent of the number of processes. INSECURE, for experiments only: whoever
/// knows the number knows all noise.
[[nodiscard]] std::vector<KeyRing> reproducible_rings(const NoisePlan& plan,
                                                      std::span<const int> agents,
                                                      std::uint64_t noise_seed);

/// Purpose of a sealed message, which does not open for another purpose.
enum class SealPurpose : std::uint8_t {
    seeds,           ///< seeds of groups, from their lowest member
    share,           ///< an agent's share of joint seeds, to agent 0
    all_shares,      ///< all shares, from agent 0 to the others
    saved_seeds,     ///< an agent's own seeds, for itself
    checkpoint_copy  ///< an agent's own checkpoint, for itself
};
/// Authenticated encryption from one agent to another: XChaCha20-Poly1305, random nonce, key =
/// KDF(pair secret, "sottobox", 2 * purpose + direction). 40 bytes longer than the content.
[[nodiscard]] std::string seal(const SecretKey& pair_secret,
                               SealPurpose purpose,
                               int sender,
                               int recipient,
                               std::span<const std::uint8_t> content);

/// @throws CryptoError naming both agents unless the sender sealed exactly this message.
[[nodiscard]] SecretBytes open_sealed(const SecretKey& pair_secret,
                                      SealPurpose purpose,
                                      int sender,
                                      int recipient,
                                      std::string_view sealed);

}  // namespace sotto
