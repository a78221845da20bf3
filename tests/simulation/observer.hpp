#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/checkpoint.hpp"
#include "simulation/wire.hpp"

namespace sotto::simulation {

/// Something that may be used for one content only, and the content.
struct Use {
    std::uint64_t what[2];
    std::uint64_t content;
};
/// Over all starts of a schedule.
using Uses = std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>;

/// Sees every wire, every disk and every use of a key, and knows what must never happen.
class Observer {
  public:
    /// @param before uses of earlier starts.
    Observer(World& world, const Uses& before) : world_(world), before_(before) {}

    /// The rank that has the baton draws noise or masks from a stream.
    void drew(std::span<const std::uint8_t> key, std::span<const std::uint8_t> nonce);
    /// It encrypts. @param encrypts whether receivers of a link get it.
    void sealed(std::span<const std::uint8_t> key,
                std::span<const std::uint8_t> nonce,
                std::span<const std::uint8_t> plain);
    /// It encrypts its checkpoint for itself. The key to its data nobody else may see; digest and
    /// options others have, and models as evaluation collects them.
    void sealed_copy(std::span<const std::uint8_t> key,
                     std::span<const std::uint8_t> nonce,
                     std::span<const std::uint8_t> plain,
                     const Checkpoint& checkpoint);
    /// Its message of a round goes on the wire.
    void message_leaves(std::span<const std::uint8_t> bytes, bool to_neighbours);
    /// It has what its neighbours sent: until then what it draws is for a round to come.
    void exchanged() { ranks_[current()->place].exchanging = false; }
    /// It uses bytes that nobody else may see.
    void uses_secret(std::span<const std::uint8_t> secret);
    void writes(std::span<const std::uint8_t> bytes);
    /// Nothing secret went over the wire, or to a disk. At the end of a start.
    void read_everything(const std::vector<Wire::Sent>& log);

    void violation(const std::string& text);
    [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
    [[nodiscard]] const std::vector<Use>& uses() const { return uses_; }
    /// Exchanges of every rank with its neighbours.
    [[nodiscard]] long exchanges(int place) const;

    /// Exchanges of a round; the first message has the noise of the round.
    long exchanges_a_round = 1;
    /// Called where a message leaves: is it counted?
    std::function<void(const Rank&, long exchanges)> on_exchange;

  private:
    void add_secret(std::span<const std::uint8_t> plain);
    struct OfRank {
        /// Of every key the newest nonce, and its hash.
        using Draws = std::map<std::uint64_t,
                               std::pair<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>>;
        Draws drawn;  // since its last message
        Draws ahead;  // while messages travelled, for the next round
        bool exchanging = false;
        std::uint64_t plain = 0;  // of what was encrypted since
        bool encrypted = false;
        long exchanges = 0;
    };
    void use(const char* name, std::uint64_t a, std::uint64_t b, std::uint64_t content);
    [[nodiscard]] bool found(std::span<const std::uint8_t> bytes, bool keys_only) const;

    World& world_;
    const Uses& before_;
    Uses now_;
    std::vector<Use> uses_;
    std::map<int, OfRank> ranks_;
    std::unordered_map<std::uint64_t, std::pair<std::uint64_t, bool>> secrets_;  // halves; a key?
    std::vector<std::uint8_t> first_bits_ = std::vector<std::uint8_t>(1 << 16);
    std::vector<std::vector<std::uint8_t>> written_;
    std::vector<std::string> violations_;
};

}  // namespace sotto::simulation
