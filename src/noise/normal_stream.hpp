#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "noise/gaussian_simd.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "trust/secret.hpp"

namespace sotto {

/// A stream of independent standard normals, addressed by (key epoch, round, coordinate).
///
/// Bits: ChaCha20 (IETF: 96-bit nonce = epoch, round; 32-bit counter = 8 * block), keyed per
/// stream. Transform: Box-Muller in float64 from two 64-bit words a pair, u1 in (0, 1] with 76
/// bits and u2 in [0, 1) with 52; log, sine and cosine are polynomials of plain IEEE operations in
/// a fixed order (no fused multiply-add), so every x86-64 level gives the same bits and noise
/// shared by agents on different machines cancels. Where u1 <= 2^-32 it has 208 bits more, from
/// XChaCha20 (192-bit nonce = epoch, round, block, zeros; 1024 bytes a block) under the subkey
/// "sottotal" of the stream's key: so a radius below tail_radius has steps of less than 2^-46, and
/// the largest is sqrt(2 * 284 * log 2) = 19.8. Absolute error of one value against exact
/// Box-Muller below 1e-14. Cost: about 8 bytes of keystream a normal; some microseconds more for
/// one pair in 2^32, which is all that time tells of the values.
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
    /// Finishes pairs in the tail. @param words, out of whole blocks, from `first_block` on.
    void refine(const std::array<std::uint8_t, 12>& nonce,
                std::uint64_t first_block,
                std::span<const std::uint64_t> words,
                std::span<double> out) const;

    SecretKey key_;
};

/// ChaCha20 (RFC 8439) of zeros under one key and nonce, from one counter on. Where much is asked
/// for and this build has OpenSSL, its implementation makes it, else libsodium's: the bytes are the
/// same, OpenSSL's come two to three times as fast but begin some microseconds later.
class Keystream {
  public:
    static constexpr std::size_t key_bytes = 32, nonce_bytes = 12;

    /// @param key    must outlive this.
    /// @param count  in units of 64 bytes, where it begins.
    /// @param total  bytes that will be asked for, all calls together.
    Keystream(std::span<const std::uint8_t, key_bytes> key,
              std::span<const std::uint8_t, nonce_bytes> nonce,
              std::uint32_t count,
              std::size_t total);
    ~Keystream();
    Keystream(const Keystream&) = delete;
    Keystream& operator=(const Keystream&) = delete;

    /// The next bytes. @param out a multiple of 64 bytes, but for the last call.
    void next(std::span<std::uint8_t> out);

  private:
    struct Fast;
    std::span<const std::uint8_t, key_bytes> key_;
    std::span<const std::uint8_t, nonce_bytes> nonce_;
    std::uint32_t count_;
    std::unique_ptr<Fast> fast_;  // where OpenSSL makes it
};

}  // namespace sotto
