#include "sotto/sums/sum_mask.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "sotto/core/error.hpp"
#include "trust/nonce.hpp"

namespace sotto {

namespace {

static_assert(std::endian::native == std::endian::little, "mask words are little-endian");

/// The counter has 32 bits and counts blocks.
constexpr std::int64_t most_words = (std::int64_t{1} << 32) * mask_block;

}  // namespace

void check_mask_range(std::int64_t first, std::size_t count) {
    if (first < 0 || first % mask_block != 0 || first > most_words ||
        static_cast<std::int64_t>(count) > most_words - first)
        throw Error(ExitCode::other,
                    fmt::format("words {} + {} of a secure sum: must start at a multiple of {} and "
                                "end at or before {}",
                                first,
                                count,
                                mask_block,
                                most_words));
}

SumMask::SumMask(PairSecrets& secrets, int peer, int receiver, std::uint32_t key_epoch)
    : key_(secrets.with(peer).derive(
          "sottosum", (std::uint64_t{static_cast<std::uint32_t>(receiver)} << 32) | key_epoch)),
      adds_(secrets.agent() < peer) {}

void SumMask::apply(std::int64_t round,
                    std::int64_t step,
                    std::int64_t first,
                    std::span<std::uint64_t> words,
                    std::span<std::uint64_t> scratch) const {
    check_mask_range(first, words.size());
    const auto nonce = nonce_of({round, step, 0});
    const auto key = key_.bytes();
    const std::size_t most =
        std::min(scratch.size(), mask_piece) / mask_block * static_cast<std::size_t>(mask_block);
    if (most == 0)
        throw Error(ExitCode::other,
                    fmt::format("scratch of {} words for a mask; at least {} are needed",
                                scratch.size(),
                                mask_block));
    auto counter = static_cast<std::uint32_t>(first / mask_block);
    // Keystream is what the cipher makes of zeros.
    static constexpr std::array<std::uint8_t, mask_piece * sizeof(std::uint64_t)> zeros{};
    while (!words.empty()) {
        const std::size_t count = std::min(words.size(), most);
        crypto_stream_chacha20_ietf_xor_ic(reinterpret_cast<unsigned char*>(scratch.data()),
                                           zeros.data(),
                                           count * sizeof(std::uint64_t),
                                           nonce.data(),
                                           counter,
                                           key.data());
        if (adds_)
            for (std::size_t i = 0; i < count; ++i) words[i] += scratch[i];
        else
            for (std::size_t i = 0; i < count; ++i) words[i] -= scratch[i];
        words = words.subspan(count);
        counter += static_cast<std::uint32_t>(count / mask_block);
    }
}

std::vector<int> mask_partners(int neighbours, int place, int per_side) {
    std::vector<int> partners;
    for (int other = 0; other < neighbours; ++other) {
        const int apart = std::abs(other - place);
        if (apart != 0 && std::min(apart, neighbours - apart) <= per_side)
            partners.push_back(other);
    }
    return partners;
}

}  // namespace sotto
