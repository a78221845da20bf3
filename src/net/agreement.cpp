#include "sotto/net/agreement.hpp"

namespace sotto {

void require_same_everywhere(Network& network,
                             const std::string& own,
                             const DescribeDifference& describe) {
    const auto all = network.all_gather(own);
    network.agree([&] {
        for (std::size_t rank = 1; rank < all.size(); ++rank)
            if (all[rank] != all[0]) throw NetworkError(describe(rank, all[rank], all[0]));
    });
}

}  // namespace sotto
