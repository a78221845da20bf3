#include "exchange.hpp"

#include <algorithm>

namespace sotto {

void MpiExchange::run(ExchangeId id,
                      const Outgoing& message,
                      Eigen::Index dimension,
                      const Delivery& deliver) {
    columns_.resize(links_.degree() + 1);
    const std::size_t own = links_.own_place();
    const bool to_all = message.to_all != nullptr;
    const double* own_copy = to_all ? message.to_all : message.per_receiver[own];
    const bool same_for_all = to_all && !pieces_.encrypted() && message.to.empty();
    const Eigen::Index longest = piece_length(dimension);
    pieces_.begin(id, longest, message.to, message.from, !same_for_all);

    for (Eigen::Index first = 0; first < dimension; first += longest) {
        const Eigen::Index count = std::min(longest, dimension - first);
        if (same_for_all)
            pieces_.spread(message.to_all + first, count);
        else
            swap(message, first, first / longest, count);
        for (std::size_t j = 0; j < links_.degree(); ++j)
            columns_[links_.place_of(j)] =
                pieces_.receives(j) ? reinterpret_cast<const double*>(pieces_.received(j, count))
                                    : nullptr;
        columns_[own] = own_copy + first;
        deliver(0, first, count, columns_);
    }
    pieces_.count_sent(dimension, longest);
}

void MpiExchange::swap(const Outgoing& message,
                       Eigen::Index first,
                       std::int64_t piece,
                       Eigen::Index count) {
    for (std::size_t j = 0; j < links_.degree(); ++j) {
        if (!pieces_.sends(j)) continue;
        const double* vector =
            message.to_all != nullptr ? message.to_all : message.per_receiver[links_.place_of(j)];
        pieces_.pack(j, piece, vector + first, count);
    }
    pieces_.swap(piece, count);
}

}  // namespace sotto
