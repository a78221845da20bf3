#include "net/agreement.hpp"

#include <fmt/format.h>

#include <sstream>

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

}  // namespace sotto
