#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "simulation/world.hpp"

namespace sotto::simulation {

/// What a message is part of: faults choose among them.
enum class Traffic : std::uint8_t { control, size, exchange, collection, question };

/// Where a message belongs: to a collective (tag -1) by its number on its communicator, or to the
/// messages of a tag, by theirs.
struct Slot {
    int communicator = 0, tag = -1, from = 0;
    long number = 0;
    auto operator<=>(const Slot&) const = default;
};

/// Everything on its way between the ranks of a job.
class Wire {
  public:
    Wire(World& world, std::uint64_t seed);

    /// From the rank that has the baton.
    void send(int to, const Slot& slot, std::span<const std::uint8_t> bytes, Traffic traffic);
    /// What has arrived for a rank; null: nothing yet.
    [[nodiscard]] const std::vector<std::uint8_t>* arrived(int rank, const Slot& slot) const;
    void forget(int rank, const Slot& slot);
    /// The first message of any sender and tag on a communicator; null: none.
    [[nodiscard]] const Slot* first_tagged(int rank, int communicator) const;

    /// Every message, as it left.
    struct Sent {
        int from, to;
        Traffic traffic;
        std::vector<std::uint8_t> bytes;
    };
    [[nodiscard]] const std::vector<Sent>& log() const { return log_; }

  private:
    struct Message {
        double time;
        std::vector<std::uint8_t> bytes;
    };
    /// A fault that strikes this message of the pair.
    [[nodiscard]] const Fault* strikes(int from, int to, bool exchanged);
    void deviate(int from, int to, Traffic traffic, std::vector<std::uint8_t>& bytes);
    void damage(const Fault& fault, std::vector<std::uint8_t>& bytes, const Sent& sent);

    World& world_;
    Random random_;
    double slow_ = 1;
    std::vector<std::map<Slot, Message>> boxes_;
    std::vector<long> sent_[2];      // of control and exchange, of every pair
    std::vector<std::uint8_t> cut_;  // pairs
    std::vector<Sent> log_;
};

}  // namespace sotto::simulation
