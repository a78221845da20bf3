#include "agree.hpp"

#include "broadcast.hpp"
#include "long_strings.hpp"

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
    std::string message;
    if (local_failure) message = std::string(local_failure->what()).substr(0, most_line_bytes);
    const std::uint64_t size = size_at(world, lowest, message.size());
    // Nobody can be asked to agree on this one.
    check_announced(size, most_line_bytes, lowest);
    message.resize(size);
    broadcast_known(world, lowest, message);
    return Error(static_cast<ExitCode>(code), message);
}

}  // namespace sotto
