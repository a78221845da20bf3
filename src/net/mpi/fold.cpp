#include "net/mpi/fold.hpp"

#include <algorithm>
#include <utility>

#include "net/exchange_checks.hpp"
#include "net/mpi/protection.hpp"

namespace sotto {

namespace {

// Most values that process 0 holds at once (4 MiB).
constexpr Eigen::Index gathered_values = Eigen::Index{1} << 19;

std::span<const std::uint8_t> bytes_of(const Eigen::Ref<const Eigen::VectorXd>& values) {
    return {reinterpret_cast<const std::uint8_t*>(values.data()), wire_size(values.size(), false)};
}

}  // namespace

std::size_t MpiFold::Piece::size(int agents, bool encrypted) const {
    return wire_size(count * agents, encrypted);
}

void MpiFold::protect(std::vector<LinkCipher> ciphers) {
    ciphers_ = std::move(ciphers);
    encrypted_ = true;
}

Eigen::VectorXd MpiFold::run(const Eigen::MatrixXd& local, Fold fold, const CollectedCheck& check) {
    Eigen::VectorXd total = local.col(0);
    // The same on every process.
    const Eigen::Index longest = std::max<Eigen::Index>(1024, gathered_values / blocks_.agents());
    for (Eigen::Index first = 0; first < total.size(); first += longest) {
        const Piece piece{
            {folds_, 0, first / longest}, first, std::min(longest, total.size() - first)};
        collect(piece, local);
        const auto values = total.segment(first, piece.count);
        if (collects()) {
            for (Eigen::Index a = 1; a < local.cols(); ++a)
                fold_into(values, local.col(a).segment(first, piece.count), fold);
            fold_collected(piece, fold, check, values);
        }
        give_back(piece, values);
    }
    ++folds_;
    return total;
}

void MpiFold::collect(const Piece& piece, const Eigen::MatrixXd& local) {
    own_.resize(piece.size(static_cast<int>(local.cols()), encrypted_));
    if (collects()) {
        starts_.clear();
        sizes_.clear();
        std::size_t end = 0;
        for (int process = 0; process < blocks_.processes(); ++process) {
            const std::size_t size = piece.size(blocks_.size(process), encrypted_);
            starts_.push_back(mpi_count(end));
            sizes_.push_back(mpi_count(size));
            end += size;
        }
        all_.resize(end);
    } else {
        const std::size_t size = wire_size(piece.count, false);
        for (Eigen::Index a = 0; a < local.cols(); ++a)
            std::ranges::copy(bytes_of(local.col(a).segment(piece.first, piece.count)),
                              own_.begin() + static_cast<std::ptrdiff_t>(size) * a);
        const std::span<const std::uint8_t> plain(own_.data(),
                                                  size * static_cast<std::size_t>(local.cols()));
        if (encrypted_) ciphers_[0].seal(piece.address, plain, own_);
    }
    world_.complete("MPI_Igatherv", [&](MPI_Request* request) {
        return MPI_Igatherv(own_.data(),
                            mpi_count(own_.size()),
                            MPI_BYTE,
                            all_.data(),
                            sizes_.data(),
                            starts_.data(),
                            MPI_BYTE,
                            0,
                            world_.communicator(),
                            request);
    });
}

void MpiFold::fold_collected(const Piece& piece,
                             Fold fold,
                             const CollectedCheck& check,
                             Eigen::Ref<Eigen::VectorXd> total) {
    const std::size_t size = wire_size(piece.count, false);
    scratch_.resize(piece.count);
    for (int peer = 1; peer < blocks_.processes(); ++peer) {
        const auto p = static_cast<std::size_t>(peer);
        const std::span<std::uint8_t> theirs(all_.data() + starts_[p],
                                             static_cast<std::size_t>(sizes_[p]));
        const int agents = blocks_.size(peer);
        if (encrypted_)
            ciphers_[p - 1].open(piece.address, theirs, theirs.first(piece.size(agents, false)));
        for (int a = 0; a < agents; ++a) {
            std::ranges::copy(theirs.subspan(static_cast<std::size_t>(a) * size, size),
                              reinterpret_cast<std::uint8_t*>(scratch_.data()));
            if (check)
                check(blocks_.first(peer) + a,
                      piece.first,
                      {scratch_.data(), static_cast<std::size_t>(scratch_.size())});
            fold_into(total, scratch_, fold);
        }
    }
}

void MpiFold::give_back(const Piece& piece, Eigen::Ref<Eigen::VectorXd> total) {
    const std::size_t plain = piece.size(1, false), size = piece.size(1, encrypted_);
    own_.resize(size);
    if (collects()) {
        all_.resize(size * static_cast<std::size_t>(blocks_.processes()));
        for (std::size_t p = 1; p < static_cast<std::size_t>(blocks_.processes()); ++p) {
            const std::span<std::uint8_t> target(all_.data() + p * size, size);
            if (encrypted_)
                ciphers_[p - 1].seal(piece.address, bytes_of(total), target);
            else
                std::ranges::copy(bytes_of(total), target.begin());
        }
    }
    const int n = mpi_count(size);
    world_.complete("MPI_Iscatter", [&](MPI_Request* request) {
        return MPI_Iscatter(
            all_.data(), n, MPI_BYTE, own_.data(), n, MPI_BYTE, 0, world_.communicator(), request);
    });
    if (collects()) return;
    if (encrypted_) ciphers_[0].open(piece.address, own_, std::span(own_).first(plain));
    std::ranges::copy(std::span(own_).first(plain), reinterpret_cast<std::uint8_t*>(total.data()));
}

}  // namespace sotto
