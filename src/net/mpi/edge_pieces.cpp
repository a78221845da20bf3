#include "edge_pieces.hpp"

#include <algorithm>
#include <cstring>

#include "net/chunk_length.hpp"

namespace sotto {

Eigen::Index piece_length(Eigen::Index dimension) {
    constexpr Eigen::Index largest_whole_message = 131072;
    constexpr Eigen::Index largest_piece = 65536;
    return chunk_length(dimension, largest_whole_message, largest_piece);
}

void EdgePieces::protect(std::vector<LinkCipher> ciphers) {
    ciphers_ = std::move(ciphers);
    encrypted_ = true;
}

void EdgePieces::begin(ExchangeId id,
                       Eigen::Index longest,
                       std::span<const std::uint8_t> to,
                       std::span<const std::uint8_t> from,
                       bool packed) {
    id_ = id;
    const std::size_t spare = std::max(links_.degree(), std::size_t{1});
    const std::size_t needed = spare * wire_size_of(longest);
    if (received_.size() < needed) received_.resize(needed);
    if (packed && packed_.size() < needed) packed_.resize(needed);
    const auto without_own = [&](std::span<const std::uint8_t> flags,
                                 std::vector<std::uint8_t>& active) {
        active.assign(flags.begin(), flags.end());
        if (!active.empty())
            active.erase(active.begin() + static_cast<std::ptrdiff_t>(links_.own_place()));
    };
    without_own(to, to_);
    without_own(from, from_);
    restricted_ = !to.empty();
}

void EdgePieces::spread(const double* values, Eigen::Index count) {
    const int n = mpi_count(count);
    world_.complete_exchange(id_, links_.neighbours(), [&](MPI_Request* request) {
        return MPI_Ineighbor_allgather(
            values, n, MPI_DOUBLE, received_.data(), n, MPI_DOUBLE, links_.communicator(), request);
    });
}

void EdgePieces::pack(std::size_t j, std::int64_t piece, const void* values, Eigen::Index count) {
    const std::span<const std::uint8_t> plain(static_cast<const std::uint8_t*>(values),
                                              wire_size(count, false));
    auto* const target = reinterpret_cast<std::uint8_t*>(room(j, count));
    if (encrypted_)
        ciphers_[j].seal({id_.round, id_.step, piece}, plain, {target, wire_size_of(count)});
    else if (plain.data() != target)
        std::memcpy(target, plain.data(), plain.size());
}

void EdgePieces::swap(std::int64_t piece, Eigen::Index count) {
    const int bytes = mpi_count(wire_size_of(count));
    if (restricted_)
        swap_restricted(bytes);
    else
        world_.complete_exchange(id_, links_.neighbours(), [&](MPI_Request* request) {
            return MPI_Ineighbor_alltoall(packed_.data(),
                                          bytes,
                                          MPI_BYTE,
                                          received_.data(),
                                          bytes,
                                          MPI_BYTE,
                                          links_.communicator(),
                                          request);
        });
    if (!encrypted_) return;
    for (std::size_t j = 0; j < links_.degree(); ++j) {
        if (!receives(j)) continue;
        const std::size_t size = wire_size_of(count);
        const std::span<std::uint8_t> sealed(
            reinterpret_cast<std::uint8_t*>(received_.data() + j * size), size);
        ciphers_[j].open(
            {id_.round, id_.step, piece}, sealed, sealed.first(wire_size(count, false)));
    }
}

void EdgePieces::swap_restricted(int bytes) {
    for (auto* list : {&starts_, &send_counts_, &receive_counts_})
        list->resize(links_.degree() + 1);
    for (std::size_t j = 0; j < links_.degree(); ++j) {
        starts_[j] = mpi_count(j * static_cast<std::size_t>(bytes));
        send_counts_[j] = sends(j) ? bytes : 0;
        receive_counts_[j] = receives(j) ? bytes : 0;
    }
    world_.complete_exchange(id_, links_.neighbours(), [&](MPI_Request* request) {
        return MPI_Ineighbor_alltoallv(packed_.data(),
                                       send_counts_.data(),
                                       starts_.data(),
                                       MPI_BYTE,
                                       received_.data(),
                                       receive_counts_.data(),
                                       starts_.data(),
                                       MPI_BYTE,
                                       links_.communicator(),
                                       request);
    });
}

void EdgePieces::count_sent(Eigen::Index dimension, Eigen::Index longest) {
    const auto chunks = static_cast<std::size_t>((dimension + longest - 1) / longest);
    const std::size_t tags = encrypted_ ? chunks * LinkCipher::tag_size : 0;
    std::size_t messages = 0;
    for (std::size_t j = 0; j < links_.degree(); ++j) messages += sends(j) ? 1 : 0;
    bytes_sent_ += static_cast<std::int64_t>(messages * (wire_size(dimension, false) + tags));
}

}  // namespace sotto
