#include "simulation/mpi_state.hpp"

#include <algorithm>
#include <cstring>

namespace sotto::simulation {

namespace {

std::size_t size_of(MPI_Datatype type) {
    if (type == MPI_DOUBLE || type == MPI_UINT64_T || type == MPI_INT64_T) return 8;
    if (type == MPI_INT) return 4;
    return 1;
}

}  // namespace

RankMpi& mpi() {
    static std::map<int, RankMpi> of_ranks;
    return of_ranks[current()->place];
}

Communicator& communicator(MPI_Comm handle) {
    return mpi().communicators[handle == MPI_COMM_WORLD ? 0 : number_of(handle)];
}

MPI_Comm new_communicator(std::vector<int> neighbours) {
    RankMpi& own = mpi();
    const std::intptr_t handle = own.next_handle += 64;
    own.communicators[handle] = {own.next_communicator++, std::move(neighbours), 0, {}, {}};
    return handle_of<MPI_Comm>(handle);
}

MPI_Request new_request(Pending pending) {
    RankMpi& own = mpi();
    const std::intptr_t handle = own.next_handle += 64;
    own.pending[handle] = std::move(pending);
    return handle_of<MPI_Request>(handle);
}

bool complete(const Pending& pending) {
    return std::ranges::all_of(pending.parts, [](const Part& part) {
        return job().wire.arrived(current()->place, part.slot) != nullptr;
    });
}

int finish(std::intptr_t handle) {
    Pending pending = std::move(mpi().pending[handle]);
    mpi().pending.erase(handle);
    int code = MPI_SUCCESS;
    for (const Part& part : pending.parts) {
        const auto& bytes = *job().wire.arrived(current()->place, part.slot);
        if (bytes.size() > part.size) code = MPI_ERR_TRUNCATE;
        if (!bytes.empty())
            std::memcpy(part.target, bytes.data(), std::min(part.size, bytes.size()));
        job().wire.forget(current()->place, part.slot);
    }
    if (code == MPI_SUCCESS && pending.finish) pending.finish();
    return code;
}

std::size_t length(int count, MPI_Datatype type) {
    return static_cast<std::size_t>(count) * size_of(type);
}

std::span<const std::uint8_t> bytes_of(const void* data, std::size_t size) {
    return {static_cast<const std::uint8_t*>(data), size};
}

}  // namespace sotto::simulation
