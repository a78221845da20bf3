// MPI's profiling interface: the library calls these functions instead of its own.

#include "mpi/wire_tap.hpp"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

sotto::test::WireTap& sotto::test::wire_tap() {
    static WireTap tap;
    return tap;
}

namespace {

/// What lies between these places, one piece a neighbour, all of the size of the first.
template <class Byte, class Buffer>
std::span<Byte> pieces_of(Buffer* buffer, const int counts[], const int starts[], int neighbours) {
    if (neighbours == 0) return {};
    const int end = starts[neighbours - 1] + counts[neighbours - 1];
    return {static_cast<Byte*>(buffer) + starts[0], static_cast<std::size_t>(end - starts[0])};
}

std::size_t first_of(const int counts[], int neighbours) {
    return neighbours == 0 ? 0 : static_cast<std::size_t>(counts[0]);
}

}  // namespace

extern "C" int MPI_Ineighbor_alltoallv(const void* sendbuf,
                                       const int sendcounts[],
                                       const int sdispls[],
                                       MPI_Datatype sendtype,
                                       void* recvbuf,
                                       const int recvcounts[],
                                       const int rdispls[],
                                       MPI_Datatype recvtype,
                                       MPI_Comm comm,
                                       MPI_Request* request) {
    *request = MPI_REQUEST_NULL;  // complete when the call returns
    const sotto::test::WireTap& tap = sotto::test::wire_tap();
    int in = 0, out = 0, weighted = 0;
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    if (tap.on_sent)
        tap.on_sent(pieces_of<const std::uint8_t>(sendbuf, sendcounts, sdispls, out),
                    first_of(sendcounts, out));
    if (tap.fail) return MPI_ERR_OTHER;
    const int code = PMPI_Neighbor_alltoallv(
        sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
    if (code == MPI_SUCCESS && tap.on_received)
        tap.on_received(pieces_of<std::uint8_t>(recvbuf, recvcounts, rdispls, in),
                        first_of(recvcounts, in));
    return code;
}

extern "C" int MPI_Igatherv(const void* sendbuf,
                            int sendcount,
                            MPI_Datatype sendtype,
                            void* recvbuf,
                            const int recvcounts[],
                            const int displs[],
                            MPI_Datatype recvtype,
                            int root,
                            MPI_Comm comm,
                            MPI_Request* request) {
    *request = MPI_REQUEST_NULL;
    int size = 0;
    PMPI_Type_size(sendtype, &size);
    if (const auto& seen = sotto::test::wire_tap().on_gathered)
        seen({static_cast<const std::uint8_t*>(sendbuf),
              static_cast<std::size_t>(sendcount) * static_cast<std::size_t>(size)});
    return PMPI_Gatherv(
        sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
}

extern "C" int MPI_Iscatter(const void* sendbuf,
                            int sendcount,
                            MPI_Datatype sendtype,
                            void* recvbuf,
                            int recvcount,
                            MPI_Datatype recvtype,
                            int root,
                            MPI_Comm comm,
                            MPI_Request* request) {
    *request = MPI_REQUEST_NULL;
    const int code =
        PMPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    int size = 0;
    PMPI_Type_size(recvtype, &size);
    const auto& seen = sotto::test::wire_tap().on_scattered;
    if (code == MPI_SUCCESS && seen)
        seen({static_cast<std::uint8_t*>(recvbuf),
              static_cast<std::size_t>(recvcount) * static_cast<std::size_t>(size)});
    return code;
}
