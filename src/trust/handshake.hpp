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

/// What an agent says about itself, in clear, before anything else.
struct Announcement {
    int agent = 0;
    PublicKey ephemeral{};                ///< X25519, of this run only
    std::optional<IdentityKey> identity;  ///< none without a roster
    Digest nonce{};                       ///< 32 random bytes
    Digest share_commitment{};            ///< to the agent's part of seeds made by everybody
};

/// What the agents of one process know once they have agreed on who takes part in what.
struct Session {
    Digest run_id{};      ///< from the nonces of all agents: chosen by nobody, never the same twice
    Digest transcript{};  ///< of run id, roster, all terms and all announcements
    std::optional<Digest> roster;             ///< none: peers are unauthenticated
    std::vector<Announcement> announcements;  ///< of every agent, in agent order
    std::vector<PairSecrets> secrets;         ///< one per local agent
    std::vector<SecretKey> shares;            ///< one per local agent: its part of joint seeds

    [[nodiscard]] bool authenticated() const { return roster.has_value(); }
    /// "roster <64 hex digits>" or "unauthenticated".
    [[nodiscard]] std::string authentication() const;
};

/// What all agents must agree on beside themselves.
struct HandshakeTerms {
    int agents = 0;
    Digest graph{}, mixing{}, plan{}, options{};
};

/// The handshake of one process, without the network. Every process makes an announcement and gives
/// it to all; from all announcements it computes the transcript, signs (transcript, agent) with the
/// identity of each of its agents, and gives the signatures to all; everybody verifies all. So
///
/// - an agent outside the roster, an identity used twice or missing, or somebody without the secret
///   of the identity it names, stops every process;
/// - nobody sits between two agents: the keys they agree with are in the transcript they sign;
/// - nothing from another run, graph, mixing matrix, plan or set of options is of use: its
/// transcript differs.
///
/// Without credentials the first two do not hold; the third and key agreement do. Bytes of peers
/// may be anything.
///
/// Cost a process: one X25519 and one Ed25519 key operation per local agent, one verification
/// (about 60 us) per agent of the network.
class Handshake {
  public:
    /// @param credentials null: peers stay unauthenticated. Must live as long as the handshake.
    /// @throws CryptoError unless there is one identity per local agent.
    Handshake(const HandshakeTerms& terms,
              std::span<const int> local_agents,
              const Credentials* credentials);

    /// For all processes: about the agents of this one.
    [[nodiscard]] std::string announcement() const;
    /// Bytes of the two messages of a process with this many agents, at most.
    [[nodiscard]] static std::uint64_t announcement_bytes(std::uint64_t agents);
    [[nodiscard]] static std::uint64_t confirmation_bytes(std::uint64_t agents);
    /// @param from_processes one announcement per process, its own among them.
    /// @throws NetworkError, CryptoError naming process or agent, and identity.
    void receive(std::span<const std::string> from_processes);
    /// For all processes, after `receive`: transcript, and signatures if there are credentials.
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

/// Commitment to an agent's part of the seeds that everybody makes: BLAKE2b-256(agent, share).
[[nodiscard]] Digest commitment_to_share(int agent, std::span<const std::uint8_t> share);

}  // namespace sotto
