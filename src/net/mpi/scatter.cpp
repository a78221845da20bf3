#include "net/mpi/scatter.hpp"

#include <fmt/format.h>

#include "net/mpi/long_strings.hpp"

namespace sotto {

std::uint64_t scattered_size(MpiWorld& world, const std::vector<std::string>& to_processes) {
    std::vector<std::uint64_t> sizes;
    if (world.rank() == 0)
        for (const std::string& bytes : to_processes) sizes.push_back(bytes.size());
    std::uint64_t own = 0;
    world.complete("MPI_Iscatter", [&](MPI_Request* request) {
        return MPI_Iscatter(
            sizes.data(), 1, MPI_UINT64_T, &own, 1, MPI_UINT64_T, 0, world.communicator(), request);
    });
    return own;
}

namespace {

constexpr int scatter_tag = 1;

void send(MpiWorld& world, int rank, const std::string& bytes) {
    in_parts(bytes.size(), [&](std::size_t first, int count) {
        world.complete("MPI_Isend", [&](MPI_Request* request) {
            return MPI_Isend(bytes.data() + first,
                             count,
                             MPI_BYTE,
                             rank,
                             scatter_tag,
                             world.communicator(),
                             request);
        });
    });
}

std::string receive_from_rank_0(MpiWorld& world, std::uint64_t size) {
    std::string bytes(size, '\0');
    in_parts(bytes.size(), [&](std::size_t first, int count) {
        world.complete("MPI_Irecv", [&](MPI_Request* request) {
            return MPI_Irecv(bytes.data() + first,
                             count,
                             MPI_BYTE,
                             0,
                             scatter_tag,
                             world.communicator(),
                             request);
        });
    });
    return bytes;
}

}  // namespace

void check_scatter(const MpiWorld& world, const std::vector<std::string>& to_processes) {
    if (world.rank() == 0 && to_processes.size() != static_cast<std::size_t>(world.ranks()))
        throw Error(
            ExitCode::other,
            fmt::format(
                "scatter of {} strings to {} processes", to_processes.size(), world.ranks()));
}

std::string scatter_strings(MpiWorld& world,
                            const std::vector<std::string>& to_processes,
                            std::uint64_t size) {
    if (world.rank() != 0) return receive_from_rank_0(world, size);
    for (int p = 1; p < world.ranks(); ++p)
        send(world, p, to_processes[static_cast<std::size_t>(p)]);
    return to_processes.front();
}

}  // namespace sotto
