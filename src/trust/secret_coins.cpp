#include "sotto/trust/secret_coins.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr std::size_t block = 64;                      // bytes of ChaCha20
constexpr std::size_t coins_at_once = 2048;            // two bytes each
constexpr std::uint64_t tie = std::uint64_t{1} << 63;  // of nonces: no round has it

/// Bytes of the key's sequence with this nonce, from a block on.
void random_bytes(const SecretKey& key,
                  std::uint64_t nonce,
                  std::uint64_t first_block,
                  std::span<unsigned char> bytes) {
    std::array<unsigned char, crypto_stream_chacha20_NONCEBYTES> said{};
    for (std::size_t i = 0; i < said.size(); ++i)
        said[i] = static_cast<unsigned char>(nonce >> (8 * i));
    std::ranges::fill(bytes, static_cast<unsigned char>(0));
    crypto_stream_chacha20_xor_ic(
        bytes.data(), bytes.data(), bytes.size(), said.data(), first_block, key.bytes().data());
}

double rounded_down(double probability) {
    if (!(probability >= SecretCoins::probability_step && probability <= 1))
        throw ConfigError(
            fmt::format("sampling probability {} is not allowed (from 2^-53 to 1)", probability));
    return std::floor(probability / SecretCoins::probability_step) * SecretCoins::probability_step;
}

}  // namespace

SecretCoins::SecretCoins(SecretKey key, double probability)
    : key_(std::move(key)), probability_(rounded_down(probability)) {
    ensure_sodium();
    const auto steps = static_cast<std::uint64_t>(probability_ / probability_step);  // at most 2^53
    leading_ = static_cast<std::uint32_t>(steps >> 37);
    following_ = (steps & ((std::uint64_t{1} << 37) - 1)) << 11;
}

bool SecretCoins::decides_tie(std::uint64_t round, Eigen::Index record) const {
    std::array<unsigned char, 6> bytes{};
    random_bytes(key_, round | tie, static_cast<std::uint64_t>(record), bytes);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
    return value < following_;
}

void SecretCoins::draw(std::uint64_t round,
                       Eigen::Index records,
                       std::vector<Eigen::Index>& chosen) const {
    chosen.clear();
    std::array<unsigned char, 2 * coins_at_once> bytes{};
    for (Eigen::Index first = 0; first < records;
         first += static_cast<Eigen::Index>(coins_at_once)) {
        const auto count = static_cast<std::size_t>(
            std::min<Eigen::Index>(static_cast<Eigen::Index>(coins_at_once), records - first));
        random_bytes(key_,
                     round,
                     static_cast<std::uint64_t>(first) * 2 / block,
                     std::span(bytes).first(2 * count));
        for (std::size_t i = 0; i < count; ++i) {
            const auto coin = static_cast<std::uint32_t>(bytes[2 * i] | (bytes[2 * i + 1] << 8));
            const Eigen::Index record = first + static_cast<Eigen::Index>(i);
            if (coin < leading_ || (coin == leading_ && decides_tie(round, record)))
                chosen.push_back(record);
        }
    }
    sodium_memzero(bytes.data(), bytes.size());
}

}  // namespace sotto
