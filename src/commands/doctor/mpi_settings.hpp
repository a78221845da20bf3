#pragma once

#include <string>

namespace sotto {

/// Is this text of an MPI library or launcher one of Open MPI?
[[nodiscard]] bool is_open_mpi(const std::string& text);
/// Is the MPI library that this program is linked with Open MPI?
[[nodiscard]] bool is_open_mpi();

/// Value of an environment variable; empty without one.
[[nodiscard]] std::string environment(const char* name);
/// What OMPI_MCA_mpi_yield_when_idle says, or sotto where it says nothing: do waiting ranks leave
/// their core to others?
[[nodiscard]] bool waiting_ranks_yield();

}  // namespace sotto
