#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sotto::simulation {

/// SplitMix64: what a schedule draws is a function of its seed, on every machine.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    /// A stream of its own for every purpose.
    Random(std::uint64_t seed, std::uint64_t purpose)
        : state_(Random(Random(seed).next() ^ Random(~purpose).next()).next()) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    /// In [0, below). @param below > 0.
    std::uint64_t below(std::uint64_t below) { return next() % below; }
    /// In [first, last].
    long between(long first, long last) {
        return first + static_cast<long>(below(static_cast<std::uint64_t>(last - first) + 1));
    }
    /// In [0, 1).
    double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    bool chance(double probability) { return unit() < probability; }
    template <class Range>
    const auto& choose(const Range& range) {
        return range[static_cast<std::size_t>(below(std::size(range)))];
    }

  private:
    std::uint64_t state_;
};

/// 64 bits of any bytes (FNV-1a, then mixed): for comparing, not against anybody.
[[nodiscard]] inline std::uint64_t hash_of(std::span<const std::uint8_t> bytes,
                                           std::uint64_t start = 0xcbf29ce484222325ULL) {
    std::uint64_t hash = start;
    for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3ULL;
    return Random(hash ^ bytes.size()).next();
}

}  // namespace sotto::simulation
