#include "received_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sotto/core/error.hpp"
#include "sotto/core/value_range.hpp"

namespace sotto {

void require_message_in_range(const ReceivedFrom& from,
                              Eigen::Index first,
                              std::span<const double> values,
                              double limit) {
    const auto beyond = first_beyond(values, limit);
    if (!beyond) return;
    throw NetworkError(
        fmt::format("message from agent {} to agent {}, round {}, step {}: coordinate {} is {} "
                    "(allowed: -{:g} to {:g}); agent {} does not keep to the protocol",
                    from.sender,
                    from.receiver,
                    from.exchange.round,
                    from.exchange.step,
                    first + static_cast<Eigen::Index>(*beyond),
                    values[*beyond],
                    limit,
                    limit,
                    from.sender));
}

void require_sum_in_range(int receiver,
                          std::span<const int> neighbours,
                          ExchangeId exchange,
                          Eigen::Index first,
                          std::span<const std::uint64_t> sum) {
    // Every neighbour may round by half a word.
    const std::uint64_t largest = (std::uint64_t{1} << 62) + neighbours.size();
    for (std::size_t i = 0; i < sum.size(); ++i) {
        if (sum[i] + largest <= 2 * largest) continue;
        throw NetworkError(fmt::format(
            "secure sum of agent {}, round {}, step {}: coordinate {} is beyond what its "
            "neighbours may send; one of agents {} left out a share, or sent another",
            receiver,
            exchange.round,
            exchange.step,
            first + static_cast<Eigen::Index>(i),
            fmt::join(neighbours, ", ")));
    }
}

CollectedCheck require_collected_in_range(std::string what, double limit) {
    return [what = std::move(what), limit](
               int agent, Eigen::Index first, std::span<const double> values) {
        const auto beyond = first_beyond(values, limit);
        if (!beyond) return;
        throw NetworkError(
            fmt::format("{} from agent {}: coordinate {} is {} (allowed: -{:g} to {:g}); agent {} "
                        "does not keep to the protocol",
                        what,
                        agent,
                        first + static_cast<Eigen::Index>(*beyond),
                        values[*beyond],
                        limit,
                        limit,
                        agent));
    };
}

}  // namespace sotto
