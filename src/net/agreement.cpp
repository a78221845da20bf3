#include "net/agreement.hpp"

#include <fmt/format.h>

#include <sstream>

#include "sotto/core/error.hpp"

namespace sotto {

void require_same_everywhere(Control& network,
                             const std::string& own,
                             const DescribeDifference& describe) {
    // Longer strings than twice one's own need not be received to be called different.
    const auto all = network.all_gather(own, 2 * own.size() + most_line_bytes);
    network.agree([&] {
        for (std::size_t rank = 1; rank < all.size(); ++rank)
            if (all[rank] != all[0]) throw NetworkError(describe(rank, all[rank], all[0]));
    });
}

void require_same_options(Control& network, const std::string& options) {
    require_same_everywhere(
        network,
        options,
        [](std::size_t rank, const std::string& theirs, const std::string& process_0) {
            // The first line that differs.
            std::istringstream left(theirs), right(process_0);
            std::string own, other;
            while (std::getline(left, own) && std::getline(right, other) && own == other) {
            }
            return fmt::format(
                "rank {} was started with {}, rank 0 with {}; start all ranks with the same "
                "options",
                rank,
                own,
                other);
        });
}

void hear_process_0(Control& network,
                    const std::string& own,
                    std::uint64_t most_bytes,
                    const std::function<void(const std::string& said)>& read) {
    const std::string said =
        network.broadcast(network.process() == 0 ? own : std::string(), most_bytes);
    require_same_everywhere(
        network,
        said,
        [](std::size_t rank, const std::string& theirs, const std::string& process_0) {
            return fmt::format(
                "rank 0 said '{}' to rank {}, and '{}' to others", theirs, rank, process_0);
        });
    network.agree([&] {
        try {
            read(said);
        } catch (const ConfigError& error) {
            throw NetworkError(fmt::format("rank 0 said '{}': {}", said, error.what()));
        }
    });
}

}  // namespace sotto
