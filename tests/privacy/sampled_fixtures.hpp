#pragma once

// One sampled round, and one epoch of two rounds, by numerical integration, independent of the
// accountant.

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

/// The same for an epoch of two rounds in one of which the record is, in the plane.
inline double delta_of_one_epoch(double noise, double epsilon, bool removed) {
    const double s = noise, factor = std::exp(epsilon);
    const double from = -9 * s, to = 1 + 9 * s;
    constexpr int steps = 1500;
    const double width = (to - from) / steps;
    const auto ratio = [&](double x) { return std::exp((x - 0.5) / (s * s)); };
    const auto density = [&](double x) { return std::exp(-x * x / (2 * s * s)); };
    double sum = 0;
    for (int i = 0; i < steps; ++i) {
        const double x = from + width * (i + 0.5);
        for (int j = 0; j < steps; ++j) {
            const double y = from + width * (j + 0.5);
            const double with = 0.5 * (ratio(x) + ratio(y));
            sum += density(x) * density(y) *
                   std::max(0.0, removed ? with - factor : 1 - factor * with);
        }
    }
    return sum * width * width / (2 * 3.14159265358979323846 * s * s);
}

/// Of the worse direction.
inline double delta_of_one_round(double noise, double probability, double epsilon) {
    return std::max(delta_of_one_round(noise, probability, epsilon, true),
                    delta_of_one_round(noise, probability, epsilon, false));
}

}  // namespace sotto
