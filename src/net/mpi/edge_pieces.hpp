#pragma once

// Pieces of messages between one agent and its neighbours; not installed.

#include <Eigen/Dense>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "links.hpp"
#include "protection.hpp"
#include "sotto/net/network.hpp"
#include "sotto/trust/link_cipher.hpp"
#include "world.hpp"

namespace sotto {

/// Values per piece of a message. Up to 1 MiB a message goes whole. Above, it goes in pieces that
/// are still in cache when they are mixed, and all pieces use the same small receive buffer.
[[nodiscard]] Eigen::Index piece_length(Eigen::Index dimension);

/// What both kinds of exchange share: for every neighbour a piece of 8-byte numbers that goes to it
/// and one that comes from it, encrypted once there are ciphers. Memory is kept between calls:
/// exchanging allocates nothing.
class EdgePieces {
  public:
    EdgePieces(MpiWorld& world, const MpiLinks& links) : world_(world), links_(links) {}

    /// Seals everything from now on. @param ciphers one per neighbour, same order.
    void protect(std::vector<LinkCipher> ciphers);
    [[nodiscard]] bool encrypted() const { return encrypted_; }

    /// Begins an exchange of pieces of up to `longest` values.
    /// @param to, from as in Outgoing.  @param packed whether swap() follows, rather than spread().
    void begin(ExchangeId id,
               Eigen::Index longest,
               std::span<const std::uint8_t> to,
               std::span<const std::uint8_t> from,
               bool packed);
    /// Whether the j-th neighbour (ascending, without the agent itself) gets a piece, and whether
    /// one comes from it.
    [[nodiscard]] bool sends(std::size_t j) const { return !restricted_ || to_[j] != 0; }
    [[nodiscard]] bool receives(std::size_t j) const { return !restricted_ || from_[j] != 0; }

    /// The same piece to every neighbour, not encrypted, from where it is. COLLECTIVE.
    void spread(const double* values, Eigen::Index count);

    /// Where the piece for the j-th neighbour may be made.
    [[nodiscard]] std::byte* room(std::size_t j, Eigen::Index count) {
        return packed_.data() + j * wire_size_of(count);
    }
    /// Packs the piece for the j-th neighbour, sealed where that is due.
    /// @param piece number of the piece in its message.  @param values anywhere, or in room(j).
    void pack(std::size_t j, std::int64_t piece, const void* values, Eigen::Index count);
    /// Sends what was packed for all that get something, and opens what comes. COLLECTIVE.
    /// @throws CryptoError naming the edge for what is not what was sent.
    void swap(std::int64_t piece, Eigen::Index count);

    /// What came from the j-th neighbour last, in clear.
    [[nodiscard]] const std::byte* received(std::size_t j, Eigen::Index count) const {
        return received_.data() + j * wire_size_of(count);
    }

    /// Adds a whole message of this exchange to bytes_sent().
    void count_sent(Eigen::Index dimension, Eigen::Index longest);
    [[nodiscard]] std::int64_t bytes_sent() const { return bytes_sent_; }

  private:
    [[nodiscard]] std::size_t wire_size_of(Eigen::Index count) const {
        return wire_size(count, encrypted_);
    }
    void swap_restricted(int bytes);

    MpiWorld& world_;
    const MpiLinks& links_;
    bool encrypted_ = false;
    std::vector<LinkCipher> ciphers_;  // one per neighbour
    ExchangeId id_;
    bool restricted_ = false;  // to to_ and from_: one entry a neighbour
    std::vector<std::uint8_t> to_, from_;
    std::vector<std::byte> received_;  // one piece per neighbour, with its tag when encrypted
    std::vector<std::byte> packed_;
    std::vector<int> starts_, send_counts_, receive_counts_;  // one a neighbour, and one to spare
    std::int64_t bytes_sent_ = 0;
};

}  // namespace sotto
