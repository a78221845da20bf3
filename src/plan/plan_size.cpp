#include "sotto/plan/plan_size.hpp"

#include <algorithm>

namespace sotto {

std::int64_t most_group_members(int agents) { return 4 * std::int64_t{agents} * agents + 4096; }

std::uint64_t largest_plan_bytes(int agents, double coefficients, double temporal_values) {
    constexpr double number = 32;    // with what stands between two
    constexpr double element = 128;  // the words of a stream or a row
    constexpr double head = 4096;
    const double n = agents;
    const auto members = static_cast<double>(most_group_members(agents));
    const double streams = members + n * n;
    const double bytes = head + number * (members + temporal_values) +
                         element * (streams + n * n + n) + 2 * number * (streams + coefficients);
    return static_cast<std::uint64_t>(std::min(bytes, 0x1p62));
}

}  // namespace sotto
