#include "net/mpi/all_gather.hpp"

#include <numeric>

#include "net/mpi/broadcast.hpp"
#include "net/mpi/long_strings.hpp"

namespace sotto {

std::vector<std::uint64_t> announced_sizes(MpiWorld& world, std::uint64_t own) {
    std::vector<std::uint64_t> sizes(static_cast<std::size_t>(world.ranks()));
    world.complete("MPI_Iallgather", [&](MPI_Request* request) {
        return MPI_Iallgather(
            &own, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, world.communicator(), request);
    });
    return sizes;
}

namespace {

/// For strings that do not fit one call.
std::vector<std::string> gather_one_by_one(MpiWorld& world,
                                           const std::string& bytes,
                                           const std::vector<std::uint64_t>& sizes) {
    std::vector<std::string> result(sizes.size());
    for (std::size_t p = 0; p < result.size(); ++p) {
        if (static_cast<int>(p) == world.rank()) result[p] = bytes;
        result[p].resize(sizes[p]);
        broadcast_known(world, static_cast<int>(p), result[p]);
    }
    return result;
}

}  // namespace

std::vector<std::string> all_gather_strings(MpiWorld& world,
                                            const std::string& bytes,
                                            const std::vector<std::uint64_t>& sizes) {
    const std::uint64_t total = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    if (total > largest_transfer_bytes) return gather_one_by_one(world, bytes, sizes);
    std::vector<int> counts(sizes.size());
    std::vector<int> starts(sizes.size());
    for (std::size_t p = 0; p < sizes.size(); ++p) {
        counts[p] = mpi_count(sizes[p]);
        if (p > 0) starts[p] = starts[p - 1] + counts[p - 1];
    }
    std::string all(total, '\0');
    world.complete("MPI_Iallgatherv", [&](MPI_Request* request) {
        return MPI_Iallgatherv(bytes.data(),
                               mpi_count(bytes.size()),
                               MPI_BYTE,
                               all.data(),
                               counts.data(),
                               starts.data(),
                               MPI_BYTE,
                               world.communicator(),
                               request);
    });
    std::vector<std::string> result(sizes.size());
    for (std::size_t p = 0; p < sizes.size(); ++p)
        result[p] = all.substr(static_cast<std::size_t>(starts[p]), sizes[p]);
    return result;
}

}  // namespace sotto
