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
/// Bits: ChaCha20 (IETF: 96-bit nonce = epoch, round; 32-bit counter = 8 * block), one key per
/// stream. Transform: Box-Muller in float64 from two 64-bit words a pair, u1 in (0, 1] with 76 bits
/// and u2 in [0, 1) with 52. Log, sine and cosine use IEEE operations in a fixed order without
/// fused multiply-add: all x86-64 levels give the same bits, so shared noise cancels between
/// machines.
///
/// Tail: where u1 <= 2^-32 it gets 208 more bits, from XChaCha20 (192-bit nonce = epoch, round,
/// block, zeros; 1024 bytes a block) under the subkey "sottotal" of the stream's key. A radius
/// below tail_radius has steps of less than 2^-46; the largest is sqrt(2 * 284 * log 2) = 19.8.
///
/// Absolute error against exact Box-Muller: below 1e-14. Cost: about 8 bytes of keystream a normal,
/// and some microseconds for one pair in 2^32, which is all that timing reveals of the values.
class NormalStream {
  public:
    explicit NormalStream(SecretKey key);

    /// out[i] = coordinate first + i of the round's vector.
    /// @param first a multiple of normal_block.  @param round, epoch must never be used for two
    /// different data.
    void fill(std::uint32_t epoch,
              std::uint64_t round,
              std::uint64_t first,
              std::span<double> out) const;

  private:
    /// Finishes pairs in the tail. @param words and out are whole blocks, from `first_block` on.
    void refine(const std::array<std::uint8_t, 12>& nonce,
                std::uint64_t first_block,
                std::span<const std::uint64_t> words,
                std::span<double> out) const;

    SecretKey key_;
};

/// ChaCha20 keystream (RFC 8439) under one key and nonce. OpenSSL makes long ones where the build
/// has it, else libsodium; the bytes are the same. OpenSSL is two to three times as fast but starts
/// some microseconds later.
class Keystream {
  public:
    static constexpr std::size_t key_bytes = 32, nonce_bytes = 12;

    /// @param key    must outlive this.
    /// @param count  where it begins, in units of 64 bytes.
    /// @param total  bytes of all calls together.
    Keystream(std::span<const std::uint8_t, key_bytes> key,
              std::span<const std::uint8_t, nonce_bytes> nonce,
              std::uint32_t count,
              std::size_t total);
    ~Keystream();
    Keystream(const Keystream&) = delete;
    Keystream& operator=(const Keystream&) = delete;

    /// The next bytes. @param out a multiple of 64 bytes, except in the last call.
    void next(std::span<std::uint8_t> out);

  private:
    struct Fast;
    std::span<const std::uint8_t, key_bytes> key_;
    std::span<const std::uint8_t, nonce_bytes> nonce_;
    std::uint32_t count_;
    std::unique_ptr<Fast> fast_;  // where OpenSSL makes it
};

}  // namespace sotto
