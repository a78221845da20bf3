#pragma once

// The C interface of MPI and the check of its return codes; not installed.

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <string>

namespace sotto {

/// Text of an MPI error code.
[[nodiscard]] std::string mpi_error_text(int code);

/// @throws NetworkError naming the call and the reason unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

}  // namespace sotto
