#include "net/mpi_call.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "sotto/core/error.hpp"

namespace sotto {

std::string mpi_error_text(int code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS)
        return fmt::format("MPI error {}", code);
    return std::string(text.data(), static_cast<std::size_t>(length));
}

void check_mpi(int code, const char* call) {
    if (code != MPI_SUCCESS)
        throw NetworkError(fmt::format("{} failed: {}", call, mpi_error_text(code)));
}

void throw_too_many(std::uint64_t count) {
    throw NetworkError(fmt::format("{} values in one MPI call; at most {} are possible",
                                   count,
                                   std::numeric_limits<int>::max()));
}

}  // namespace sotto
