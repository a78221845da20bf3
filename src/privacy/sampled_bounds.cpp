#include "privacy/sampled_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <numbers>

#include "privacy/normal_tails.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

/// log(1 - (1 - e^log_p)^count).
double log_some(double log_p, double count) {
    if (log_p > -1e-300) return 0;
    // log(1 - p): where p is tiny it is -p, whatever the double holds.
    const double all = count * std::log1p(-std::exp(log_p));
    if (all > -1e-8) return std::min(log_p + std::log(count), 0.0);
    return std::log(-std::expm1(all));
}

/// A logarithm of a probability that is right to 1e-12 of itself.
double rounded_up(double log_p) { return log_p + 1e-11 * std::abs(log_p) + 1e-12; }

/// An event's probabilities with and without the record.
struct Test {
    double with = 0, log_without = 0;
};

/// Calls `take` with tests of one kind of rounds.
template <class Take>
void for_tests(const SampledRounds& rounds, const Take& take) {
    const double s = rounds.noise_multiplier, q = rounds.sampling_probability;
    const auto count = static_cast<double>(rounds.count);
    const auto some_round = [&](double c) {
        const double without = log_normal_above(c);
        const double with = (1 - q) * std::exp(without) + q * normal_above(c - 1 / s);
        take({-std::expm1(count * std::log1p(-with)) * (1 - 1e-12),
              rounded_up(log_some(without, count))});
    };
    constexpr int steps = 48;
    for (int i = 0; i <= steps; ++i) {
        some_round(1 / s + 12 * (2.0 * i / steps - 1));
        some_round((1 / s + 12) * i / steps);
    }
    const double root = std::sqrt(count);
    const double spread = std::sqrt(count * q * (1 - q)) + 1;
    for (int i = -4; i <= 4; ++i) {
        const double k = std::clamp(std::floor(count * q + i * spread), 1.0, count);
        const double likely = boost::math::ibeta(k, count - k + 1, q) * (1 - 1e-9);
        for (double below = -8; below <= 8; below += 0.5)
            take(
                {likely * normal_above(below), rounded_up(log_normal_above(k / s / root + below))});
    }
}

}  // namespace

double delta_of_nothing(std::span<const SampledRounds> rounds, const ExactParts& exact) {
    double log_same = 0, log_chi = 0;
    for (const SampledRounds& one : rounds) {
        const auto count = static_cast<double>(one.count);
        const double s = one.noise_multiplier, q = one.sampling_probability;
        log_same += count * std::log1p(-q * std::erf(0.5 / s / std::numbers::sqrt2));
        log_chi += count * std::log1p(q * q * std::expm1(1 / (s * s)));
    }
    if (!exact.nothing()) log_same += std::log1p(-exact_delta(exact, 0));
    const double chi = exact.nothing() ? 0.5 * std::sqrt(std::expm1(log_chi)) : 1;
    // Written so that what is no number says nothing.
    return std::min(-std::expm1(log_same), chi < 1 ? chi : 1.0) * (1 + 1e-9);
}

double epsilon_of_tests(std::span<const SampledRounds> rounds, double delta) {
    double best = 0;
    for (const SampledRounds& one : rounds)
        for_tests(one, [&](const Test& test) {
            if (test.with > delta)
                best = std::max(best, std::log(test.with - delta) - test.log_without);
        });
    return best;
}

double delta_of_tests(std::span<const SampledRounds> rounds, double epsilon) {
    double best = 0;
    for (const SampledRounds& one : rounds)
        for_tests(one, [&](const Test& test) {
            best = std::max(best, test.with - std::exp(std::min(epsilon + test.log_without, 1.0)));
        });
    return best;
}

Certified agreed(const Certified& one, const Certified& other) {
    const Certified known{std::min(one.upper, other.upper), std::max(one.lower, other.lower)};
    // Written so that NaN fails.
    if (!(known.lower <= known.upper * (1 + 1e-6) + 1e-300) || std::isnan(other.upper) ||
        std::isnan(other.lower))
        throw PrivacyError(fmt::format(
            "sampled rounds: independent bounds contradict each other: from {:.9g} to {:.9g}, and "
            "from {:.9g} to {:.9g}; this is an error of the program, please report it with the "
            "command",
            one.lower,
            one.upper,
            other.lower,
            other.upper));
    return {known.upper, std::min(known.lower, known.upper)};
}

}  // namespace sotto
