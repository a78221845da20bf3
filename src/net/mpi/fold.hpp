#pragma once

// One vector of all agents, by way of process 0; not installed.

#include <Eigen/Dense>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sotto/net/network.hpp"
#include "sotto/trust/link_cipher.hpp"
#include "world.hpp"

namespace sotto {

/// Network::fold_over_agents of one agent: process 0 collects everybody's values, piece by piece,
/// folds them in ascending order, and returns the result.
class MpiFold {
  public:
    explicit MpiFold(MpiWorld& world) : world_(world) {}

    /// Seals everything from now on. @param ciphers as of collection_ciphers.
    void protect(std::vector<LinkCipher> ciphers);

    /// COLLECTIVE. @param check on process 0, of every other agent's piece; may be empty.
    /// @throws CryptoError for what is not what was sent.
    [[nodiscard]] Eigen::VectorXd run(const Eigen::Ref<const Eigen::VectorXd>& own,
                                      Fold fold,
                                      const CollectedCheck& check);

  private:
    /// Room for one sealed piece of this process, and on process 0 for those of all.
    struct Buffers {
        std::vector<std::byte> own, all;
    };
    /// Some coordinates of the vector.
    struct Piece {
        ChunkAddress address;
        Eigen::Index first;
        Eigen::Ref<Eigen::VectorXd> values;
    };
    void fold_piece(Piece piece, Fold fold, const CollectedCheck& check, Buffers& buffers);
    /// On process 0: folds what the others sent, and puts the result where theirs was.
    void fold_collected(Piece& piece,
                        Fold fold,
                        const CollectedCheck& check,
                        std::span<std::byte> all);
    void pack(const ChunkAddress& address,
              std::size_t cipher,
              std::span<const std::uint8_t> plain,
              std::span<std::uint8_t> target);
    /// In place.
    void unpack(const ChunkAddress& address,
                std::size_t cipher,
                std::span<std::uint8_t> sealed,
                std::size_t plain_size);

    MpiWorld& world_;
    bool encrypted_ = false;
    std::vector<LinkCipher> ciphers_;
    std::int64_t folds_ = 0;
};

}  // namespace sotto
