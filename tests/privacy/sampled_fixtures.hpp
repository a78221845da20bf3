#pragma once

// One sampled round by numerical integration, independent of the accountant.

#include <algorithm>
#include <cmath>

namespace sotto {

/// int (P - e^epsilon Q)+ or int (Q - e^epsilon P)+ by the midpoint rule, in long double.
inline double delta_of_one_round(double noise, double probability, double epsilon, bool removed) {
    const long double s = noise, q = probability,
                      factor = std::exp(static_cast<long double>(epsilon));
    const long double from = -14 * s, to = 1 + 14 * s;
    constexpr long steps = 400000;
    const long double width = (to - from) / steps;
    const auto density = [&](long double x) { return std::exp(-x * x / (2 * s * s)); };
    long double sum = 0;
    for (long i = 0; i < steps; ++i) {
        const long double x = from + width * (static_cast<long double>(i) + 0.5L);
        const long double without = density(x), with = (1 - q) * without + q * density(x - 1);
        sum += std::max(0.0L, removed ? with - factor * without : without - factor * with);
    }
    return static_cast<double>(sum * width / (s * std::sqrt(2 * 3.14159265358979323846L)));
}

/// Of the worse direction.
inline double delta_of_one_round(double noise, double probability, double epsilon) {
    return std::max(delta_of_one_round(noise, probability, epsilon, true),
                    delta_of_one_round(noise, probability, epsilon, false));
}

}  // namespace sotto
