#include "privacy/noise_multiplier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr double most_asked = 1e4, least_asked_delta = 1e-30;
constexpr double most_noise = 1e9;

void require_asked(double epsilon, double delta) {
    if (!(epsilon > 0 && epsilon <= most_asked))
        throw ConfigError(fmt::format(
            "epsilon: {} is not allowed (must be above 0 and at most {:g})", epsilon, most_asked));
    if (!(delta >= least_asked_delta && delta < 1))
        throw ConfigError(
            fmt::format("delta: {} is not allowed (must be at least {:g} and less "
                        "than 1)",
                        delta,
                        least_asked_delta));
}

PrivacyLoss with_noise(double noise, std::span<const SampledPhase> phases) {
    std::vector<SampledRounds> rounds;
    for (const SampledPhase& phase : phases)
        rounds.push_back({noise * phase.relative_noise,
                          phase.sampling_probability,
                          phase.count,
                          phase.rounds_an_epoch});
    return PrivacyLoss::sampled(rounds);
}

}  // namespace

double noise_multiplier_for(double epsilon,
                            double delta,
                            std::span<const SampledPhase> phases,
                            const PrivacyLoss& beside) {
    require_asked(epsilon, delta);
    if (with_noise(1, phases) == PrivacyLoss()) return 0;
    const auto loss_at = [&](double noise) { return compose(beside, with_noise(noise, phases)); };
    const auto excess = [&](double logarithm) {
        const double spent = loss_at(std::exp(logarithm)).epsilon(delta).upper;
        return std::log(std::clamp(spent, 1e-12, 1e12) / epsilon);
    };
    if (!(beside.epsilon(delta).upper < epsilon))
        throw PrivacyError(
            fmt::format("epsilon {} at delta {:g} is already spent: no noise is enough for more "
                        "rounds",
                        epsilon,
                        delta));
    const bool allocated = std::ranges::any_of(
        phases, [](const SampledPhase& phase) { return phase.rounds_an_epoch > 1; });
    const double least_noise = allocated ? least_allocated_noise : 1e-3;
    // Brackets the noise by bounds without a lattice: enough at `high`, too little at `low`.
    double high = 1;
    while (high < most_noise && loss_at(high).epsilon_bracket(delta).upper > epsilon) high *= 2;
    if (high >= most_noise)
        throw PrivacyError(
            fmt::format("epsilon {} at delta {:g}: no noise multiplier up to {:g} is enough",
                        epsilon,
                        delta,
                        most_noise));
    while (high / 2 >= least_noise && loss_at(high / 2).epsilon_bracket(delta).upper <= epsilon)
        high /= 2;
    if (high <= least_noise) return least_noise;
    double low = std::max(high / 2, least_noise);
    while (low > least_noise && loss_at(low).epsilon_bracket(delta).lower <= epsilon)
        low = std::max(low / 2, least_noise);
    const double at_low = excess(std::log(low)), at_high = excess(std::log(high));
    if (at_low <= 0) return low;
    if (at_high >= 0) return high;
    low = std::log(low);
    high = std::log(high);
    std::uintmax_t iterations = 60;
    const auto close = [](double a, double b) { return std::abs(a - b) < 1e-5; };
    const auto bracket =
        boost::math::tools::toms748_solve(excess, low, high, at_low, at_high, close, iterations);
    // Margin for rounding in later computations.
    return std::exp(bracket.second) * (1 + 1e-8);
}

}  // namespace sotto
