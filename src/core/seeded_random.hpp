#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace sotto {

/// Reproducible random bits for everything except noise: graphs, partitions, batches,
/// initialisation. ChaCha20 keyed by BLAKE2b(purpose, seed, index): purposes and indices have
/// separate sequences, equal on every platform. Not a source of secrets: the seed is public. Meets
/// UniformRandomBitGenerator; use Boost.Random distributions, which give the same values with every
/// compiler.
class SeededRandom {
  public:
    using result_type = std::uint64_t;

    SeededRandom(std::uint64_t seed, std::string_view purpose, std::uint64_t index = 0);

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
    result_type operator()();

    /// Uniform on [0, 1), 53 bits.
    [[nodiscard]] double uniform();
    /// Uniform on {0, ..., bound-1} without bias. @param bound > 0.
    [[nodiscard]] std::uint64_t below(std::uint64_t bound);
    /// Standard normal; for synthetic data and initialisation, never for privacy noise.
    [[nodiscard]] double normal();
    /// Gamma with the given shape and scale 1. @param shape > 0.
    [[nodiscard]] double gamma(double shape);

    /// Uniformly random order (Fisher-Yates).
    template <class T>
    void shuffle(std::vector<T>& values) {
        for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
    }

  private:
    void refill();
    std::array<std::uint8_t, 32> key_{};
    std::uint64_t block_ = 0;
    std::array<std::uint64_t, 64> buffer_{};
    std::size_t used_ = 64;
};

}  // namespace sotto
