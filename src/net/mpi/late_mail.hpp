#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "core/stopwatch.hpp"
#include "net/mpi/links.hpp"
#include "net/mpi/world.hpp"
#include "net/neighbour_exchange.hpp"

namespace sotto {

/// Messages between neighbour processes of which any may be late: everybody sends at once, takes
/// what has come by the deadline, and drops what comes later. Point to point along the graph's
/// communicator. Nothing here is collective but settle().
///
/// Memory is bounded: at most `most_kept` messages of each sender wait to be read, the newest, and
/// at most `most_under_way` are under way to each receiver; of another one it gets the header
/// alone.
///
/// With a lag of L rounds nobody waits for a neighbour that is at most so many rounds behind, and
/// messages of the last L rounds are kept until take_late(). Rounds have one exchange then.
class LateMail {
  public:
    static constexpr std::size_t most_kept = 8, most_under_way = 4;
    struct Header {
        std::int64_t round = 0, step = 0, used = 0;
    };
    struct Letter {
        ExchangeId id;
        std::uint32_t used = 0;
        std::vector<std::byte> bytes;  // with its header
        Clock::time_point came;
        [[nodiscard]] std::span<const std::byte> content() const {
            return std::span(bytes).subspan(sizeof(Header));
        }
    };

    LateMail(MpiWorld& world, const MpiLinks& links) : world_(world), links_(links) {}
    ~LateMail();
    LateMail(const LateMail&) = delete;
    LateMail& operator=(const LateMail&) = delete;

    /// From the next exchange on; at most 16.
    void set_lag(long rounds) { lag_ = rounds; }
    /// Copies the bytes and sends them to links.neighbours()[destination].
    void send(ExchangeId id, std::size_t destination, std::span<const std::byte> bytes);
    /// Waits until a message of this exchange is here from every neighbour that counts as on time
    /// (see on_time), and those sent to them are gone, or until the deadline. Messages of earlier
    /// exchanges are dropped.
    /// @param sources indices in links.neighbours(), as are destinations.
    /// @throws NetworkError for a message that is longer than `largest`, naming the sender.
    void wait(ExchangeId id,
              std::span<const std::size_t> sources,
              std::span<const std::size_t> destinations,
              Clock::time_point deadline,
              std::size_t largest);
    /// The bytes that this neighbour sent in this exchange; none if they are not here. Valid until
    /// the next call of wait() or settle().
    [[nodiscard]] std::optional<std::span<const std::byte>> of(ExchangeId id,
                                                               std::size_t source) const;

    /// The oldest message of a round before the last exchange, at most the lag old, if none of that
    /// round has been used; none if there is none. Each comes once.
    [[nodiscard]] std::optional<Letter> take_late(std::size_t source);

    /// Whether others wait for this neighbour: it has sent a message of this round or one of the
    /// 2 + L before, or all have just met. One that was late is not waited for until it is on time
    /// again.
    [[nodiscard]] bool on_time(long round, std::size_t source) const;
    /// Takes what has come, without waiting for more. @return the round that half of the neighbours
    /// have reached, the lower if they are even; -1: none. One that lies cannot drive the others.
    [[nodiscard]] long round_of_neighbours();

    /// Tells the neighbours that all should meet, and they tell theirs.
    void call_meeting();
    /// Whether somebody has, since the last meeting.
    [[nodiscard]] bool meeting_called() const { return called_; }
    /// Waits for all processes, and drops what is under way between them. From the next exchange
    /// on everybody counts as on time. COLLECTIVE. @param next the next round.
    void settle(long next);

    /// What this neighbour's message of the last exchange says it used of ours
    /// (NeighbourExchange::used_by). Precondition: it came.
    [[nodiscard]] std::uint32_t used_by(std::size_t source) const;
    /// What ours of this round say to a neighbour.
    [[nodiscard]] std::uint32_t used_of(std::size_t neighbour, long round) const;
    /// Marks the neighbour's message of a round as used: the last exchange's, or one of the 31
    /// before.
    void use(std::size_t source, long round);
    void use_late(std::size_t source, long round) {
        use(source, round);
        ++counts_.used_late;
    }
    /// When the messages of the last exchange came.
    [[nodiscard]] const std::vector<Clock::time_point>& arrivals() const { return arrivals_; }
    [[nodiscard]] const LateCounts& counts() const { return counts_; }

  private:
    /// Rounds whose messages were used: bit k is round `last - k`.
    struct Used {
        long last = 0;
        std::uint32_t rounds = 0;
    };
    struct UnderWay {
        std::vector<std::byte> bytes;
        MPI_Request request = MPI_REQUEST_NULL;
    };
    struct Coming : UnderWay {
        std::size_t source = 0;
    };
    [[nodiscard]] static bool before(ExchangeId a, ExchangeId b) {
        return a.round != b.round ? a.round < b.round : a.step < b.step;
    }
    void prepare();
    void take_all();
    void keep(std::size_t source, std::vector<std::byte> bytes);
    void post(Header header, std::size_t destination, std::span<const std::byte> bytes);
    void finish_sends();
    [[nodiscard]] const Letter* letter_of(ExchangeId id, std::size_t source) const;
    void forget_before(ExchangeId id);
    /// Whether half of those on time have reached the round.
    [[nodiscard]] bool half_there(long round) const;
    /// True also for rounds that are too long ago, or to come.
    [[nodiscard]] bool used(std::size_t source, long round) const;
    [[nodiscard]] bool sent_to(std::size_t destination, long round) const;
    [[nodiscard]] std::vector<std::byte> buffer(std::size_t bytes);

    MpiWorld& world_;
    const MpiLinks& links_;
    long lag_ = 0;
    ExchangeId now_{-1, 0};    // the exchange that goes on, or was the last
    bool open_ = false;        // it goes on
    std::size_t largest_ = 0;  // of a message; 0: nothing is taken before the first wait()
    std::vector<std::deque<Letter>> kept_;         // by neighbour
    std::vector<std::deque<UnderWay>> under_way_;  // by neighbour
    std::list<Coming> coming_;
    std::vector<std::vector<std::byte>> spare_;  // buffers to use again
    std::vector<Used> used_;                     // by neighbour
    std::vector<long> newest_;                   // round of the last message, by neighbour
    std::vector<Clock::time_point> arrivals_;
    bool called_ = false;
    LateCounts counts_;
};

}  // namespace sotto
