#include "learn/batches.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "core/seeded_random.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr std::size_t words_per_block = 16;  // of ChaCha20: 64 bytes

std::vector<Eigen::Index> ascending_rows(Eigen::Index records) {
    std::vector<Eigen::Index> order(static_cast<std::size_t>(records));
    std::iota(order.begin(), order.end(), Eigen::Index{0});
    return order;
}

void require_at_most_records(const char* what, Eigen::Index value, Eigen::Index records) {
    // Draws are 32-bit numbers.
    constexpr Eigen::Index most = std::numeric_limits<std::int32_t>::max();
    if (!(records >= 1 && records <= most))
        throw ConfigError(
            fmt::format("{} records to draw batches from: must be 1 to {}", records, most));
    if (!(value >= 1 && value <= records))
        throw ConfigError(fmt::format(
            "{} {}: must be from 1 to the agent's number of records, {}", what, value, records));
}

}  // namespace

BatchSampler BatchSampler::uniform(Eigen::Index records,
                                   Eigen::Index batch_size,
                                   std::uint64_t seed,
                                   int agent) {
    require_at_most_records("batch size", batch_size, records);
    // Chooses the fastest ChaCha20; all give the same numbers.
    if (sodium_init() < 0) throw CryptoError("libsodium cannot be initialised");
    BatchSampler sampler;
    sampler.batch_size_ = batch_size;
    sampler.order_ = ascending_rows(records);
    sampler.partners_.reserve(static_cast<std::size_t>(batch_size));
    // Making a SeededRandom per round would cost more than the draw, so it gives the key, and the
    // round is the nonce.
    SeededRandom random(seed, "uniform-batches", static_cast<std::uint64_t>(agent));
    for (std::size_t i = 0; i < sampler.key_.size(); i += 8) {
        const std::uint64_t word = random();
        for (std::size_t byte = 0; byte < 8; ++byte)
            sampler.key_[i + byte] = static_cast<std::uint8_t>(word >> (8 * byte));
    }
    const std::size_t blocks =
        (static_cast<std::size_t>(batch_size) + words_per_block - 1) / words_per_block;
    sampler.words_.resize(words_per_block * std::min<std::size_t>(blocks, 64));
    return sampler;
}

BatchSampler BatchSampler::cyclic(Eigen::Index records,
                                  Eigen::Index batches,
                                  std::uint64_t seed,
                                  int agent) {
    require_at_most_records("number of batches", batches, records);
    BatchSampler sampler;
    sampler.batches_ = batches;
    sampler.batch_size_ = (records + batches - 1) / batches;
    sampler.order_ = ascending_rows(records);
    SeededRandom random(seed, "cyclic-batches", static_cast<std::uint64_t>(agent));
    random.shuffle(sampler.order_);
    return sampler;
}

BatchSampler BatchSampler::in_order(Eigen::Index records) {
    require_at_most_records("number of batches", records, records);
    BatchSampler sampler;
    sampler.batches_ = records;
    sampler.batch_size_ = 1;
    sampler.order_ = ascending_rows(records);
    sampler.once_ = true;
    return sampler;
}

BatchSampler BatchSampler::drawn(Eigen::Index records, Draw draw) {
    require_at_most_records("number of batches", 1, records);
    BatchSampler sampler;
    sampler.draw_ = std::move(draw);
    sampler.records_ = records;
    sampler.batch_size_ = records;
    sampler.make_room(records);
    return sampler;
}

void BatchSampler::make_room(Eigen::Index largest) {
    // Written once, so memory use does not reveal the sizes of batches.
    chosen_.assign(static_cast<std::size_t>(largest), 0);
    chosen_.clear();
}

BatchSampler BatchSampler::drawn_from_parts(
    Eigen::Index records, Eigen::Index parts, std::uint64_t seed, int agent, Draw draw) {
    BatchSampler sampler = cyclic(records, parts, seed, agent);
    sampler.draw_ = std::move(draw);
    sampler.records_ = records;
    sampler.make_room(sampler.batch_size_);
    return sampler;
}

std::span<const Eigen::Index> BatchSampler::part_of(std::uint64_t round) const {
    const auto part = static_cast<Eigen::Index>(round % static_cast<std::uint64_t>(batches_));
    const auto count = std::ssize(order_);
    const Eigen::Index first = std::min<Eigen::Index>(part * batch_size_, count);
    const Eigen::Index last = std::min<Eigen::Index>(first + batch_size_, count);
    return std::span(order_).subspan(static_cast<std::size_t>(first),
                                     static_cast<std::size_t>(last - first));
}

std::span<const Eigen::Index> BatchSampler::drawn_rows(std::uint64_t round) {
    if (batches_ == 0) {
        draw_(round, records_, chosen_);
        return chosen_;
    }
    const auto part = part_of(round);
    draw_(round, std::ssize(part), chosen_);
    for (Eigen::Index& row : chosen_) row = part[static_cast<std::size_t>(row)];
    return chosen_;
}

void BatchSampler::refill() {
    std::array<unsigned char, crypto_stream_chacha20_NONCEBYTES> nonce{};
    for (std::size_t i = 0; i < nonce.size(); ++i)
        nonce[i] = static_cast<unsigned char>(round_ >> (8 * i));
    auto* bytes = reinterpret_cast<unsigned char*>(words_.data());
    const std::size_t size = words_.size() * sizeof(std::uint32_t);
    std::memset(bytes, 0, size);
    crypto_stream_chacha20_xor_ic(bytes, bytes, size, nonce.data(), next_block_, key_.data());
    next_block_ += words_.size() / words_per_block;
    used_words_ = 0;
}

void BatchSampler::start_round(std::uint64_t round) {
    round_ = round;
    next_block_ = 0;
    refill();
}

std::uint32_t BatchSampler::random_word() {
    if (used_words_ == words_.size()) refill();
    return words_[used_words_++];
}

std::span<const Eigen::Index> BatchSampler::rows(std::uint64_t round) {
    if (draw_) return drawn_rows(round);
    const auto records = static_cast<std::uint32_t>(order_.size());
    if (once_ && round >= records)
        throw ConfigError(fmt::format("round {} has no record: there are {}", round, records));
    if (batches_ != 0) return part_of(round);

    // Undo the previous batch's swaps: the draw depends on the round alone.
    for (std::size_t i = partners_.size(); i > 0; --i)
        std::swap(order_[i - 1], order_[partners_[i - 1]]);
    partners_.clear();

    // The first steps of a Fisher-Yates shuffle. A uniform number below `left` is the high half of
    // word * left; words whose low half is below 2^32 mod left are drawn again to avoid bias
    // (Lemire 2019, Fast random integer generation in an interval).
    start_round(round);
    const auto batch_size = static_cast<std::uint32_t>(batch_size_);
    for (std::uint32_t i = 0; i < batch_size; ++i) {
        const std::uint32_t left = records - i;
        std::uint64_t product = std::uint64_t{random_word()} * left;
        if (static_cast<std::uint32_t>(product) < left) {
            const std::uint32_t biased = (0U - left) % left;
            while (static_cast<std::uint32_t>(product) < biased)
                product = std::uint64_t{random_word()} * left;
        }
        const std::uint32_t partner = i + static_cast<std::uint32_t>(product >> 32);
        partners_.push_back(partner);
        std::swap(order_[i], order_[partner]);
    }
    return std::span(order_).first(batch_size);
}

}  // namespace sotto
