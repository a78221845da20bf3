#include "fold.hpp"

#include <algorithm>

#include "net/folding.hpp"
#include "protection.hpp"

namespace sotto {

namespace {

// Values that process 0 holds at once (16 MiB).
constexpr Eigen::Index gathered_values = Eigen::Index{1} << 21;

std::span<std::uint8_t> bytes_of(Eigen::Ref<Eigen::VectorXd> values) {
    return {reinterpret_cast<std::uint8_t*>(values.data()), wire_size(values.size(), false)};
}

/// The piece of one rank, of `size` bytes each.
std::span<std::uint8_t> piece_of(std::span<std::byte> room, int rank, std::size_t size) {
    return {reinterpret_cast<std::uint8_t*>(room.data()) + static_cast<std::size_t>(rank) * size,
            size};
}

}  // namespace

void MpiFold::protect(std::vector<LinkCipher> ciphers) {
    ciphers_ = std::move(ciphers);
    encrypted_ = true;
}

Eigen::VectorXd MpiFold::run(const Eigen::Ref<const Eigen::VectorXd>& own,
                             Fold fold,
                             const CollectedCheck& check) {
    Eigen::VectorXd total = own;
    const Eigen::Index piece = std::max<Eigen::Index>(1024, gathered_values / world_.ranks());
    const std::size_t largest = wire_size(std::min(piece, total.size()), encrypted_);
    const std::size_t gathered = world_.rank() == 0 ? static_cast<std::size_t>(world_.ranks()) : 0;
    Buffers buffers{std::vector<std::byte>(largest), std::vector<std::byte>(largest * gathered)};
    for (Eigen::Index first = 0; first < total.size(); first += piece)
        fold_piece({{folds_, 0, first / piece},
                    first,
                    total.segment(first, std::min(piece, total.size() - first))},
                   fold,
                   check,
                   buffers);
    ++folds_;
    return total;
}

void MpiFold::fold_piece(Piece piece, Fold fold, const CollectedCheck& check, Buffers& buffers) {
    const ChunkAddress& address = piece.address;
    Eigen::Ref<Eigen::VectorXd>& values = piece.values;
    const std::size_t size = wire_size(values.size(), encrypted_);
    const int n = mpi_count(size);
    const std::span<std::uint8_t> plain = bytes_of(values);
    const std::span<std::uint8_t> own = piece_of(buffers.own, 0, size);
    const bool collects = world_.rank() == 0;
    if (!collects) pack(address, 0, plain, own);
    world_.complete("MPI_Igather", [&](MPI_Request* request) {
        return MPI_Igather(own.data(),
                           n,
                           MPI_BYTE,
                           buffers.all.data(),
                           n,
                           MPI_BYTE,
                           0,
                           world_.communicator(),
                           request);
    });
    if (collects) fold_collected(piece, fold, check, buffers.all);
    world_.complete("MPI_Iscatter", [&](MPI_Request* request) {
        return MPI_Iscatter(buffers.all.data(),
                            n,
                            MPI_BYTE,
                            own.data(),
                            n,
                            MPI_BYTE,
                            0,
                            world_.communicator(),
                            request);
    });
    if (collects) return;
    unpack(address, 0, own, plain.size());
    std::ranges::copy(own.first(plain.size()), plain.begin());
}

void MpiFold::fold_collected(Piece& piece,
                             Fold fold,
                             const CollectedCheck& check,
                             std::span<std::byte> all) {
    const ChunkAddress& address = piece.address;
    Eigen::Ref<Eigen::VectorXd>& values = piece.values;
    const std::size_t size = wire_size(values.size(), encrypted_);
    const std::span<std::uint8_t> plain = bytes_of(values);
    for (int peer = 1; peer < world_.ranks(); ++peer) {
        const std::span<std::uint8_t> theirs = piece_of(all, peer, size);
        unpack(address, static_cast<std::size_t>(peer - 1), theirs, plain.size());
        const Eigen::Map<const Eigen::VectorXd> of_peer(
            reinterpret_cast<const double*>(theirs.data()), values.size());
        if (check)
            check(peer, piece.first, {of_peer.data(), static_cast<std::size_t>(of_peer.size())});
        fold_into(values, of_peer, fold);
    }
    for (int peer = 1; peer < world_.ranks(); ++peer)
        pack(address, static_cast<std::size_t>(peer - 1), plain, piece_of(all, peer, size));
}

void MpiFold::pack(const ChunkAddress& address,
                   std::size_t cipher,
                   std::span<const std::uint8_t> plain,
                   std::span<std::uint8_t> target) {
    if (encrypted_)
        ciphers_[cipher].seal(address, plain, target);
    else
        std::ranges::copy(plain, target.begin());
}

void MpiFold::unpack(const ChunkAddress& address,
                     std::size_t cipher,
                     std::span<std::uint8_t> sealed,
                     std::size_t plain_size) {
    if (encrypted_) ciphers_[cipher].open(address, sealed, sealed.first(plain_size));
}

}  // namespace sotto
