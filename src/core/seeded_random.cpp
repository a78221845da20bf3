#include "core/seeded_random.hpp"

#include <sodium.h>

#include <boost/random/gamma_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include "sotto/core/hash.hpp"

namespace sotto {

SeededRandom::SeededRandom(std::uint64_t seed, std::string_view purpose, std::uint64_t index) {
    Hasher hasher("sotto.seeded-random.v1");
    hasher.add(purpose).add(static_cast<std::int64_t>(seed)).add(static_cast<std::int64_t>(index));
    key_ = hasher.finish();
}

void SeededRandom::refill() {
    std::array<std::uint8_t, crypto_stream_chacha20_NONCEBYTES> nonce{};
    for (std::size_t i = 0; i < nonce.size(); ++i)
        nonce[i] = static_cast<std::uint8_t>(block_ >> (8 * i));
    crypto_stream_chacha20(reinterpret_cast<unsigned char*>(buffer_.data()),
                           sizeof buffer_,
                           nonce.data(),
                           key_.data());
    ++block_;
    used_ = 0;
}

SeededRandom::result_type SeededRandom::operator()() {
    if (used_ == buffer_.size()) refill();
    return buffer_[used_++];
}

double SeededRandom::uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

std::uint64_t SeededRandom::below(std::uint64_t bound) {
    return boost::random::uniform_int_distribution<std::uint64_t>(0, bound - 1)(*this);
}

double SeededRandom::normal() { return boost::random::normal_distribution<double>()(*this); }

double SeededRandom::gamma(double shape) {
    return boost::random::gamma_distribution<double>(shape)(*this);
}

}  // namespace sotto
