#pragma once

#include <memory>

#include "sotto/net/mpi_network.hpp"

namespace sotto::test {

/// The MPI session of this test program.
[[nodiscard]] const MpiSession& mpi_session();

/// A network of this program's ranks. COLLECTIVE.
[[nodiscard]] inline std::unique_ptr<Network> mpi_network() {
    return make_mpi_network(mpi_session());
}

}  // namespace sotto::test
