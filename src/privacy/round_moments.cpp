#include "privacy/round_moments.hpp"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <cstdint>

#include "privacy/round_losses.hpp"

namespace sotto {

namespace {

constexpr double lowest_tilt = 1e-3, highest_tilt = 1e9;

/// log of c in (1 - e^-x)+ <= c e^(tilt x).
double log_factor(double tilt) { return tilt * std::log(tilt) - (1 + tilt) * std::log1p(tilt); }

/// The tilt where `value` is least: powers of 2, then Brent's method between neighbours.
template <class Value>
TiltedEstimate least_over_tilts(const Value& value) {
    double best = lowest_tilt, least = HUGE_VAL;
    for (double tilt = lowest_tilt; tilt < highest_tilt; tilt *= 2)
        if (const double found = value(tilt); found < least) {
            least = found;
            best = tilt;
        }
    std::uintmax_t iterations = 20;
    const auto [logarithm, found] =
        boost::math::tools::brent_find_minima([&](double at) { return value(std::exp(at)); },
                                              std::log(best / 2),
                                              std::log(best * 2),
                                              12,
                                              iterations);
    return {std::exp(logarithm), found};
}

}  // namespace

RoundMoments::RoundMoments(std::span<const SampledRounds> rounds,
                           const ExactParts& exact,
                           double tail)
    : exact_(exact) {
    for (const SampledRounds& one : rounds) {
        Group& group = groups_.emplace_back();
        group.count = static_cast<double>(one.count);
        const double noise = one.noise_multiplier;
        const double high = 1 / noise + normal_tail_point(tail), low = -12;
        const double width = 0.1 * std::clamp(noise, 0.02, 1.0);
        for (double z = low; z < high; z += width) {
            const double loss = sampled_loss(noise, one.sampling_probability, z);
            const double density = std::log(width / 2.5066282746310002) - 0.5 * z * z;
            group.losses.push_back(loss);
            group.log_under_q.push_back(density);
            group.log_under_p.push_back(density + loss);
        }
    }
}

double RoundMoments::log_moment(Direction direction, double tilt) const {
    double all = exact_log_moment(exact_, tilt);
    const double sign = direction == Direction::remove ? 1 : -1;
    for (const Group& group : groups_) {
        const auto& base = direction == Direction::remove ? group.log_under_p : group.log_under_q;
        double top = -HUGE_VAL, sum = 0;
        for (std::size_t i = 0; i < base.size(); ++i)
            top = std::max(top, base[i] + sign * tilt * group.losses[i]);
        for (std::size_t i = 0; i < base.size(); ++i)
            sum += std::exp(base[i] + sign * tilt * group.losses[i] - top);
        all += group.count * (std::log(sum) + top);
    }
    return all;
}

TiltedEstimate estimate_epsilon(const RoundMoments& moments, Direction direction, double delta) {
    return least_over_tilts([&](double tilt) {
        return (moments.log_moment(direction, tilt) + log_factor(tilt) - std::log(delta)) / tilt;
    });
}

TiltedEstimate estimate_log_delta(const RoundMoments& moments,
                                  Direction direction,
                                  double epsilon) {
    return least_over_tilts([&](double tilt) {
        return moments.log_moment(direction, tilt) + log_factor(tilt) - tilt * epsilon;
    });
}

}  // namespace sotto
