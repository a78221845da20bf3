#include "net/mpi/broadcast.hpp"

#include "net/mpi/long_strings.hpp"

namespace sotto {

std::uint64_t size_at(MpiWorld& world, int root, std::uint64_t own) {
    world.complete("MPI_Ibcast", [&](MPI_Request* request) {
        return MPI_Ibcast(&own, 1, MPI_UINT64_T, root, world.communicator(), request);
    });
    return own;
}

void broadcast_known(MpiWorld& world, int root, std::string& bytes) {
    in_parts(bytes.size(), [&](std::size_t first, int count) {
        world.complete("MPI_Ibcast", [&](MPI_Request* request) {
            return MPI_Ibcast(
                bytes.data() + first, count, MPI_BYTE, root, world.communicator(), request);
        });
    });
}

}  // namespace sotto
