#include "net/mpi/edge_pieces.hpp"

#include <algorithm>
#include <cstring>

namespace sotto {

void EdgePieces::Room::number(std::span<const std::size_t> of_neighbours) {
    messages.assign(of_neighbours.begin(), of_neighbours.end());
    first_message.clear();
    neighbour.clear();
    for (std::size_t j = 0; j < messages.size(); ++j) {
        first_message.push_back(neighbour.size());
        neighbour.insert(neighbour.end(), messages[j], j);
    }
}

void EdgePieces::Room::make_room(Eigen::Index longest, bool encrypted) {
    // One spare value: some libraries reject a null pointer even for zero bytes.
    const std::size_t needed =
        size_of(1) + neighbour.size() * size_of(longest) + tags_before(messages.size(), encrypted);
    if (bytes.size() < needed) bytes.resize(needed);
}

std::span<std::uint8_t> EdgePieces::Room::plain(std::size_t j, Eigen::Index count, bool encrypted) {
    const std::size_t size = size_of(count);
    return {reinterpret_cast<std::uint8_t*>(bytes.data()) + first_message[j] * size +
                tags_before(j, encrypted),
            messages[j] * size};
}

void EdgePieces::Room::set_counts(Eigen::Index count, bool encrypted) {
    starts.assign(messages.size() + 1, 0);
    sizes.assign(messages.size() + 1, 0);
    for (std::size_t j = 0; j < messages.size(); ++j) {
        const std::span<std::uint8_t> own = plain(j, count, encrypted);
        starts[j] = mpi_count(
            static_cast<std::size_t>(own.data() - reinterpret_cast<std::uint8_t*>(bytes.data())));
        if (messages[j] > 0)
            sizes[j] = mpi_count(own.size() + (encrypted ? LinkCipher::tag_size : 0));
    }
}

void EdgePieces::protect(std::vector<LinkCipher> ciphers) {
    ciphers_ = std::move(ciphers);
    encrypted_ = true;
}

void EdgePieces::begin(ExchangeId id,
                       Eigen::Index longest,
                       std::span<const std::size_t> sent,
                       std::span<const std::size_t> received,
                       bool packed,
                       std::size_t value_size) {
    id_ = id;
    sent_.value_size = received_.value_size = value_size;
    sent_.number(sent);
    received_.number(received);
    received_.make_room(longest, encrypted_);
    if (packed) sent_.make_room(longest, encrypted_);
    values_.assign(sent_.neighbour.size(), nullptr);
}

void EdgePieces::spread(const double* values, Eigen::Index count) {
    const int n = mpi_count(count);
    world_.complete_exchange(id_, links_.neighbours(), [&](MPI_Request* request) {
        return MPI_Ineighbor_allgather(values,
                                       n,
                                       MPI_DOUBLE,
                                       received_.bytes.data(),
                                       n,
                                       MPI_DOUBLE,
                                       links_.communicator(),
                                       request);
    });
}

void EdgePieces::pack(std::size_t j, std::int64_t piece, Eigen::Index count) {
    const std::span<std::uint8_t> target = sent_.plain(j, count, encrypted_);
    const std::size_t size = sent_.size_of(count);
    const std::size_t first = sent_.first_message[j];
    const auto sealed = [&] {
        return std::span(target.data(), target.size() + LinkCipher::tag_size);
    };
    const ChunkAddress address{id_.round, id_.step, piece};
    if (encrypted_ && sent_.messages[j] == 1) {  // saves a copy
        const auto* const bytes = static_cast<const std::uint8_t*>(values_[first]);
        cipher_to(j).seal(address, {bytes, size}, sealed());
        return;
    }
    for (std::size_t m = 0; m < sent_.messages[j]; ++m)
        if (std::uint8_t* const own = target.data() + m * size; own != values_[first + m])
            std::memcpy(own, values_[first + m], size);
    if (encrypted_) cipher_to(j).seal(address, target, sealed());
}

void EdgePieces::open(std::size_t j, std::int64_t piece, Eigen::Index count) {
    const std::span<std::uint8_t> plain = received_.plain(j, count, encrypted_);
    cipher_from(j).open(
        {id_.round, id_.step, piece}, {plain.data(), plain.size() + LinkCipher::tag_size}, plain);
}

void EdgePieces::swap(std::int64_t piece, Eigen::Index count) {
    for (std::size_t j = 0; j < sent_.messages.size(); ++j)
        if (sent_.messages[j] > 0) pack(j, piece, count);
    sent_.set_counts(count, encrypted_);
    received_.set_counts(count, encrypted_);
    world_.complete_exchange(id_, links_.neighbours(), [&](MPI_Request* request) {
        return MPI_Ineighbor_alltoallv(sent_.bytes.data(),
                                       sent_.sizes.data(),
                                       sent_.starts.data(),
                                       MPI_BYTE,
                                       received_.bytes.data(),
                                       received_.sizes.data(),
                                       received_.starts.data(),
                                       MPI_BYTE,
                                       links_.communicator(),
                                       request);
    });
    if (!encrypted_) return;
    for (std::size_t j = 0; j < received_.messages.size(); ++j)
        if (received_.messages[j] > 0) open(j, piece, count);
}

void EdgePieces::count_sent(Eigen::Index dimension, Eigen::Index longest) {
    const auto chunks = static_cast<std::size_t>((dimension + longest - 1) / longest);
    const auto sealed = encrypted_
                            ? sent_.messages.size() - static_cast<std::size_t>(std::ranges::count(
                                                          sent_.messages, std::size_t{0}))
                            : 0;
    bytes_sent_ += static_cast<std::int64_t>(sent_.neighbour.size() * sent_.size_of(dimension) +
                                             sealed * chunks * LinkCipher::tag_size);
}

}  // namespace sotto
