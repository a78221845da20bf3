#pragma once

#include "sotto/net/mpi_network.hpp"

namespace sotto::test {

/// The MPI session of this test program.
[[nodiscard]] const MpiSession& mpi_session();

}  // namespace sotto::test
