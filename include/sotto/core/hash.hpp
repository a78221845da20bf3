#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace sotto {

/// 256-bit BLAKE2b digest.
using Digest = std::array<std::uint8_t, 32>;

/// Incremental BLAKE2b-256 (libsodium crypto_generichash). Every value is hashed with a type tag
/// and, for sequences, its length, so different sequences of calls never collide by concatenation.
class Hasher {
  public:
    /// @param purpose domain separation, for example "sotto.graph.v1".
    explicit Hasher(std::string_view purpose);
    ~Hasher();
    Hasher(const Hasher&) = delete;
    Hasher& operator=(const Hasher&) = delete;

    Hasher& add(std::string_view text);
    /// The same as adding the concatenation of the parts.
    Hasher& add(std::span<const std::string_view> parts);
    Hasher& add(std::int64_t value);
    Hasher& add(double value);
    Hasher& add(std::span<const double> values);
    Hasher& add_bytes(std::span<const std::uint8_t> bytes);
    /// Returns the digest; the hasher must not be used afterwards.
    [[nodiscard]] Digest finish();

  private:
    void absorb(const void* data, std::size_t size);
    struct State;
    std::unique_ptr<State> state_;
};

[[nodiscard]] std::string to_hex(std::span<const std::uint8_t> bytes);
/// False unless `digits` are hexadecimal, of either case, and exactly fill `bytes`.
[[nodiscard]] bool from_hex(std::string_view digits, std::span<std::uint8_t> bytes);

}  // namespace sotto
