#include "sotto/privacy/noise_multiplier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {

namespace {

constexpr double most_asked = 1e4, least_asked_delta = 1e-30, most_noise = 1e9;

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
        rounds.push_back({noise, phase.sampling_probability, phase.count});
    return PrivacyLoss::sampled(rounds);
}

/// As if the central limit were reached: T q^2 (e^(1/s^2) - 1) = mu^2.
double first_guess(double epsilon, double delta, std::span<const SampledPhase> phases) {
    double squares = 0;
    for (const SampledPhase& phase : phases)
        squares += static_cast<double>(phase.count) * phase.sampling_probability *
                   phase.sampling_probability;
    const double mu = gdp_mu(epsilon, delta);
    return std::clamp(1 / std::sqrt(std::log1p(mu * mu / squares)), 1e-3, 0.5 * most_noise);
}

}  // namespace

double noise_multiplier_for(double epsilon,
                            double delta,
                            std::span<const SampledPhase> phases,
                            const PrivacyLoss& beside) {
    require_asked(epsilon, delta);
    if (with_noise(1, phases) == PrivacyLoss()) return 0;
    const auto excess = [&](double logarithm) {
        const double spent =
            compose(beside, with_noise(std::exp(logarithm), phases)).epsilon(delta).upper;
        return std::log(std::clamp(spent, 1e-12, 1e12) / epsilon);
    };
    if (!(beside.epsilon(delta).upper < epsilon))
        throw PrivacyError(
            fmt::format("epsilon {} at delta {:g} is already spent: no noise is enough for more "
                        "rounds",
                        epsilon,
                        delta));
    double low = std::log(first_guess(epsilon, delta, phases)), high = low;
    double at_low = excess(low), at_high = at_low;
    for (double reach = 0.05; at_high > 0; reach *= 2) {
        low = high;
        at_low = at_high;
        high += reach;
        if (high > std::log(most_noise))
            throw PrivacyError(
                fmt::format("epsilon {} at delta {:g}: no noise multiplier up to {:g} is enough",
                            epsilon,
                            delta,
                            most_noise));
        at_high = excess(high);
    }
    for (double reach = 0.05; at_low <= 0; reach *= 2) {
        high = low;
        at_high = at_low;
        low -= reach;
        at_low = excess(low);
    }
    if (at_high == 0) return std::exp(high);
    std::uintmax_t iterations = 60;
    const auto close = [](double a, double b) { return std::abs(a - b) < 1e-5; };
    const auto bracket =
        boost::math::tools::toms748_solve(excess, low, high, at_low, at_high, close, iterations);
    return std::exp(bracket.second);
}

}  // namespace sotto
