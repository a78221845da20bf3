#include "training/choice_draws.hpp"

#include <limits>

#include "sotto/core/error.hpp"
#include "trust/secret.hpp"

namespace sotto {

namespace {

/// Uniform in [0, 1).
double uniform_of(const RandomBits& bits) { return static_cast<double>(bits() >> 11) * 0x1p-53; }

/// Uniform in {0, ..., bound - 1}: values of an incomplete last round are drawn again.
std::uint64_t below(std::uint64_t bound, const RandomBits& bits) {
    constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t complete = largest - largest % bound;
    std::uint64_t value = bits();
    while (value >= complete) value = bits();
    return value % bound;
}

}  // namespace

std::uint64_t secret_bits() {
    ensure_sodium();
    std::uint64_t bits = 0;
    randombytes_buf(&bits, sizeof bits);
    return bits;
}

std::vector<std::size_t> draw_configurations(const TrainingCount& count,
                                             std::size_t configurations,
                                             const RandomBits& bits) {
    if (configurations == 0)
        throw ConfigError("private-choice: there is no configuration to draw from");
    std::vector<std::size_t> drawn;
    const long number = draw_trainings(count, uniform_of(bits));
    for (long k = 0; k < number; ++k)
        drawn.push_back(static_cast<std::size_t>(below(configurations, bits)));
    return drawn;
}

}  // namespace sotto
