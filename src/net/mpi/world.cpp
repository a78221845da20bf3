#include "net/mpi/world.hpp"

#include <fmt/format.h>

#include <exception>

#include "net/mpi/first_contact.hpp"

namespace sotto {

MpiWorld::MpiWorld(MPI_Comm job) : exceptions_at_start_(std::uncaught_exceptions()) {
    communicator_ = first_contact(job);
    check_mpi(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_size(communicator_, &ranks_), "MPI_Comm_size");
    check_mpi(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
    watch_ = std::make_unique<StallWatch>(communicator_);
}

MpiWorld::~MpiWorld() {
    if (!orderly()) {
        (void)watch_.release();
        return;
    }
    watch_.reset();
    MPI_Comm_free(&communicator_);
}

std::string MpiWorld::name_of(int rank) const {
    return several_hosts() ? watch_->name_of(rank) : fmt::format("rank {}", rank);
}

bool MpiWorld::orderly() const {
    int finalized = 0;
    MPI_Finalized(&finalized);
    return finalized == 0 && std::uncaught_exceptions() <= exceptions_at_start_;
}

void MpiWorld::wait_until(ExchangeId id,
                          Clock::time_point until,
                          const std::function<bool()>& ready) {
    place_ = {id.round, id.step, 0};
    while (!ready() && Clock::now() < until) {
        watch_->answer(place_);
        if (waiting_work_ && !waiting_work_()) waiting_work_ = {};
    }
    place_.after = 1;
}

void MpiWorld::wait_for_exchange(ExchangeId id,
                                 std::span<const int> neighbours,
                                 int code,
                                 MPI_Request& request) {
    place_ = {id.round, id.step, 0};
    code = watch_->complete(code, request, place_, neighbours, &waiting_work_);
    place_.after = 1;
    if (code != MPI_SUCCESS)
        throw NetworkError(fmt::format("exchange of rank {} in round {}, step {} failed: {}",
                                       rank_,
                                       id.round,
                                       id.step,
                                       mpi_error_text(code)));
}

}  // namespace sotto
