#include "trust/secret_coins.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr int precision = 53;  // bits of a probability
constexpr int at_once = 64;    // coins

class RoundBits {
  public:
    RoundBits(const SecretKey& key, std::uint64_t round) : key_(key) {
        for (std::size_t i = 0; i < nonce_.size(); ++i)
            nonce_[i] = static_cast<unsigned char>(round >> (8 * i));
    }
    RoundBits(const RoundBits&) = delete;
    RoundBits& operator=(const RoundBits&) = delete;
    ~RoundBits() { sodium_memzero(words_.data(), sizeof(words_)); }

    [[nodiscard]] std::uint64_t next() {
        if (used_ == words_.size()) refill();
        return words_[used_++];
    }

  private:
    void refill() {
        constexpr std::uint64_t blocks = sizeof(words_) / 64;  // of ChaCha20
        words_.fill(0);
        auto* bytes = reinterpret_cast<unsigned char*>(words_.data());
        crypto_stream_chacha20_xor_ic(
            bytes, bytes, sizeof(words_), nonce_.data(), first_block_, key_.bytes().data());
        first_block_ += blocks;
        used_ = 0;
        if constexpr (std::endian::native == std::endian::big)
            for (std::uint64_t& word : words_) word = __builtin_bswap64(word);
    }

    const SecretKey& key_;
    std::array<unsigned char, crypto_stream_chacha20_NONCEBYTES> nonce_{};
    std::array<std::uint64_t, 64> words_;
    std::size_t used_ = words_.size();
    std::uint64_t first_block_ = 0;
};

double rounded_down(double probability) {
    if (!(probability >= SecretCoins::probability_step && probability <= 1))
        throw ConfigError(
            fmt::format("sampling probability {} is not allowed (from 2^-53 to 1)", probability));
    return std::floor(probability / SecretCoins::probability_step) * SecretCoins::probability_step;
}

/// 64 coins, each one with probability `steps` 2^-53: a random number is compared with the
/// probability bit by bit, from the leading one, until they differ. 8 words on average.
std::uint64_t toss(std::uint64_t steps, RoundBits& bits) {
    std::uint64_t less = 0, equal = ~std::uint64_t{0};
    // Only zeros follow: bits equal so far cannot become less.
    const int last = std::countr_zero(steps);
    for (int bit = precision - 1; bit >= last && equal != 0; --bit) {
        const std::uint64_t random = bits.next();
        if ((steps >> bit & 1) != 0) {
            less |= equal & ~random;
            equal &= random;
        } else {
            equal &= ~random;
        }
    }
    return less;
}

}  // namespace

SecretCoins::SecretCoins(SecretKey key, double probability)
    : key_(std::move(key)),
      probability_(rounded_down(probability)),
      steps_(static_cast<std::uint64_t>(probability_ / probability_step)) {
    ensure_sodium();
}

SecretPlaces::SecretPlaces(SecretKey key, long rounds_an_epoch)
    : key_(std::move(key)), rounds_(static_cast<std::uint32_t>(rounds_an_epoch)) {
    if (rounds_an_epoch < 2 || rounds_an_epoch > long{1} << 31)
        throw ConfigError(fmt::format(
            "{} rounds an epoch of random allocation (allowed: 2 to 2^31)", rounds_an_epoch));
    ensure_sodium();
}

SecretPlaces::~SecretPlaces() {
    sodium_memzero(places_.data(), places_.size() * sizeof(std::uint32_t));
}

void SecretPlaces::place(std::uint64_t epoch, std::size_t records) {
    RoundBits bits(key_, epoch);
    places_.resize(records);
    // The high half of word * t; words whose low half is below 2^32 mod t are drawn again (Lemire
    // 2019).
    const std::uint32_t biased = (0U - rounds_) % rounds_;
    std::uint64_t both = 0;
    bool half = false;
    const auto word = [&] {
        half = !half;
        if (half) both = bits.next();
        return static_cast<std::uint32_t>(half ? both : both >> 32);
    };
    for (std::uint32_t& at : places_) {
        std::uint64_t product = std::uint64_t{word()} * rounds_;
        while (static_cast<std::uint32_t>(product) < biased)
            product = std::uint64_t{word()} * rounds_;
        at = static_cast<std::uint32_t>(product >> 32);
    }
    epoch_ = epoch;
}

void SecretPlaces::draw(std::uint64_t round,
                        Eigen::Index records,
                        std::vector<Eigen::Index>& chosen) {
    const auto count = static_cast<std::size_t>(records);
    if (round / rounds_ != epoch_ || places_.size() != count) place(round / rounds_, count);
    const auto now = static_cast<std::uint32_t>(round % rounds_);
    chosen.clear();
    for (std::size_t i = 0; i < count; ++i)
        if (places_[i] == now) chosen.push_back(static_cast<Eigen::Index>(i));
}

void SecretCoins::draw(std::uint64_t round,
                       Eigen::Index records,
                       std::vector<Eigen::Index>& chosen) const {
    chosen.clear();
    RoundBits bits(key_, round);
    for (Eigen::Index first = 0; first < records; first += at_once) {
        std::uint64_t heads = probability_ == 1 ? ~std::uint64_t{0} : toss(steps_, bits);
        if (records - first < at_once) heads &= (std::uint64_t{1} << (records - first)) - 1;
        for (; heads != 0; heads &= heads - 1) chosen.push_back(first + std::countr_zero(heads));
    }
}

}  // namespace sotto
