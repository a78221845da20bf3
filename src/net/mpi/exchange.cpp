#include "net/mpi/exchange.hpp"

#include <algorithm>
#include <numeric>

#include "net/exchange_checks.hpp"

namespace sotto {

namespace {

const double* vector_for(const Outgoing& message, std::size_t place) {
    return message.to_all != nullptr ? message.to_all : message.per_receiver[place];
}

bool allowed(const std::vector<std::uint8_t>& flags, std::size_t place) {
    return flags.empty() || flags[place] != 0;
}

}  // namespace

void MpiExchange::run(ExchangeId id,
                      std::span<const Outgoing> outgoing,
                      Eigen::Index dimension,
                      MessagePrecision precision,
                      const Delivery& deliver) {
    number_messages(outgoing);
    narrow_ = precision == MessagePrecision::float32;
    columns_.resize(links_.local_agents());
    for (std::size_t a = 0; a < columns_.size(); ++a) columns_[a].resize(links_.members(a));
    const Outgoing& any = outgoing.front();
    const bool spreads = links_.blocks().one_each() && any.to_all != nullptr && any.to.empty() &&
                         !pieces_.encrypted() && !narrow_;
    longest_ = piece_length(dimension, links_.most_links());
    pieces_.begin(id,
                  longest_,
                  sent_.of_neighbours(),
                  received_.of_neighbours(),
                  !spreads,
                  value_size(precision));

    for (Eigen::Index first = 0; first < dimension; first += longest_) {
        const Eigen::Index count = std::min(longest_, dimension - first);
        if (spreads)
            pieces_.spread(any.to_all + first, count);
        else
            swap(outgoing, first, first / longest_, count);
        fill_columns(outgoing, first, count);
        for (std::size_t a = 0; a < columns_.size(); ++a) deliver(a, first, count, columns_[a]);
    }
    pieces_.count_sent(dimension, longest_);
}

void MpiExchange::number_messages(std::span<const Outgoing> outgoing) {
    const Outgoing& any = outgoing.front();
    const bool shared = any.to_all != nullptr && any.to.empty();
    const bool restricted = !any.to.empty();
    // Numbers stay valid for exchanges along all edges.
    if (!restricted && numbered_ == shared) return;
    numbered_ = restricted ? std::nullopt : std::optional(shared);
    sent_.assign(links_.outgoing(), links_.destinations().size(), shared, [&](const LinkEnd& link) {
        return allowed(outgoing[link.local].to, link.place);
    });
    received_.assign(links_.incoming(), links_.sources().size(), shared, [&](const LinkEnd& link) {
        return allowed(outgoing[link.local].from, link.place);
    });
}

void MpiExchange::swap(std::span<const Outgoing> outgoing,
                       Eigen::Index first,
                       std::int64_t piece,
                       Eigen::Index count) {
    for (std::size_t e = 0; e < links_.outgoing().size(); ++e) {
        const std::size_t message = sent_.of_links()[e];
        if (message == MessageNumbers::none) continue;
        const LinkEnd& link = links_.outgoing()[e];
        const double* const values = vector_for(outgoing[link.local], link.place) + first;
        if (narrow_) {
            std::byte* const room = pieces_.room(message, count);
            narrow({values, static_cast<std::size_t>(count)}, reinterpret_cast<float*>(room));
            pieces_.put(message, room);
        } else {
            pieces_.put(message, values);
        }
    }
    pieces_.swap(piece, count);
}

const double* MpiExchange::received(std::size_t message, Eigen::Index count) {
    const std::byte* const bytes = pieces_.received(message, count);
    if (!narrow_) return reinterpret_cast<const double*>(bytes);
    return widened_.data() + message * static_cast<std::size_t>(longest_);
}

void MpiExchange::widen_received(Eigen::Index count) {
    const std::span<const std::size_t> messages = received_.of_neighbours();
    const auto all = std::reduce(messages.begin(), messages.end());
    const auto room = static_cast<std::size_t>(longest_);
    if (widened_.size() < all * room) widened_.resize(all * room);
    for (std::size_t m = 0; m < all; ++m)
        widen({reinterpret_cast<const float*>(pieces_.received(m, count)),
               static_cast<std::size_t>(count)},
              widened_.data() + m * room);
}

void MpiExchange::fill_columns(std::span<const Outgoing> outgoing,
                               Eigen::Index first,
                               Eigen::Index count) {
    if (narrow_) widen_received(count);
    for (std::size_t e = 0; e < links_.incoming().size(); ++e) {
        const std::size_t message = received_.of_links()[e];
        const LinkEnd& link = links_.incoming()[e];
        columns_[link.local][link.place] =
            message == MessageNumbers::none ? nullptr : received(message, count);
    }
    for (const InnerLink& link : links_.inner())
        columns_[link.local][link.place] =
            allowed(outgoing[link.local].from, link.place)
                ? vector_for(outgoing[link.sender], link.place_of_receiver) + first
                : nullptr;
}

}  // namespace sotto
