#include "sums/secure_sum.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "sotto/core/error.hpp"
#include "trust/link_cipher.hpp"

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
    // The keystream is the ciphertext of zeros.
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

namespace {

constexpr double step_size = 0x1p-40;
constexpr double words_per_unit = 1 / step_size;

/// A round's mask words, wiped on destruction.
struct Scratch {
    Scratch() = default;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { sodium_memzero(words.data(), sizeof words); }
    alignas(64) std::array<std::uint64_t, mask_piece> words;
};

}  // namespace

double sum_range(int neighbours) { return 0x1p62 * step_size / neighbours; }

SecureSum::SecureSum(const Graph& graph,
                     PairSecrets& secrets,
                     std::uint32_t key_epoch,
                     int partners_per_side)
    : agent_(secrets.agent()) {
    ensure_sodium();
    if (partners_per_side < 1)
        throw ConfigError(fmt::format("mask-partners: {} is not allowed (must be at least 1)",
                                      partners_per_side));
    for (const int receiver : graph.neighbours(agent_)) {
        if (!graph.hears(receiver, agent_)) {  // gets nothing
            receivers_.push_back({receiver, 1, {}});
            continue;
        }
        const auto around = graph.heard(receiver);
        const auto place =
            static_cast<int>(std::ranges::lower_bound(around, agent_) - around.begin());
        Receiver& entry =
            receivers_.emplace_back(Receiver{receiver, static_cast<int>(around.size()), {}});
        for (const int partner : mask_partners(entry.neighbours, place, partners_per_side))
            entry.masks.emplace_back(
                secrets, around[static_cast<std::size_t>(partner)], receiver, key_epoch);
    }
}

std::int64_t SecureSum::masks() const {
    std::int64_t sum = 0;
    for (const Receiver& receiver : receivers_)
        sum += static_cast<std::int64_t>(receiver.masks.size());
    return sum;
}

void SecureSum::begin(std::int64_t round,
                      std::int64_t step,
                      std::span<const double> message,
                      std::span<const double> weights) {
    if (weights.size() != receivers_.size())
        throw Error(ExitCode::other,
                    fmt::format("secure sum of agent {}: {} weights for {} neighbours",
                                agent_,
                                weights.size(),
                                receivers_.size()));
    const ChunkAddress address{round, step, 0};
    if (!(address > current_))
        throw CryptoError(
            fmt::format("secure sum of agent {}: round {}, step {} does not come after round {}, "
                        "step {}, and no mask is used twice",
                        agent_,
                        round,
                        step,
                        current_.round,
                        current_.step));
    (void)nonce_of(address);
    // Rounding is monotonic, so checking the largest value suffices; a NaN makes `finite` false.
    double largest = 0;
    bool finite = true;
    for (const double value : message) {
        largest = std::max(largest, std::abs(value));
        finite = finite && std::isfinite(value);
    }
    for (std::size_t j = 0; j < receivers_.size(); ++j) {
        const double range = sum_range(receivers_[j].neighbours);
        const double weight = weights[j];
        if (finite && std::abs(weight) * largest <= range) continue;
        const auto bad = std::ranges::find_if(
            message, [&](double value) { return !(std::abs(weight * value) <= range); });
        const auto place = bad - message.begin();
        throw Error(
            ExitCode::other,
            fmt::format("secure sum: agent {}, coordinate {}, round {}: {:.9g} times weight {:.6g} "
                        "for agent {} must lie within -{:.9g} and {:.9g} (2^22 / {} neighbours); "
                        "use a smaller step size or a larger epsilon, or --secure-sum off",
                        agent_,
                        place,
                        round,
                        bad == message.end() ? largest : *bad,
                        weight,
                        receivers_[j].agent,
                        range,
                        range,
                        receivers_[j].neighbours));
    }
    current_ = address;
    message_ = message;
    weights_.assign(weights.begin(), weights.end());
}

void SecureSum::share(std::size_t neighbour,
                      std::int64_t first,
                      std::span<std::uint64_t> words) const {
    check_mask_range(first, words.size());
    if (neighbour >= receivers_.size() ||
        static_cast<std::size_t>(first) + words.size() > message_.size())
        throw Error(ExitCode::other,
                    fmt::format("secure sum of agent {}: no share for neighbour {} at {} + {}",
                                agent_,
                                neighbour,
                                first,
                                words.size()));
    const Receiver& receiver = receivers_[neighbour];
    const double weight = weights_[neighbour];
    Scratch scratch;
    while (!words.empty()) {
        const std::span<std::uint64_t> piece = words.first(std::min(words.size(), mask_piece));
        const double* const values = message_.data() + first;
        for (std::size_t i = 0; i < piece.size(); ++i)
            piece[i] = static_cast<std::uint64_t>(std::llrint(weight * values[i] * words_per_unit));
        for (const SumMask& mask : receiver.masks)
            mask.apply(current_.round, current_.step, first, piece, scratch.words);
        words = words.subspan(piece.size());
        first += static_cast<std::int64_t>(piece.size());
    }
}

void SecureSum::finish(std::span<const std::uint64_t> sum,
                       double own_weight,
                       std::span<const double> own,
                       std::span<double> out) {
    for (std::size_t i = 0; i < sum.size(); ++i)
        out[i] = own_weight * own[i] +
                 static_cast<double>(static_cast<std::int64_t>(sum[i])) * step_size;
}

void SecureSum::decode(std::span<const std::uint64_t> sum, std::span<double> out) {
    for (std::size_t i = 0; i < sum.size(); ++i)
        out[i] = static_cast<double>(static_cast<std::int64_t>(sum[i])) * step_size;
}

}  // namespace sotto
