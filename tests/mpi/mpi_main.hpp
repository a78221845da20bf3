#pragma once

#include <memory>
#include <vector>

#include "net/mpi_network.hpp"

namespace sotto::test {

/// The MPI session of this test program.
[[nodiscard]] const MpiSession& mpi_session();

/// A network of this program's ranks. COLLECTIVE.
[[nodiscard]] inline std::unique_ptr<Network> mpi_network() {
    return make_mpi_network(mpi_session());
}
/// The same with several agents on its ranks. COLLECTIVE.
[[nodiscard]] inline std::unique_ptr<Network> mpi_network(int agents) {
    return make_mpi_network(mpi_session(), agents);
}

/// Numbers of agents for these ranks: one each, two or three each, and many.
[[nodiscard]] inline std::vector<int> agents_on_ranks() {
    const int ranks = mpi_session().ranks();
    return {ranks, 3 * ranks - 1, 7 * ranks};
}

}  // namespace sotto::test
