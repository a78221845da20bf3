#include "net/mpi/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "net/exchange_checks.hpp"
#include "net/nibbles.hpp"

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
                      const Delivery& deliver,
                      std::optional<Clock::time_point> deadline) {
    number_messages(outgoing);
    id_ = id;
    precision_ = precision;
    columns_.resize(links_.local_agents());
    for (std::size_t a = 0; a < columns_.size(); ++a) columns_[a].resize(links_.members(a));
    const Outgoing& any = outgoing.front();
    came_ = {};
    const bool spreads = !deadline && links_.blocks().one_each() && any.to_all != nullptr &&
                         any.to.empty() && !pieces_.encrypted() &&
                         precision == MessagePrecision::float64;
    longest_ = deadline ? dimension : piece_length(dimension, links_.most_links());
    pieces_.begin(
        id, longest_, sent_.of_neighbours(), received_.of_neighbours(), !spreads, precision);

    for (Eigen::Index first = 0; first < dimension; first += longest_) {
        const Eigen::Index count = std::min(longest_, dimension - first);
        if (deadline)
            swap_until(*deadline, outgoing, count);
        else if (spreads)
            pieces_.spread(any.to_all + first, count);
        else
            swap(outgoing, first, first / longest_, count);
        fill_columns(outgoing, first, count);
        for (std::size_t a = 0; a < columns_.size(); ++a) deliver(a, first, count, columns_[a]);
    }
    if (!deadline) pieces_.count_sent(dimension, longest_);
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

void MpiExchange::pack_codes(std::span<const Outgoing> outgoing,
                             Eigen::Index first,
                             Eigen::Index count) {
    packed_.resize(outgoing.size());
    const auto values = static_cast<std::size_t>(count);
    for (std::size_t a = 0; a < outgoing.size(); ++a) {
        if (outgoing[a].to_all == nullptr)
            throw Error(ExitCode::other, "nibbles of messages that depend on the receiver");
        packed_[a].block.resize(nibble_block_bytes(values));
        pack_nibbles({outgoing[a].to_all + first, values}, packed_[a].block, packed_[a].rest);
    }
}

void MpiExchange::put(std::span<const Outgoing> outgoing, Eigen::Index first, Eigen::Index count) {
    const bool codes = precision_ == MessagePrecision::nibble;
    if (codes) pack_codes(outgoing, first, count);
    rests_.clear();
    for (std::size_t e = 0; e < links_.outgoing().size(); ++e) {
        const std::size_t message = sent_.of_links()[e];
        if (message == MessageNumbers::none) continue;
        const LinkEnd& link = links_.outgoing()[e];
        const double* const values = vector_for(outgoing[link.local], link.place) + first;
        if (codes) {
            pieces_.put(message, packed_[link.local].block.data());
            if (message == rests_.size()) rests_.push_back(&packed_[link.local].rest);
        } else if (precision_ == MessagePrecision::float32) {
            std::byte* const room = pieces_.room(message, count);
            narrow({values, static_cast<std::size_t>(count)}, reinterpret_cast<float*>(room));
            pieces_.put(message, room);
        } else {
            pieces_.put(message, values);
        }
    }
}

void MpiExchange::swap(std::span<const Outgoing> outgoing,
                       Eigen::Index first,
                       std::int64_t piece,
                       Eigen::Index count) {
    put(outgoing, first, count);
    pieces_.swap(piece, count);
    if (precision_ == MessagePrecision::nibble) swap_rest(piece, count);
}

void MpiExchange::swap_until(Clock::time_point deadline,
                             std::span<const Outgoing> outgoing,
                             Eigen::Index count) {
    if (precision_ == MessagePrecision::nibble)
        throw Error(ExitCode::other, "differences, of which none may be missing, with a deadline");
    put(outgoing, 0, count);
    came_ = pieces_.swap_until(deadline, count);
}

template <class Read>
auto MpiExchange::from_sender(std::size_t message, Read&& read) const try {
    return read();
} catch (const DataError& error) {
    const std::span<const std::size_t> messages = received_.of_links();
    const auto found = std::ranges::find(messages, message);
    const LinkEnd& link = links_.incoming()[static_cast<std::size_t>(found - messages.begin())];
    throw NetworkError(fmt::format(
        "message from agent {} to agent {}, round {}, step {}: {}; agent {} does not keep to the "
        "protocol",
        link.other,
        links_.blocks().first(links_.rank()) + static_cast<int>(link.local),
        id_.round,
        id_.step,
        error.what(),
        link.other));
}

void MpiExchange::swap_rest(std::int64_t piece, Eigen::Index count) {
    const std::span<const std::size_t> messages = received_.of_neighbours();
    received_rests_.resize(std::reduce(messages.begin(), messages.end()));
    const auto values = static_cast<std::size_t>(count);
    for (std::size_t m = 0; m < received_rests_.size(); ++m)
        received_rests_[m].resize(from_sender(m, [&] {
            return nibbles_after({pieces_.received(m, count), nibble_block_bytes(values)}, values);
        }));
    pieces_.swap_rest(piece, rests_, received_rests_);
}

void MpiExchange::unpack(std::size_t message, Eigen::Index count, std::span<double> values) {
    const std::byte* const bytes = pieces_.received(message, count);
    if (precision_ == MessagePrecision::nibble)
        from_sender(message, [&] {
            unpack_nibbles(
                {bytes, nibble_block_bytes(values.size())}, received_rests_[message], values);
        });
    else
        widen({reinterpret_cast<const float*>(bytes), values.size()}, values.data());
}

const double* MpiExchange::received(std::size_t message, Eigen::Index count) {
    if (precision_ == MessagePrecision::float64)
        return reinterpret_cast<const double*>(pieces_.received(message, count));
    return widened_.data() + message * static_cast<std::size_t>(longest_);
}

std::optional<std::uint32_t> MpiExchange::used_by(std::size_t local, std::size_t place) const {
    for (const LinkEnd& link : links_.incoming())
        if (link.local == local && link.place == place && !came_.empty() &&
            came_[link.neighbour] != 0)
            return pieces_.mail().used_by(links_.sources()[link.neighbour]);
    return std::nullopt;
}

void MpiExchange::deliver_late(const LateDelivery& deliver) {
    const Eigen::Index count = longest_;  // of whole messages
    for (std::size_t j = 0; j < links_.sources().size(); ++j)
        while (const auto late = pieces_.take_late(j, count)) {
            bool used = false;
            for (std::size_t e = 0; e < links_.incoming().size(); ++e) {
                const LinkEnd& link = links_.incoming()[e];
                const std::size_t message = received_.of_links()[e];
                if (link.neighbour != j || message == MessageNumbers::none) continue;
                if (precision_ != MessagePrecision::float64) widen_one(message, count);
                const std::span<const double> values(received(message, count),
                                                     static_cast<std::size_t>(count));
                used |= deliver({link.local, link.place, late->round, late->used, values});
            }
            if (used) pieces_.mail().use_late(links_.sources()[j], late->round);
        }
}

void MpiExchange::widen_one(std::size_t message, Eigen::Index count) {
    unpack(message,
           count,
           {widened_.data() + message * static_cast<std::size_t>(longest_),
            static_cast<std::size_t>(count)});
}

void MpiExchange::widen_received(Eigen::Index count) {
    const std::span<const std::size_t> messages = received_.of_neighbours();
    const auto all = std::reduce(messages.begin(), messages.end());
    const auto room = static_cast<std::size_t>(longest_);
    if (widened_.size() < all * room) widened_.resize(all * room);
    for (std::size_t m = 0; m < all; ++m) widen_one(m, count);
}

void MpiExchange::fill_columns(std::span<const Outgoing> outgoing,
                               Eigen::Index first,
                               Eigen::Index count) {
    if (precision_ != MessagePrecision::float64) widen_received(count);
    for (std::size_t e = 0; e < links_.incoming().size(); ++e) {
        const std::size_t message = received_.of_links()[e];
        const LinkEnd& link = links_.incoming()[e];
        const bool came = came_.empty() || came_[link.neighbour] != 0;
        columns_[link.local][link.place] =
            message == MessageNumbers::none || !came ? nullptr : received(message, count);
    }
    for (const InnerLink& link : links_.inner())
        columns_[link.local][link.place] =
            allowed(outgoing[link.local].from, link.place)
                ? vector_for(outgoing[link.sender], link.place_of_receiver) + first
                : nullptr;
}

}  // namespace sotto
