#include "net/mpi/parcels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "net/mpi/long_strings.hpp"

namespace sotto {

namespace {

constexpr int parcel_tag = 2;

}  // namespace

void check_receivers(const MpiWorld& world, std::span<const int> receivers) {
    const auto allowed = [&](int receiver) { return receiver >= -1 && receiver < world.ranks(); };
    if (std::ssize(receivers) != world.ranks() || !std::ranges::all_of(receivers, allowed))
        throw Error(ExitCode::other,
                    fmt::format("parcels of {} processes to {}", world.ranks(), receivers.size()));
}

std::vector<std::string> send_parcels(MpiWorld& world,
                                      const std::string& bytes,
                                      std::span<const int> receivers,
                                      std::span<const std::uint64_t> sizes) {
    const auto own = static_cast<std::size_t>(world.rank());
    std::vector<std::string> arriving;
    std::vector<std::size_t> senders;
    for (std::size_t p = 0; p < receivers.size(); ++p) {
        if (receivers[p] != world.rank()) continue;
        senders.push_back(p);
        arriving.push_back(p == own ? bytes : std::string(sizes[p], '\0'));
    }
    // All at once, since a sender may receive as well.
    std::vector<MPI_Request> receiving, sending;
    for (std::size_t k = 0; k < senders.size(); ++k) {
        if (senders[k] == own) continue;
        in_parts(arriving[k].size(), [&](std::size_t first, int count) {
            check_mpi(MPI_Irecv(arriving[k].data() + first,
                                count,
                                MPI_BYTE,
                                static_cast<int>(senders[k]),
                                parcel_tag,
                                world.communicator(),
                                &receiving.emplace_back(MPI_REQUEST_NULL)),
                      "MPI_Irecv");
        });
    }
    if (receivers[own] >= 0 && receivers[own] != world.rank())
        in_parts(bytes.size(), [&](std::size_t first, int count) {
            check_mpi(MPI_Isend(bytes.data() + first,
                                count,
                                MPI_BYTE,
                                receivers[own],
                                parcel_tag,
                                world.communicator(),
                                &sending.emplace_back(MPI_REQUEST_NULL)),
                      "MPI_Isend");
        });
    for (MPI_Request& request : receiving) world.finish("MPI_Irecv", request);
    for (MPI_Request& request : sending) world.finish("MPI_Isend", request);
    return arriving;
}

}  // namespace sotto
