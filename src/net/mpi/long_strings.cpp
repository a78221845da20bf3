#include "long_strings.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {

void check_announced(std::uint64_t bytes, int rank) {
    constexpr std::uint64_t largest_announced_bytes = std::uint64_t{1} << 34;
    if (bytes > largest_announced_bytes)
        throw NetworkError(fmt::format("rank {} announces {} bytes; at most {} are accepted",
                                       rank,
                                       bytes,
                                       largest_announced_bytes));
}

}  // namespace sotto
