#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "core/stopwatch.hpp"
#include "net/mpi_call.hpp"
#include "net/network.hpp"

namespace sotto {

/// Completes non-blocking MPI calls, and finds out which ranks keep this one waiting.
///
/// While waiting it yields its core and answers other ranks' questions. After
/// StallLimits::warn_seconds it asks those it waits for and reports who has not answered; after
/// abort_seconds it gives up. A rank that computes, is stopped, dead or cut off does not answer;
/// one that waits answers for what. Waits below 50 ms cost nothing.
class StallWatch {
  public:
    struct Place {
        std::int64_t round = -1;  ///< of the last exchange; -1: before the first
        std::int64_t step = 0;    ///< gossip step inside it
        std::int64_t after = 0;   ///< 1: in what follows the exchange
    };

    /// COLLECTIVE over `world`, which must outlive it.
    explicit StallWatch(MPI_Comm world);
    ~StallWatch();
    StallWatch(const StallWatch&) = delete;
    StallWatch& operator=(const StallWatch&) = delete;

    /// Takes effect now. COLLECTIVE the first time: it gathers host names.
    void set(StallLimits limits);

    /// Waits until the request is complete. @param code of the call that began it; waits only for
    /// MPI_SUCCESS.  @param waits_for ranks; empty: all others.
    /// @param work done a piece at a time while waiting; may be empty, and is emptied when no more
    /// is left.
    /// @return the request's error code, or `code`.
    /// @throws NetworkError naming place and ranks after abort_seconds.
    [[nodiscard]] int complete(int code,
                               MPI_Request& request,
                               const Place& place,
                               std::span<const int> waits_for = {},
                               WaitingWork* work = nullptr);

    /// Answers other ranks' questions, and yields the core; for waits that end by themselves.
    void answer(const Place& place);

    /// "rank 3 (node1)"; without the host before `set`.
    [[nodiscard]] std::string name_of(int rank) const;
    /// Whether host names are known to differ.
    [[nodiscard]] bool several_hosts() const;

  private:
    struct Question {
        std::int64_t number = 0;
        Place place;
    };
    struct Sent {
        Question question;
        MPI_Request request = MPI_REQUEST_NULL;
    };
    struct Stall;

    void gather_hosts();
    void send(const Question& question, int rank, int tag);
    void talk(const Place& place);
    void give_way() const;
    void ask(std::span<const int> ranks, const Place& place);
    [[nodiscard]] bool silent(int rank) const;
    /// Whether this rank reports for all that wait alike: no lower one has answered.
    [[nodiscard]] bool speaks() const;
    /// Silent ranks and where the others are; "" if all answered.
    [[nodiscard]] std::string findings(std::span<const int> ranks) const;
    void waited_long(Stall& stall, double waited, const Place& place);

    MPI_Comm watch_ = MPI_COMM_NULL;
    int ranks_ = 1, rank_ = 0;
    std::vector<int> others_;
    StallLimits limits_;
    double warn_seconds_ = 0;  // grows when rounds turn out to be slow
    std::vector<std::string> hosts_;
    Clock::time_point talked_{};  // in answer()
    std::int64_t questions_ = 0;
    std::vector<Question> answers_;  // the last of every rank
    std::deque<Sent> sent_;
};

}  // namespace sotto
