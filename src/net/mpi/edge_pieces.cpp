#include "net/mpi/edge_pieces.hpp"

#include <fmt/format.h>

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
                       MessagePrecision precision) {
    id_ = id;
    sent_.precision = received_.precision = precision;
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
    const ChunkAddress address = address_of(piece);
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

void EdgePieces::open(std::size_t j, const ChunkAddress& address, Eigen::Index count) {
    const std::span<std::uint8_t> plain = received_.plain(j, count, encrypted_);
    cipher_from(j).open(address, {plain.data(), plain.size() + LinkCipher::tag_size}, plain);
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
        if (received_.messages[j] > 0) open(j, address_of(piece), count);
}

std::span<const std::uint8_t> EdgePieces::swap_until(Clock::time_point deadline,
                                                     Eigen::Index count) {
    sent_.set_counts(count, encrypted_);
    received_.set_counts(count, encrypted_);
    const auto largest = static_cast<std::size_t>(std::ranges::max(received_.sizes));
    for (std::size_t j = 0; j < sent_.messages.size(); ++j) {
        if (sent_.messages[j] == 0) continue;
        const std::size_t to = links_.destinations()[j];
        // The nonce authenticates what the header says.
        pack(j, mail_.used_of(to, id_.round), count);
        mail_.send(id_, to, sent_.part(j));
        bytes_sent_ += sent_.sizes[j];
    }
    const auto active = [](const Room& room, std::span<const std::size_t> neighbours) {
        std::vector<std::size_t> those;
        for (std::size_t j = 0; j < neighbours.size(); ++j)
            if (room.messages[j] > 0) those.push_back(neighbours[j]);
        return those;
    };
    mail_.wait(id_,
               active(received_, links_.sources()),
               active(sent_, links_.destinations()),
               deadline,
               largest);
    came_.assign(received_.messages.size(), 0);
    for (std::size_t j = 0; j < came_.size(); ++j) {
        const auto bytes = mail_.of(id_, links_.sources()[j]);
        if (!bytes || received_.messages[j] == 0) continue;
        const std::size_t from = links_.sources()[j];
        take(j, {id_.round, mail_.used_by(from)}, *bytes, count);
        mail_.use(from, id_.round);
        came_[j] = 1;
    }
    return came_;
}

void EdgePieces::take(std::size_t j,
                      const Late& header,
                      std::span<const std::byte> bytes,
                      Eigen::Index count) {
    const std::span<std::byte> own = received_.part(j);
    if (bytes.size() != own.size())
        throw NetworkError(fmt::format(
            "{} sent {} bytes in round {}, step {} (allowed: {}); it does not keep to the "
            "protocol",
            world_.name_of(links_.neighbours()[links_.sources()[j]]),
            bytes.size(),
            header.round,
            id_.step,
            own.size()));
    std::ranges::copy(bytes, own.begin());
    if (encrypted_) open(j, {header.round, id_.step, header.used}, count);
}

std::optional<EdgePieces::Late> EdgePieces::take_late(std::size_t j, Eigen::Index count) {
    const std::size_t from = links_.sources()[j];
    if (received_.messages[j] == 0) return std::nullopt;
    const auto letter = mail_.take_late(from);
    if (!letter) return std::nullopt;
    const Late header{static_cast<long>(letter->id.round), letter->used};
    take(j, header, letter->content(), count);
    return header;
}

namespace {

constexpr int rest_tag = 1;  // of the exchange's communicator

std::size_t number_bytes(const std::vector<std::int32_t>& numbers) {
    return numbers.size() * sizeof(std::int32_t);
}

}  // namespace

std::vector<std::vector<std::uint8_t>> EdgePieces::sealed_rests(
    std::int64_t piece, std::span<const std::vector<std::int32_t>* const> sent) {
    std::vector<std::vector<std::uint8_t>> rests(sent_.messages.size());
    for (std::size_t m = 0; m < sent.size(); ++m) {
        std::vector<std::uint8_t>& rest = rests[sent_.neighbour[m]];
        const auto* const first = reinterpret_cast<const std::uint8_t*>(sent[m]->data());
        rest.insert(rest.end(), first, first + number_bytes(*sent[m]));
    }
    for (std::size_t j = 0; j < rests.size(); ++j) {
        std::vector<std::uint8_t>& rest = rests[j];
        if (rest.empty() || !encrypted_) continue;
        const std::size_t size = rest.size();
        rest.resize(size + LinkCipher::tag_size);
        cipher_to(j).seal(address_of(piece, 1), {rest.data(), size}, rest);
    }
    return rests;
}

void EdgePieces::swap_rest(std::int64_t piece,
                           std::span<const std::vector<std::int32_t>* const> sent,
                           std::span<std::vector<std::int32_t>> received) {
    rest_sent_ = sealed_rests(piece, sent);
    std::vector<std::size_t> sizes(received_.messages.size(), 0);
    for (std::size_t m = 0; m < received.size(); ++m)
        sizes[received_.neighbour[m]] += number_bytes(received[m]);
    rest_received_.resize(sizes.size());
    std::vector<MPI_Request> requests;
    const auto begin = [&](const char* call, auto&& with) {
        check_mpi(with(&requests.emplace_back(MPI_REQUEST_NULL)), call);
    };
    for (std::size_t j = 0; j < sizes.size(); ++j) {
        rest_received_[j].resize(sizes[j] > 0 ? sizes[j] + (encrypted_ ? LinkCipher::tag_size : 0)
                                              : 0);
        if (sizes[j] > 0)
            begin("MPI_Irecv", [&](MPI_Request* request) {
                return MPI_Irecv(rest_received_[j].data(),
                                 mpi_count(rest_received_[j].size()),
                                 MPI_BYTE,
                                 links_.neighbours()[links_.sources()[j]],
                                 rest_tag,
                                 links_.communicator(),
                                 request);
            });
    }
    for (std::size_t j = 0; j < rest_sent_.size(); ++j) {
        if (rest_sent_[j].empty()) continue;
        bytes_sent_ += static_cast<std::int64_t>(rest_sent_[j].size());
        begin("MPI_Isend", [&](MPI_Request* request) {
            return MPI_Isend(rest_sent_[j].data(),
                             mpi_count(rest_sent_[j].size()),
                             MPI_BYTE,
                             links_.neighbours()[links_.destinations()[j]],
                             rest_tag,
                             links_.communicator(),
                             request);
        });
    }
    for (MPI_Request& request : requests)
        world_.complete_exchange(id_, links_.neighbours(), [&](MPI_Request* own) {
            *own = request;
            return MPI_SUCCESS;
        });
    open_rests(piece, received);
}

void EdgePieces::open_rests(std::int64_t piece, std::span<std::vector<std::int32_t>> received) {
    std::vector<const std::uint8_t*> next(rest_received_.size());
    for (std::size_t j = 0; j < rest_received_.size(); ++j) {
        std::vector<std::uint8_t>& rest = rest_received_[j];
        if (encrypted_ && !rest.empty())
            cipher_from(j).open(address_of(piece, 1),
                                rest,
                                std::span(rest).first(rest.size() - LinkCipher::tag_size));
        next[j] = rest.data();
    }
    for (std::size_t m = 0; m < received.size(); ++m) {
        const std::size_t bytes = number_bytes(received[m]);
        if (bytes == 0) continue;
        const std::uint8_t*& from = next[received_.neighbour[m]];
        std::memcpy(received[m].data(), from, bytes);
        from += bytes;
    }
}

void EdgePieces::count_sent(Eigen::Index dimension, Eigen::Index longest) {
    const auto chunks = static_cast<std::size_t>((dimension + longest - 1) / longest);
    const auto sealed = encrypted_
                            ? sent_.messages.size() - static_cast<std::size_t>(std::ranges::count(
                                                          sent_.messages, std::size_t{0}))
                            : 0;
    bytes_sent_ += static_cast<std::int64_t>(sent_.neighbour.size() *
                                                 message_bytes(sent_.precision,
                                                               static_cast<std::size_t>(dimension),
                                                               static_cast<std::size_t>(longest)) +
                                             sealed * chunks * LinkCipher::tag_size);
}

}  // namespace sotto
