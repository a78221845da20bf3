#include "net/mpi/agree.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "net/mpi/broadcast.hpp"
#include "net/mpi/long_strings.hpp"

namespace sotto {

namespace {

constexpr std::size_t longest_message = 4096;

/// To the length others accept.
std::string shortened(std::string message) {
    constexpr std::string_view rest = " ...";
    if (message.size() > longest_message)
        message = message.substr(0, longest_message - rest.size()).append(rest);
    return message;
}

/// Length of the rank's name if the message begins with it, else 0.
std::size_t own_name_length(const std::string& message, int rank) {
    const std::string own = fmt::format("rank {}", rank);
    const bool there =
        message.starts_with(own) && message.find_first_of("0123456789", own.size()) != own.size();
    return there ? own.size() : 0;
}

/// Prefixes the name of the rank, unless all fail alike, or rank 0 fails on a single host.
std::string attributed(const std::string& message,
                       const MpiWorld& world,
                       int rank,
                       bool all_failed) {
    if (rank == 0 && (all_failed || !world.several_hosts())) return message;
    const std::size_t named = own_name_length(message, rank);
    return world.name_of(rank) + (named > 0 ? message.substr(named) : ": " + message);
}

/// Another rank may have sent anything.
ExitCode known(int code) {
    constexpr auto first = static_cast<int>(ExitCode::other);
    constexpr auto last = static_cast<int>(ExitCode::storage);
    return code >= first && code <= last ? static_cast<ExitCode>(code) : ExitCode::other;
}

}  // namespace

std::optional<Error> lowest_failure(MpiWorld& world, const std::optional<Error>& local_failure) {
    const std::array<int, 2> own{local_failure ? world.rank() : world.ranks(),
                                 local_failure ? 1 : 0};
    std::array<int, 2> least{};
    world.complete("MPI_Iallreduce", [&](MPI_Request* request) {
        return MPI_Iallreduce(
            own.data(), least.data(), 2, MPI_INT, MPI_MIN, world.communicator(), request);
    });
    const auto [lowest, all_failed] = least;
    if (lowest == world.ranks()) return std::nullopt;
    int code = local_failure ? static_cast<int>(local_failure->exit_code()) : 0;
    world.complete("MPI_Ibcast", [&](MPI_Request* request) {
        return MPI_Ibcast(&code, 1, MPI_INT, lowest, world.communicator(), request);
    });
    const std::string own_message = local_failure ? shortened(local_failure->what()) : "";
    const std::uint64_t size = size_at(world, lowest, own_message.size());
    // A failure here cannot be agreed on.
    check_announced(size, longest_message, lowest);
    std::string message = own_message;
    message.resize(size);
    broadcast_known(world, lowest, message);
    return Error(known(code), attributed(message, world, lowest, all_failed == 1));
}

}  // namespace sotto
