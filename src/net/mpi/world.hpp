#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "core/stopwatch.hpp"
#include "net/mpi_call.hpp"
#include "net/network.hpp"
#include "net/stall_watch.hpp"

namespace sotto {

/// The communicator of all processes; completes its calls within the limits of the stall watch.
class MpiWorld {
  public:
    /// Duplicates the job's communicator. COLLECTIVE over the job.
    /// @throws NetworkError if processes do not reach each other (first_contact).
    explicit MpiWorld(MPI_Comm job = MPI_COMM_WORLD);
    ~MpiWorld();
    MpiWorld(const MpiWorld&) = delete;
    MpiWorld& operator=(const MpiWorld&) = delete;

    [[nodiscard]] MPI_Comm communicator() const { return communicator_; }
    [[nodiscard]] int ranks() const { return ranks_; }
    [[nodiscard]] int rank() const { return rank_; }
    /// "rank 3"; with several hosts "rank 3 (node1)".
    [[nodiscard]] std::string name_of(int rank) const;
    /// Whether the ranks run on several hosts; false before waits are watched.
    [[nodiscard]] bool several_hosts() const { return watch_->several_hosts(); }

    /// From now on no wait is longer than this. COLLECTIVE the first time.
    void watch_for_stalls(StallLimits limits) { watch_->set(std::move(limits)); }

    /// From now on, in every exchange while it waits.
    void work_while_waiting(WaitingWork piece) { waiting_work_ = std::move(piece); }

    /// Begins a call outside the exchange, and waits until it is complete.
    /// @param begin calls MPI with the request it is given, and returns its code.
    /// @throws NetworkError naming the call.
    template <class Begin>
    void complete(const char* call, Begin&& begin) {
        MPI_Request request = MPI_REQUEST_NULL;
        const int code = begin(&request);
        check_mpi(watch_->complete(code, request, place_), call);
    }
    /// @param work done a piece at a time meanwhile; may be empty.
    void finish(const char* call, MPI_Request& request, WaitingWork work = {}) {
        check_mpi(watch_->complete(MPI_SUCCESS, request, place_, {}, &work), call);
    }
    /// Waits in an exchange until `ready`, or until this time at most; answers other ranks and does
    /// the waiting work meanwhile.
    void wait_until(ExchangeId id, Clock::time_point until, const std::function<bool()>& ready);
    /// Begins the call of an exchange, and waits for these neighbours until it is complete.
    /// @throws NetworkError naming rank, round and step.
    template <class Begin>
    void complete_exchange(ExchangeId id, std::span<const int> neighbours, Begin&& begin) {
        MPI_Request request = MPI_REQUEST_NULL;
        const int code = begin(&request);
        wait_for_exchange(id, neighbours, code, request);
    }

    /// Whether communicators and requests may be given back: after a failure the other ranks may be
    /// elsewhere, and everything is left to the process's end.
    [[nodiscard]] bool orderly() const;

  private:
    void wait_for_exchange(ExchangeId id,
                           std::span<const int> neighbours,
                           int code,
                           MPI_Request& request);

    int exceptions_at_start_;
    MPI_Comm communicator_ = MPI_COMM_NULL;
    int ranks_ = 1;
    int rank_ = 0;
    std::unique_ptr<StallWatch> watch_;
    StallWatch::Place place_;   // of the exchange that is or was the last
    WaitingWork waiting_work_;  // empty once none is left
};

}  // namespace sotto
