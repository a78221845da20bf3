#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/stopwatch.hpp"
#include "net/message_precision.hpp"
#include "sotto/graph/graph.hpp"
#include "trust/aead.hpp"
#include "trust/pair_secrets.hpp"

namespace sotto {

/// Address of one exchange: training round and gossip step inside it, both from 0.
struct ExchangeId {
    std::int64_t round = 0;
    int step = 0;
};

/// One agent's outgoing vectors in one exchange: the same for everybody (`to_all`), or one per
/// member of its closed neighbourhood, ascending (`per_receiver`; its own entry is the copy it
/// keeps). All have the exchange's dimension and must stay unchanged until the exchange returns.
struct Outgoing {
    const double* to_all = nullptr;
    std::vector<const double*> per_receiver;
    /// Which members of the closed neighbourhood, ascending, get this agent's message, and which
    /// send it theirs: not 0; its own entries always. Empty: all neighbours. Where v sends to u,
    /// both must say so; all agents of an exchange must have lists, or none.
    std::vector<std::uint8_t> to{}, from{};
};

/// Called when coordinates [first, first + count) of all messages to one local agent have arrived:
/// columns[j] points to those from the j-th member of its closed neighbourhood (ascending, itself
/// included); null if that one sends it nothing. Ranges arrive in order and cover the dimension
/// once; large messages take several calls, so that each is mixed while in cache. Pointers are
/// valid during the call. Calls for different agents may come from different threads.
using Delivery = std::function<void(std::size_t local_index,
                                    Eigen::Index first,
                                    Eigen::Index count,
                                    std::span<const double* const> columns)>;

/// Writes coordinates [first, first + words.size()) of one local agent's share for its neighbour-th
/// neighbour (ascending, without itself) among those that hear it. `first` is a multiple of 8.
/// Calls may come from different threads, also for one agent.
using ShareSource = std::function<void(std::size_t local_index,
                                       std::size_t neighbour,
                                       Eigen::Index first,
                                       std::span<std::uint64_t> words)>;
/// Called with coordinates [first, first + sum.size()) of the sum of all shares for one local
/// agent, modulo 2^64. Ranges and threads as with Delivery.
using SumDelivery = std::function<void(
    std::size_t local_index, Eigen::Index first, std::span<const std::uint64_t> sum)>;

/// Messages that rounds with a deadline did not use. A process counts what it was to receive.
struct LateCounts {
    std::int64_t expected = 0;   ///< messages of the rounds it took part in
    std::int64_t missing = 0;    ///< of these: not there by the deadline
    std::int64_t late = 0;       ///< came after their round was over, and were dropped
    std::int64_t unsent = 0;     ///< not sent, since earlier ones were still under way
    std::int64_t used_late = 0;  ///< of the missing ones: used in a later round (set_lag)
    std::int64_t skipped = 0;    ///< rounds for which it sent nothing, being behind
    std::int64_t noiseless = 0;  ///< of these: their noise was not sent later either
    [[nodiscard]] bool operator==(const LateCounts&) const = default;
};

/// A message of an earlier round than the last exchange's, to a local agent.
struct LateMessage {
    std::size_t local = 0, place = 0;  ///< of receiver; of sender in its closed neighbourhood
    long round = 0;
    std::uint32_t used = 0;  ///< as used_by()
    std::span<const double> values;
};
/// @return whether the receiver uses it.
using LateDelivery = std::function<bool(const LateMessage&)>;

/// Does a piece of work. @return whether more is left.
using WaitingWork = std::function<bool()>;

/// What agents send their neighbours along the graph. COLLECTIVE functions must be called by all
/// processes in the same order. An implementation encrypts and watches its waits itself: it handles
/// a message in pieces as they arrive, which a wrapper around the whole exchange could not.
class NeighbourExchange {
  public:
    virtual ~NeighbourExchange() = default;

    /// Sets the graph along which `exchange` sends; call once, before the first exchange.
    /// COLLECTIVE.
    virtual void connect(const Graph& graph) = 0;

    /// From now on encrypts and authenticates (LinkCipher) messages of `exchange` and
    /// `exchange_sum`, and what `fold_over_agents` collects and returns. No effect in one process.
    /// Call after `connect`, and again for a new key epoch. LOCAL, but all processes between the
    /// same two exchanges.
    /// @param secrets one per local agent, same order.  @throws CryptoError for a neighbour with an
    /// unusable public key.
    virtual void protect(std::span<PairSecrets> secrets, std::uint32_t key_epoch) = 0;
    /// The cipher of messages between processes, if they are encrypted: AES-256-GCM where every
    /// process has it, else ChaCha20-Poly1305. LOCAL.
    [[nodiscard]] virtual std::optional<AeadCipher> encryption() const = 0;

    /// Precision of `exchange` between processes from now on; messages must already be rounded to
    /// it (round_to_precision). LOCAL, but all processes between the same two exchanges.
    void set_message_precision(MessagePrecision precision) { message_precision_ = precision; }
    [[nodiscard]] MessagePrecision message_precision() const { return message_precision_; }

    /// Work for the time in which `exchange` and `exchange_sum` wait for others: called repeatedly
    /// while it returns true. A piece must not depend on what is in transit, and be short (a
    /// millisecond), since MPI may need the process to progress. In one process it is never called.
    /// Empty: none. LOCAL.
    virtual void work_while_waiting(WaitingWork /*piece*/) {}

    // Rounds that go on without those who are late. Only networks of several processes have them.

    /// From now on `exchange` waits until this time and not longer, is not collective, and delivers
    /// null for members whose messages have not come; nothing: it waits for all. Messages are the
    /// same for all receivers, and not nibbles. LOCAL.
    void set_deadline(std::optional<Clock::time_point> deadline) { deadline_ = deadline; }
    [[nodiscard]] bool has_deadline() const { return deadline_.has_value(); }
    /// The round that half of the neighbouring processes have reached; -1: not known. LOCAL.
    [[nodiscard]] virtual long round_of_neighbours() { return -1; }
    /// Asks all processes to meet(); they pass it on. LOCAL.
    virtual void call_meeting() {}
    [[nodiscard]] virtual bool meeting_called() const { return false; }
    /// Waits for all, and drops messages that are under way. COLLECTIVE. @param next round.
    virtual void meet(long /*next*/) {}
    /// What a neighbour's message of this exchange says: bit k is set if its process used this
    /// one's message of round `round - 1 - k`. None if no message came from another process.
    /// @param place in the closed neighbourhood. For Delivery. LOCAL.
    [[nodiscard]] virtual std::optional<std::uint32_t> used_by(std::size_t /*local_index*/,
                                                               std::size_t /*place*/) const {
        return std::nullopt;
    }
    /// Rounds that agents may be apart: an exchange does not wait for neighbours that are at most
    /// so many rounds behind, and keeps their messages for deliver_late(). 0 to 16; rounds have one
    /// exchange. LOCAL, the same on every process.
    virtual void set_lag(long /*rounds*/) {}
    /// Delivers messages of earlier rounds that have come since, by sender in order of rounds.
    /// After an exchange. LOCAL.
    virtual void deliver_late(const LateDelivery& /*deliver*/) {}
    /// When the messages of the last exchange came from other processes. LOCAL.
    [[nodiscard]] virtual std::vector<Clock::time_point> arrivals() const { return {}; }
    [[nodiscard]] virtual LateCounts late_counts() const { return {}; }

    /// Sends every local agent's message to its neighbours and delivers theirs. COLLECTIVE.
    /// @param id for messages about failures and, when encrypted, the nonce: it must then be after
    /// that of the previous exchange; a changed message is a CryptoError naming both ends and the
    /// round.
    /// @param outgoing one per local agent, the same kind (to_all or per_receiver) in the whole
    /// network.
    /// @param dimension values per message, > 0, equal for all agents.
    /// @throws Error before `connect` or for incomplete messages.
    virtual void exchange(ExchangeId id,
                          std::span<const Outgoing> outgoing,
                          Eigen::Index dimension,
                          const Delivery& deliver) = 0;

    /// Sends every neighbour its own share and delivers only the sum of the shares an agent got,
    /// once all have arrived: with masked shares (SecureSum) no process sees a neighbour's message.
    /// COLLECTIVE.
    /// @param id as in `exchange`.  @param dimension words per share, > 0, equal for all agents.
    virtual void exchange_sum(ExchangeId id,
                              Eigen::Index dimension,
                              const ShareSource& share,
                              const SumDelivery& deliver) = 0;

    /// Bytes this process has sent to other agents through `exchange` and `exchange_sum`: values or
    /// words, and tags when encrypted. In one process: what its agents exchanged. LOCAL.
    [[nodiscard]] virtual std::int64_t bytes_sent() const = 0;

  protected:
    [[nodiscard]] const std::optional<Clock::time_point>& deadline() const { return deadline_; }

  private:
    MessagePrecision message_precision_ = MessagePrecision::float64;
    std::optional<Clock::time_point> deadline_;
};

}  // namespace sotto
