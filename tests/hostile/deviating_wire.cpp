// MPI's profiling interface: what a rank that deviates says beside the protocol's own code.

#include <unistd.h>

#include <cstring>
#include <utility>

#include "hostile/deviation.hpp"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace {

int own_rank(MPI_Comm comm) {
    int rank = -1;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

/// What is on its way must stay where it is.
std::vector<std::vector<std::uint8_t>>& kept() {
    static std::vector<std::vector<std::uint8_t>> buffers;
    return buffers;
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
    static int exchanges = 0;
    const auto* own = sotto::test::own_deviation();
    static std::vector<int> counts;  // of the call that is under way
    int in = 0, out = 0, weighted = 0;
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    if (own != nullptr && own->sealed && out > 0) {
        counts.assign(sendcounts, sendcounts + out);
        const auto* first = static_cast<const std::uint8_t*>(sendbuf);
        sotto::test::SentPieces sent{{first, first + sdispls[out - 1] + counts.back()},
                                     static_cast<std::size_t>(counts.front()),
                                     exchanges++,
                                     0};
        own->sealed(sent);
        sent.bytes.resize(sent.bytes.size() + 4096);
        kept().push_back(std::move(sent.bytes));
        sendbuf = kept().back().data();
        for (int& count : counts) count += static_cast<int>(sent.extra);
        sendcounts = counts.data();
    }
    return PMPI_Ineighbor_alltoallv(sendbuf,
                                    sendcounts,
                                    sdispls,
                                    sendtype,
                                    recvbuf,
                                    recvcounts,
                                    rdispls,
                                    recvtype,
                                    comm,
                                    request);
}

extern "C" int MPI_Iallgather(const void* sendbuf,
                              int sendcount,
                              MPI_Datatype sendtype,
                              void* recvbuf,
                              int recvcount,
                              MPI_Datatype recvtype,
                              MPI_Comm comm,
                              MPI_Request* request) {
    const auto* own = sotto::test::own_deviation();
    if (own != nullptr && own->announced_size && sendcount == 1 && sendtype == MPI_UINT64_T) {
        static std::uint64_t announced = 0;
        std::memcpy(&announced, sendbuf, sizeof announced);
        announced = own->announced_size(announced);
        sendbuf = &announced;
    }
    return PMPI_Iallgather(
        sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
}

extern "C" int MPI_Ibcast(
    void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
    const auto* own = sotto::test::own_deviation();
    static bool lied = false;
    // What it announced it does not have. (Were it to end in an orderly way while the others abort,
    // mpirun of Open MPI might crash or hang.)
    while (lied && type != MPI_UINT64_T) ::pause();
    if (own != nullptr && root == own_rank(comm) && count == 1) {
        static std::uint64_t announced = 0;
        static int code = 0;
        if (own->announced_size && type == MPI_UINT64_T) {
            std::memcpy(&announced, buffer, sizeof announced);
            const std::uint64_t size = std::exchange(announced, own->announced_size(announced));
            lied = lied || size != announced;
            buffer = &announced;
        }
        if (own->exit_code && type == MPI_INT) {
            std::memcpy(&code, buffer, sizeof code);
            code = own->exit_code(code);
            buffer = &code;
        }
    }
    return PMPI_Ibcast(buffer, count, type, root, comm, request);
}
