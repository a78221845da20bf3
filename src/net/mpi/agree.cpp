#include "agree.hpp"

#include "broadcast.hpp"

namespace sotto {

std::optional<Error> lowest_failure(MpiWorld& world, const std::optional<Error>& local_failure) {
    const int own = local_failure ? world.rank() : world.ranks();
    int lowest = world.ranks();
    world.complete("MPI_Iallreduce", [&](MPI_Request* request) {
        return MPI_Iallreduce(&own, &lowest, 1, MPI_INT, MPI_MIN, world.communicator(), request);
    });
    if (lowest == world.ranks()) return std::nullopt;
    int code = local_failure ? static_cast<int>(local_failure->exit_code()) : 0;
    world.complete("MPI_Ibcast", [&](MPI_Request* request) {
        return MPI_Ibcast(&code, 1, MPI_INT, lowest, world.communicator(), request);
    });
    const std::string message =
        broadcast_from(world, lowest, local_failure ? local_failure->what() : "");
    return Error(static_cast<ExitCode>(code), message);
}

}  // namespace sotto
