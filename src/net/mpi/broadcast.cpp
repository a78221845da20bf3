#include "broadcast.hpp"

#include <cstdint>

#include "long_strings.hpp"

namespace sotto {

std::string broadcast_from(MpiWorld& world, int root, const std::string& bytes) {
    std::uint64_t size = bytes.size();
    world.complete("MPI_Ibcast", [&](MPI_Request* request) {
        return MPI_Ibcast(&size, 1, MPI_UINT64_T, root, world.communicator(), request);
    });
    check_announced(size, root);
    std::string result = world.rank() == root ? bytes : std::string(size, '\0');
    broadcast_known(world, root, result);
    return result;
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
