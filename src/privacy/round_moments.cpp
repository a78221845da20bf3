#include "privacy/round_moments.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "privacy/normal_tails.hpp"
#include "privacy/round_losses.hpp"

namespace sotto {

namespace {

constexpr double lowest_tilt = 1e-9;
/// Below it nothing is resolved: Phi of it is 1e-299.
constexpr double lowest_point = -37;
/// Where one summand of 1 - q + q e^y is below e^-40 of the other.
constexpr double negligible_odds = 40;
/// Rounding of sums, and Gauss-Legendre's error, of one round's moment.
constexpr double moment_error = 1e-12;

/// The tilt up to `highest` where `value` is least: it has one minimum, so powers of 4 from 1 to
/// where it rises, then Brent's method between neighbours. Every tilt gives a bound, so the search
/// need not be exact.
template <class Value>
TiltedEstimate least_over_tilts(const Value& value, double highest) {
    const double start = std::min(1.0, highest);
    TiltedEstimate best{start, value(start)};
    for (const double factor : {4.0, 0.25}) {
        for (double tilt = best.tilt * factor; tilt <= highest && tilt >= lowest_tilt;
             tilt *= factor) {
            const double found = value(tilt);
            if (!(found < best.value)) break;
            best = {tilt, found};
        }
        if (best.tilt > start) break;
    }
    std::uintmax_t iterations = 16;
    const auto [logarithm, found] = boost::math::tools::brent_find_minima(
        [&](double at) { return value(std::min(std::exp(at), highest)); },
        std::log(best.tilt / 4),
        std::log(std::min(best.tilt * 4, highest)),
        12,
        iterations);
    return found < best.value ? TiltedEstimate{std::exp(logarithm), found} : best;
}

}  // namespace

std::vector<double> highest_points(std::span<const SampledRounds> rounds, double mass) {
    std::vector<double> points;
    for (const SampledRounds& one : rounds) {
        const double there = mass / 2 / one.sampling_probability;
        const double point = normal_tail_point(mass / 2);
        points.push_back(there < 0.5
                             ? std::max(point, 1 / one.noise_multiplier + normal_tail_point(there))
                             : point);
    }
    return points;
}

RoundMoments::RoundMoments(std::span<const SampledRounds> rounds,
                           const ExactParts& exact,
                           double tail)
    : RoundMoments(rounds, exact, highest_points(rounds, tail)) {}

RoundMoments::RoundMoments(std::span<const SampledRounds> rounds,
                           const ExactParts& exact,
                           std::span<const double> highest)
    : exact_(exact) {
    for (std::size_t g = 0; g < rounds.size(); ++g) {
        const SampledRounds& one = rounds[g];
        const double s = one.noise_multiplier, q = one.sampling_probability;
        Group& group = groups_.emplace_back();
        group.noise = s;
        group.probability = q;
        group.count = static_cast<double>(one.count);
        group.highest = highest[g];
        // y = z/s - 1/(2 s^2) is the logarithm of (1 - q)/q here: both summands are equal.
        const double equal = s * std::log((1 - q) / q) + 0.5 / s;
        const double width = negligible_odds * s;
        group.below = equal - width > lowest_point;
        group.above = equal + width < group.highest;
        group.low = std::min(std::max(equal - width, lowest_point), group.highest);
        group.high = std::max(std::min(equal + width, group.highest), group.low);
        unresolved_ +=
            group.count * (1 + 1e-9) *
            ((1 - q) * normal_above(group.highest) + q * normal_above(group.highest - 1 / s));
        add_panels(group);
    }
}

void RoundMoments::add_panels(Group& group) {
    // The density changes by at most e^2 in a panel.
    const double widest = std::min(0.25 * group.noise,
                                   2 / std::max({std::abs(group.low), std::abs(group.high), 1.0}));
    const auto panels =
        std::max(1L, static_cast<long>(std::ceil((group.high - group.low) / widest)));
    const double half = (group.high - group.low) / static_cast<double>(panels) / 2;
    const double scale = std::log(half / std::sqrt(2 * std::numbers::pi));
    if (!(half > 0)) return;
    // Positive nodes on [-1, 1], in ascending order.
    using Rule = boost::math::quadrature::gauss<double, 10>;
    const auto& nodes = Rule::abscissa();
    const auto& weights = Rule::weights();
    group.losses.resize(2 * std::ssize(nodes) * panels);
    group.log_under_q.resize(group.losses.size());
    double steepest = 0;
    Eigen::Index at = 0;
    for (long i = 0; i < panels; ++i) {
        const double centre = group.low + half * static_cast<double>(2 * i + 1);
        for (std::size_t k = 0; k < 2 * nodes.size(); ++k) {
            const std::size_t node = k / 2;
            const double z = centre + half * (k % 2 == 0 ? nodes[node] : -nodes[node]);
            group.losses(at) = sampled_loss(group.noise, group.probability, z);
            group.log_under_q(at++) = scale + std::log(weights[node]) - 0.5 * z * z;
        }
        // Between the outermost nodes.
        steepest = std::max(steepest, group.losses(at - 2) - group.losses(at - 1));
    }
    // What changes by e^6 in a panel in all is integrated to 1e-13.
    if (steepest > 0) highest_tilt_ = std::min(highest_tilt_, 4 / steepest);
}

double RoundMoments::log_moment(const Group& group, Direction direction, double tilt) {
    // E_Q e^(power x) is the moment: power = 1 + tilt (remove) or -tilt (add).
    const double power = direction == Direction::remove ? 1 + tilt : -tilt;
    const double q = group.probability, s = group.noise;
    // The summand that is left out is below e^-40.
    const double left_out = std::max(power, 0.0) * std::exp(-negligible_odds);
    // Logarithms of what lies below the nodes, above them, and at them.
    const double below =
        log_normal_above(-group.low) +
        power * (group.below || direction == Direction::add ? std::log1p(-q)
                                                            : sampled_loss(s, q, group.low)) +
        left_out;
    double above = -HUGE_VAL;
    if (group.above) {
        const double centre = power / s;
        const double log_mass =
            direction == Direction::remove
                ? log_normal_between(group.high - centre, group.highest - centre)
                : log_normal_above(group.high - centre);
        above = power * std::log(q) + 0.5 * power * (power - 1) / (s * s) + log_mass + left_out;
    } else if (direction == Direction::add) {
        above = log_normal_above(group.high) + power * sampled_loss(s, q, group.high);
    }
    const Eigen::ArrayXd nodes = group.log_under_q + power * group.losses;
    const double top = std::max({below, above, nodes.size() > 0 ? nodes.maxCoeff() : -HUGE_VAL});
    return std::log((nodes - top).exp().sum() + std::exp(below - top) + std::exp(above - top)) +
           top + moment_error;
}

double RoundMoments::log_moment(Direction direction, double tilt) const {
    double all = exact_log_moment(exact_, tilt);
    for (const Group& group : groups_) all += group.count * log_moment(group, direction, tilt);
    return all;
}

double RoundMoments::widest_step(Direction direction,
                                 double tilt,
                                 double allowed,
                                 double widest) const {
    const double power = direction == Direction::remove ? 1 + tilt : -tilt;
    std::vector<Eigen::ArrayXd> tilted;  // probabilities of nodes
    for (const Group& group : groups_)
        tilted.emplace_back(
            (group.log_under_q + power * group.losses - log_moment(group, direction, tilt)).exp());
    const auto error = [&](double step) {
        double all = 0;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const Group& group = groups_[g];
            const Eigen::ArrayXd cells = (group.losses - std::log1p(-group.probability)) / step;
            const Eigen::ArrayXd down = cells - cells.floor();
            const double above = group.above ? 1.0 / 6 : 0;
            all += group.count * step * step * ((tilted[g] * down * (1 - down)).sum() + above);
        }
        return 0.5 * tilt * (tilt + 1) * all;
    };
    int enough = 200, too_much = -1;  // fourth roots of 1/2
    while (enough - too_much > 1) {
        const int middle = (enough + too_much) / 2;
        (error(widest * std::exp2(-0.25 * middle)) <= allowed ? enough : too_much) = middle;
    }
    return widest * std::exp2(-0.25 * enough);
}

TiltedEstimate estimate_epsilon(const RoundMoments& moments, Direction direction, double delta) {
    const double left = delta - moments.unresolved(direction);
    if (!(left > 0)) return {1, HUGE_VAL};
    return least_over_tilts(
        [&](double tilt) {
            return (moments.log_moment(direction, tilt) + log_chernoff_factor(tilt) -
                    std::log(left)) /
                   tilt;
        },
        moments.highest_tilt());
}

TiltedEstimate estimate_log_delta(const RoundMoments& moments,
                                  Direction direction,
                                  double epsilon) {
    return least_over_tilts(
        [&](double tilt) {
            return moments.log_moment(direction, tilt) + log_chernoff_factor(tilt) - tilt * epsilon;
        },
        moments.highest_tilt());
}

double small_tilt(const RoundMoments& moments,
                  Direction direction,
                  double epsilon,
                  double enough,
                  double best) {
    // The bound falls up to the best tilt.
    double low = std::log(lowest_tilt), high = std::log(best);
    for (int i = 0; i < 8; ++i) {
        const double middle = 0.5 * (low + high), tilt = std::exp(middle);
        (moments.log_moment(direction, tilt) + log_chernoff_factor(tilt) - tilt * epsilon <= enough
             ? high
             : low) = middle;
    }
    return std::exp(high);
}

double log_chernoff_factor(double tilt) {
    return tilt * std::log(tilt) - (1 + tilt) * std::log1p(tilt);
}

}  // namespace sotto
