#pragma once

// Waiting for MPI requests without waiting for ever.

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "core/stopwatch.hpp"
#include "net/mpi_call.hpp"
#include "net/network.hpp"

namespace sotto {

/// Completes non-blocking MPI calls, and finds out who keeps this rank waiting.
///
/// While it waits it leaves its core to whoever wants it, and answers questions of others; after
/// StallLimits::warn_seconds it asks those it waits for, on a communicator of its own, and reports
/// who has not answered; after abort_seconds it gives up. A rank that computes, is stopped, dead or
/// cut off does not answer; one that waits itself does, and says for what. Nothing of this costs
/// anything in a round that goes on within 50 ms.
class StallWatch {
  public:
    /// Where in the run a wait is.
    struct Place {
        std::int64_t round = -1;  ///< of the last exchange; -1: before the first
        std::int64_t step = 0;    ///< gossip step inside it
        std::int64_t after = 0;   ///< 1: not in the exchange, but in what follows it
    };

    /// COLLECTIVE over `world`, which must outlive it.
    explicit StallWatch(MPI_Comm world);
    ~StallWatch();
    StallWatch(const StallWatch&) = delete;
    StallWatch& operator=(const StallWatch&) = delete;

    /// From now on. The first time it gathers the ranks' host names: COLLECTIVE.
    void set(StallLimits limits);

    /// Waits until the request is complete. @param code of the call that began it: nothing is
    /// waited for unless it is MPI_SUCCESS.  @param waits_for ranks; empty: all others.
    /// @param work done meanwhile, a piece whenever the request is not complete; may be empty, and
    /// is once no more is left.
    /// @return the request's error code, or `code`.
    /// @throws NetworkError naming place and ranks after abort_seconds.
    [[nodiscard]] int complete(int code,
                               MPI_Request& request,
                               const Place& place,
                               std::span<const int> waits_for = {},
                               WaitingWork* work = nullptr);

    /// "rank 3 (node1)"; without the host until `set` was called.
    [[nodiscard]] std::string name_of(int rank) const;
    /// Whether the ranks are known to run on hosts of different names.
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
    /// Answers what others ask, and notes what they answer.
    void talk(const Place& place);
    void ask(std::span<const int> ranks, const Place& place);
    [[nodiscard]] bool silent(int rank) const;
    /// Whether this rank speaks for all that wait alike: no lower one has answered.
    [[nodiscard]] bool speaks() const;
    /// Who has not answered, and where the others are; "" if all have.
    [[nodiscard]] std::string findings(std::span<const int> ranks) const;
    void waited_long(Stall& stall, double waited, const Place& place);

    MPI_Comm watch_ = MPI_COMM_NULL;
    int ranks_ = 1, rank_ = 0;
    std::vector<int> others_;
    StallLimits limits_;
    double warn_seconds_ = 0;  // grows where rounds turn out to be slow
    std::vector<std::string> hosts_;
    std::int64_t questions_ = 0;
    std::vector<Question> answers_;  // the last of every rank
    std::deque<Sent> sent_;
};

}  // namespace sotto
