#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "net/mpi/late_mail.hpp"
#include "net/mpi/links.hpp"
#include "net/mpi/protection.hpp"
#include "net/mpi/world.hpp"
#include "net/network.hpp"
#include "trust/link_cipher.hpp"

namespace sotto {

/// Which message each link carries in one exchange.
class MessageNumbers {
  public:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    /// @param shared whether links from one sender to one process share a message.
    /// @param active whether a LinkEnd carries anything.
    template <class Active>
    void assign(std::span<const LinkEnd> links,
                std::size_t neighbours,
                bool shared,
                Active&& active) {
        of_links_.assign(links.size(), none);
        of_neighbours_.assign(neighbours, 0);
        std::size_t messages = 0;
        const LinkEnd* last = nullptr;
        for (std::size_t e = 0; e < links.size(); ++e) {
            const LinkEnd& link = links[e];
            if (!active(link)) continue;
            const bool same = shared && last != nullptr && last->neighbour == link.neighbour &&
                              last->sender == link.sender;
            last = &link;
            if (!same) {
                ++messages;
                ++of_neighbours_[link.neighbour];
            }
            of_links_[e] = messages - 1;
        }
    }
    /// By link; `none` for inactive ones.
    [[nodiscard]] std::span<const std::size_t> of_links() const { return of_links_; }
    /// Numbers of messages, by neighbour.
    [[nodiscard]] std::span<const std::size_t> of_neighbours() const { return of_neighbours_; }

  private:
    std::vector<std::size_t> of_links_, of_neighbours_;
};

/// Messages of numbers to and from neighbour processes, piece by piece, for both kinds of exchange.
/// Everything for one process is sent together, and sealed as one once there are ciphers. Memory is
/// kept between calls: exchanging allocates nothing.
class EdgePieces {
  public:
    EdgePieces(MpiWorld& world, const MpiLinks& links) : world_(world), links_(links) {}

    /// Seals all messages from now on. @param ciphers one per neighbour, same order.
    void protect(std::vector<LinkCipher> ciphers);
    [[nodiscard]] bool encrypted() const { return encrypted_; }

    /// Begins an exchange of pieces of up to `longest` values.
    /// @param sent messages by destination.  @param received by source. Messages are numbered in
    /// this order.
    /// @param packed whether swap() follows; spread() needs no buffers.
    void begin(ExchangeId id,
               Eigen::Index longest,
               std::span<const std::size_t> sent,
               std::span<const std::size_t> received,
               bool packed,
               MessagePrecision precision = MessagePrecision::float64);

    /// Sends the same piece to every neighbour in place, unencrypted; for processes with one agent
    /// each. COLLECTIVE.
    void spread(const double* values, Eigen::Index count);

    /// A buffer for the piece of an outgoing message, valid until the next piece.
    [[nodiscard]] std::byte* room(std::size_t message, Eigen::Index count) {
        return sent_.start(message, count, encrypted_);
    }
    /// Sets the piece of an outgoing message. @param values anywhere, or in its room(); unchanged
    /// until swap() has begun.
    void put(std::size_t message, const void* values) { values_[message] = values; }
    /// Sends the pieces of all messages, and opens those received. COLLECTIVE.
    /// @param piece number of the piece in its message.
    /// @throws CryptoError naming both ends if a piece is not what was sent.
    void swap(std::int64_t piece, Eigen::Index count);

    /// As swap for whole messages, with those that are there by the deadline. Not COLLECTIVE.
    /// @return whether the messages of each source have come.  @throws CryptoError as swap;
    /// NetworkError for a message of another length.
    std::span<const std::uint8_t> swap_until(Clock::time_point deadline, Eigen::Index count);
    /// Header of a message of an earlier round.
    struct Late {
        long round = 0;
        std::uint32_t used = 0;
    };
    /// Opens the oldest message of a source that came after its round was over, as received(); none
    /// if there is none. After swap_until(). Who uses it says so: mail().use_late().
    /// @throws as swap_until.
    [[nodiscard]] std::optional<Late> take_late(std::size_t j, Eigen::Index count);
    [[nodiscard]] LateMail& mail() { return mail_; }
    [[nodiscard]] const LateMail& mail() const { return mail_; }

    /// Sends what found no room in the last piece; only pairs of processes with something to say
    /// exchange it. Calls are not collective: both ends know the sizes.
    /// @param sent by outgoing message.  @param received by incoming message, of the right sizes.
    /// @throws CryptoError as swap.
    void swap_rest(std::int64_t piece,
                   std::span<const std::vector<std::int32_t>* const> sent,
                   std::span<std::vector<std::int32_t>> received);

    /// The last received piece of an incoming message, in clear.
    [[nodiscard]] const std::byte* received(std::size_t message, Eigen::Index count) {
        return received_.start(message, count, encrypted_);
    }

    /// Adds this exchange's whole messages to bytes_sent(), but not what swap_rest has added.
    void count_sent(Eigen::Index dimension, Eigen::Index longest);
    [[nodiscard]] std::int64_t bytes_sent() const { return bytes_sent_; }

  private:
    /// Messages of one direction, contiguous; those of each neighbour end with a tag.
    struct Room {
        std::vector<std::byte> bytes;
        std::vector<std::size_t> messages;       // by neighbour
        std::vector<std::size_t> first_message;  // by neighbour
        std::vector<std::size_t> neighbour;      // by message
        std::vector<int> starts, sizes;          // by neighbour, and one to spare
        MessagePrecision precision = MessagePrecision::float64;

        void number(std::span<const std::size_t> of_neighbours);
        [[nodiscard]] std::size_t size_of(Eigen::Index count) const {
            return piece_bytes(precision, static_cast<std::size_t>(count));
        }
        /// With its tag.
        [[nodiscard]] std::span<std::byte> part(std::size_t j) {
            return {bytes.data() + starts[j], static_cast<std::size_t>(sizes[j])};
        }
        void make_room(Eigen::Index longest, bool encrypted);
        [[nodiscard]] std::size_t tags_before(std::size_t j, bool encrypted) const {
            return encrypted ? j * LinkCipher::tag_size : 0;
        }
        [[nodiscard]] std::byte* start(std::size_t message, Eigen::Index count, bool encrypted) {
            return bytes.data() + message * size_of(count) +
                   tags_before(neighbour[message], encrypted);
        }
        /// Data for or from the j-th neighbour, without its tag.
        [[nodiscard]] std::span<std::uint8_t> plain(std::size_t j,
                                                    Eigen::Index count,
                                                    bool encrypted);
        void set_counts(Eigen::Index count, bool encrypted);
    };
    /// With nibbles a piece may have two parts.
    [[nodiscard]] ChunkAddress address_of(std::int64_t piece, int part = 0) const {
        const bool parts = sent_.precision == MessagePrecision::nibble;
        return {id_.round, id_.step, parts ? 2 * piece + part : piece};
    }
    void pack(std::size_t j, std::int64_t piece, Eigen::Index count);
    void open(std::size_t j, const ChunkAddress& address, Eigen::Index count);
    /// Puts a whole message in its place, opened.
    void take(std::size_t j,
              const Late& header,
              std::span<const std::byte> bytes,
              Eigen::Index count);
    /// By neighbour: its messages' numbers, one message after the other.
    [[nodiscard]] std::vector<std::vector<std::uint8_t>> sealed_rests(
        std::int64_t piece, std::span<const std::vector<std::int32_t>* const> sent);
    void open_rests(std::int64_t piece, std::span<std::vector<std::int32_t>> received);
    [[nodiscard]] LinkCipher& cipher_to(std::size_t destination) {
        return ciphers_[links_.destinations()[destination]];
    }
    [[nodiscard]] LinkCipher& cipher_from(std::size_t source) {
        return ciphers_[links_.sources()[source]];
    }

    MpiWorld& world_;
    const MpiLinks& links_;
    LateMail mail_{world_, links_};
    std::vector<std::uint8_t> came_;  // by source
    bool encrypted_ = false;
    std::vector<LinkCipher> ciphers_;  // one per neighbour
    ExchangeId id_;
    Room sent_, received_;
    std::vector<const void*> values_;  // by message
    // By neighbour: what follows a piece.
    std::vector<std::vector<std::uint8_t>> rest_sent_, rest_received_;
    std::int64_t bytes_sent_ = 0;
};

}  // namespace sotto
