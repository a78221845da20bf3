#include "exchange_sum.hpp"

#include <algorithm>
#include <span>

#include "net/folding.hpp"

namespace sotto {

void MpiExchangeSum::run(ExchangeId id,
                         Eigen::Index dimension,
                         const ShareSource& share,
                         const SumDelivery& deliver) {
    const Eigen::Index longest = piece_length(dimension);
    pieces_.begin(id, longest, {}, {}, true);
    if (sum_.size() < static_cast<std::size_t>(longest))
        sum_.resize(static_cast<std::size_t>(longest));
    for (Eigen::Index first = 0; first < dimension; first += longest) {
        const Eigen::Index count = std::min(longest, dimension - first);
        const auto size = static_cast<std::size_t>(count);
        for (std::size_t j = 0; j < links_.degree(); ++j) {
            auto* const words = reinterpret_cast<std::uint64_t*>(pieces_.room(j, count));
            share(0, j, first, {words, size});
            pieces_.pack(j, first / longest, words, count);
        }
        pieces_.swap(first / longest, count);
        const std::span<std::uint64_t> sum = std::span(sum_).first(size);
        std::ranges::fill(sum, 0);
        for (std::size_t j = 0; j < links_.degree(); ++j)
            add_words({reinterpret_cast<const std::uint64_t*>(pieces_.received(j, count)), size},
                      sum);
        deliver(0, first, sum);
    }
    pieces_.count_sent(dimension, longest);
}

}  // namespace sotto
