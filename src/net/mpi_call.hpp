#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

namespace sotto {

[[nodiscard]] std::string mpi_error_text(int code);

/// @throws NetworkError naming the call and the reason unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

/// @throws NetworkError: one MPI call cannot carry `count` values.
[[noreturn]] void throw_too_many(std::uint64_t count);

/// @throws NetworkError unless it fits an int.
template <std::integral Count>
[[nodiscard]] int mpi_count(Count count) {
    if (!std::in_range<int>(count)) throw_too_many(static_cast<std::uint64_t>(count));
    return static_cast<int>(count);
}

}  // namespace sotto
