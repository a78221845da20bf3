#include "net/mpi/long_strings.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {

void check_announced(std::uint64_t bytes, std::uint64_t most_bytes, int rank) {
    if (bytes > most_bytes)
        throw NetworkError(
            fmt::format("rank {} announces {} bytes where at most {} can be; do all ranks run the "
                        "same sotto, with the same options?",
                        rank,
                        bytes,
                        most_bytes));
}

}  // namespace sotto
