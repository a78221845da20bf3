#include "agree.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "broadcast.hpp"
#include "long_strings.hpp"

namespace sotto {

namespace {

constexpr std::size_t longest_message = 4096;

/// To what others accept.
std::string shortened(std::string message) {
    constexpr std::string_view rest = " ...";
    if (message.size() > longest_message)
        message = message.substr(0, longest_message - rest.size()).append(rest);
    return message;
}

/// What a rank says is its word: it may be about others. Where all ranks fail alike it is rank 0's.
std::string attributed(const std::string& message, int rank) {
    const std::string name = fmt::format("rank {}", rank);
    return rank == 0 || message.starts_with(name) ? message : fmt::format("{}: {}", name, message);
}

/// Of another rank, which may have sent anything.
ExitCode known(int code) {
    constexpr auto first = static_cast<int>(ExitCode::other);
    constexpr auto last = static_cast<int>(ExitCode::audit);
    return code >= first && code <= last ? static_cast<ExitCode>(code) : ExitCode::other;
}

}  // namespace

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
    const std::string own_message = local_failure ? shortened(local_failure->what()) : "";
    const std::uint64_t size = size_at(world, lowest, own_message.size());
    // Nobody can be asked to agree on this one.
    check_announced(size, longest_message, lowest);
    std::string message = own_message;
    message.resize(size);
    broadcast_known(world, lowest, message);
    return Error(known(code), attributed(message, lowest));
}

}  // namespace sotto
