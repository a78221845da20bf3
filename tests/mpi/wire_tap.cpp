// MPI's profiling interface: the library calls these functions instead of its own.

#include "mpi/wire_tap.hpp"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

sotto::test::WireTap& sotto::test::wire_tap() {
    static WireTap tap;
    return tap;
}

extern "C" int MPI_Ineighbor_alltoall(const void* sendbuf,
                                      int sendcount,
                                      MPI_Datatype sendtype,
                                      void* recvbuf,
                                      int recvcount,
                                      MPI_Datatype recvtype,
                                      MPI_Comm comm,
                                      MPI_Request* request) {
    *request = MPI_REQUEST_NULL;  // complete when the call returns
    const sotto::test::WireTap& tap = sotto::test::wire_tap();
    int in = 0, out = 0, weighted = 0, size = 0;
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    PMPI_Type_size(sendtype, &size);
    const std::size_t piece = static_cast<std::size_t>(sendcount) * static_cast<std::size_t>(size);
    if (tap.on_sent)
        tap.on_sent(
            {static_cast<const std::uint8_t*>(sendbuf), piece * static_cast<std::size_t>(out)},
            piece);
    if (tap.fail) return MPI_ERR_OTHER;
    const int code =
        PMPI_Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    if (code == MPI_SUCCESS && tap.on_received)
        tap.on_received({static_cast<std::uint8_t*>(recvbuf), piece * static_cast<std::size_t>(in)},
                        piece);
    return code;
}

extern "C" int MPI_Igather(const void* sendbuf,
                           int sendcount,
                           MPI_Datatype sendtype,
                           void* recvbuf,
                           int recvcount,
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
    return PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
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
