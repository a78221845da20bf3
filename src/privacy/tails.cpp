#include "sotto/privacy/tails.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/plan/drawn_normals.hpp"

namespace sotto {

double tail_delta(StreamDistribution noise, double shift) {
    if (!(shift >= 0))
        throw PrivacyError(fmt::format("tails: a shift of {} is not possible", shift));
    switch (noise) {
        case StreamDistribution::laplace:
            return std::min(1.0, 20 * std::exp(shift - tail_radius * tail_radius / 2));
        case StreamDistribution::gaussian:
            break;
    }
    const double room = std::max(0.0, tail_radius - shift);
    return std::min(1.0, 5 * std::exp(-room * room / 2));
}

void require_small_tails(const Tails& tails, double delta) {
    if (tails.allowed()) return;
    throw PrivacyError(
        fmt::format("tails: {:.6g} values of noise add {:.3g} to delta {:g}, at most {:.3g} is "
                    "allowed: too much is revealed in one round for noise that ends after {:.4g} "
                    "standard deviations; use a smaller --epsilon, more --rounds, or a larger "
                    "--delta",
                    tails.values,
                    tails.delta,
                    delta,
                    tails.most,
                    tail_radius));
}

}  // namespace sotto
