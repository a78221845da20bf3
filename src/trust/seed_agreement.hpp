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

/// Who makes the seed of a group. Never anybody outside the group.
enum class SeedMaker {
    owner,          ///< one member: drawn by it; nothing is sent
    pair,           ///< two members: follows from their pair secret; nothing is sent
    lowest_member,  ///< three or more, but not all agents: drawn by the lowest, sealed for each
    everybody       ///< all agents, three or more: from a committed share of each; chosen by nobody
};
[[nodiscard]] SeedMaker maker_of(const SeedGroup& group, int agents);

/// Groups of every agent, ascending: what each is entitled to. One pass over the plan.
[[nodiscard]] std::vector<std::vector<int>> groups_of_agents(const NoisePlan& plan);

/// The seed of a group in this run, from what its maker drew:
///
///     seed = BLAKE2b-256(key = drawn; "sotto.group-seed.v1", transcript, group)
///
/// so that every seed of another run, graph or plan differs whatever was drawn.
[[nodiscard]] SecretKey group_seed(const SecretKey& drawn, const Digest& transcript, int group);

/// What a group of two starts from: KDF(pair secret, "sottopsd", group).
[[nodiscard]] SecretKey drawn_by_pair(const SecretKey& pair_secret, int group);

/// What a group of everybody starts from: BLAKE2b-256("sotto.joint-seed.v1", shares in agent
/// order). The shares were committed to before any of them was shown, so who sees them first can
/// neither choose nor bias the result.
/// @param shares 32 bytes an agent.
[[nodiscard]] SecretKey drawn_by_everybody(std::span<const std::uint8_t> shares);

/// Seeds of several groups, side by side with their numbers, sealed.
[[nodiscard]] std::string seal_seeds(const SecretKey& pair_secret,
                                     int sender,
                                     int recipient,
                                     std::span<const int> groups,
                                     const std::map<int, SecretKey>& drawn);
/// Opens what seal_seeds made.
/// @param groups exactly those whose seeds the plan lets the sender give to the recipient.
/// @return what was drawn, in the order of `groups`.
/// @throws CryptoError as open_sealed, and for any other groups.
[[nodiscard]] std::vector<SecretKey> open_seeds(const SecretKey& pair_secret,
                                                int sender,
                                                int recipient,
                                                std::span<const int> groups,
                                                std::string_view sealed);

/// @param shares 32 bytes an agent; commitments as announced in the handshake.
/// @throws CryptoError naming the first agent whose share is not what it committed to.
void check_shares(std::span<const std::uint8_t> shares, std::span<const Digest> commitments);

/// Key rings with exactly the seeds the plan gives to these agents, all of them derived from a
/// number: the same on every process and whatever the number of processes, without any message.
/// INSECURE: whoever knows the number knows all noise. For experiments.
[[nodiscard]] std::vector<KeyRing> reproducible_rings(const NoisePlan& plan,
                                                      std::span<const int> agents,
                                                      std::uint64_t noise_seed);

/// What a sealed message is for; a message for one purpose does not open as another.
enum class SealPurpose : std::uint8_t {
    seeds,           ///< seeds of groups, from their lowest member
    share,           ///< an agent's share of joint seeds, to agent 0
    all_shares,      ///< all shares, from agent 0
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

/// @throws CryptoError naming both agents if the message was not sealed so, or was changed.
[[nodiscard]] SecretBytes open_sealed(const SecretKey& pair_secret,
                                      SealPurpose purpose,
                                      int sender,
                                      int recipient,
                                      std::string_view sealed);

}  // namespace sotto
