#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/hash.hpp"
#include "trust/identity.hpp"
#include "trust/pair_secrets.hpp"
#include "trust/secret.hpp"

namespace sotto {

/// X25519 key pair of one run.
class EphemeralKeyPair {
  public:
    EphemeralKeyPair();
    [[nodiscard]] std::span<const std::uint8_t, 32> public_key() const { return public_; }
    [[nodiscard]] const SecretKey& secret_key() const { return secret_; }

  private:
    std::array<std::uint8_t, 32> public_{};
    SecretKey secret_;
};

/// Who may take part, and who we are.
struct Credentials {
    Roster roster;
    std::vector<Identity> identities;  ///< one per local agent, same order
};

/// What an agent sends in clear before anything else.
struct Announcement {
    int agent = 0;
    PublicKey ephemeral{};                ///< X25519, of this run only
    std::optional<IdentityKey> identity;  ///< absent without a roster
    Digest nonce{};                       ///< 32 random bytes
    Digest share_commitment{};            ///< to the agent's share of joint seeds
};

/// What the agents of one process know after the handshake.
struct Session {
    Digest run_id{};               ///< unique; from the nonces of all agents, so nobody chooses it
    Digest transcript{};           ///< of run id, roster, terms and announcements
    std::optional<Digest> roster;  ///< absent: peers are unauthenticated
    std::vector<Announcement> announcements;  ///< of every agent, in agent order
    std::vector<PairSecrets> secrets;         ///< one per local agent
    std::vector<SecretKey> shares;            ///< of joint seeds; one per local agent

    [[nodiscard]] bool authenticated() const { return roster.has_value(); }
    /// "roster <64 hex digits>" or "unauthenticated".
    [[nodiscard]] std::string authentication() const;
};

/// What all agents must agree on.
struct HandshakeTerms {
    int agents = 0;
    Digest graph{}, mixing{}, plan{}, options{};
};

/// The handshake of one process, without the network. Every process sends an announcement to all,
/// computes the transcript of all announcements, signs (transcript, agent) with the identity of
/// each of its agents, and verifies all signatures:
///
/// - an agent outside the roster, an identity used twice or missing, or an agent without the secret
///   of its identity stops every process;
/// - there is no man in the middle: the ephemeral keys are in the signed transcript;
/// - nothing from another run, graph, mixing matrix, plan or set of options can be reused: its
///   transcript differs.
///
/// Without credentials only the third point and key agreement hold. Bytes of peers are untrusted.
///
/// Cost per process: one X25519 and one Ed25519 key operation per local agent, one verification
/// (about 60 us) per agent of the network.
class Handshake {
  public:
    /// @param credentials null: peers stay unauthenticated. Must outlive the handshake.
    /// @throws CryptoError unless there is one identity per local agent.
    Handshake(const HandshakeTerms& terms,
              std::span<const int> local_agents,
              const Credentials* credentials);

    /// To send to all processes.
    [[nodiscard]] std::string announcement() const;
    /// Upper bounds of the two messages of a process with this many agents.
    [[nodiscard]] static std::uint64_t announcement_bytes(std::uint64_t agents);
    [[nodiscard]] static std::uint64_t confirmation_bytes(std::uint64_t agents);
    /// @param from_processes one announcement per process, its own among them.
    /// @throws NetworkError, CryptoError naming process or agent, and identity.
    void receive(std::span<const std::string> from_processes);
    /// To send to all processes after `receive`: transcript, and signatures if there are
    /// credentials.
    [[nodiscard]] std::string confirmation() const;
    /// @param from_processes one confirmation per process.
    /// @throws NetworkError, CryptoError as above.
    [[nodiscard]] Session finish(std::span<const std::string> from_processes) const;

  private:
    void check_roster() const;
    [[nodiscard]] std::string name_of(int agent) const;

    HandshakeTerms terms_;
    std::vector<int> local_agents_;
    const Credentials* credentials_;
    std::optional<Digest> roster_;
    std::vector<EphemeralKeyPair> pairs_;  // one per local agent, as the next two
    std::vector<SecretKey> shares_;
    std::vector<Announcement> own_;
    std::vector<Announcement> all_;            // in agent order, once received
    std::vector<std::vector<int>> agents_of_;  // by process
    Digest run_id_{}, transcript_{};
};

/// Commitment to an agent's share of joint seeds: BLAKE2b-256(agent, share).
[[nodiscard]] Digest commitment_to_share(int agent, std::span<const std::uint8_t> share);

}  // namespace sotto
