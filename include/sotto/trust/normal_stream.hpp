#pragma once

#include <cstdint>
#include <span>

#include "sotto/trust/gaussian_simd.hpp"
#include "sotto/trust/secret.hpp"

namespace sotto {

/// A stream of independent standard normals, addressed by (key epoch, round, coordinate).
///
/// Bits: ChaCha20 (IETF: 96-bit nonce = epoch, round; 32-bit counter = 8 * block), keyed per
/// stream. Transform: Box-Muller in float64 from two 64-bit words a pair, u1 in (0, 1] and u2 in
/// [0, 1) with 52 bits each; log, sine and cosine are polynomials of plain IEEE operations in a
/// fixed order (no fused multiply-add), so every x86-64 level gives the same bits and noise shared
/// by agents on different machines cancels. Largest modulus sqrt(2 * 52 * log 2) = 8.49, which a
/// normal exceeds with probability 2e-17. Absolute error of one value against exact Box-Muller
/// below 1e-14. Cost: about 8 bytes of keystream a normal.
class NormalStream {
  public:
    explicit NormalStream(SecretKey key);

    /// out[i] = coordinate first + i of the round's vector.
    /// @param first a multiple of normal_block.  @param round, epoch address a fresh vector; the
    /// caller never uses one address for two different data.
    void fill(std::uint32_t epoch,
              std::uint64_t round,
              std::uint64_t first,
              std::span<double> out) const;

  private:
    SecretKey key_;
};

}  // namespace sotto
