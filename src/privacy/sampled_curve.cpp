#include "privacy/sampled_curve.hpp"

#include <algorithm>
#include <array>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "privacy/round_losses.hpp"
#include "privacy/round_moments.hpp"
#include "privacy/tilted_composition.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

constexpr double most_cells = 1e6;
constexpr int most_attempts = 6;
constexpr std::array<Direction, 2> directions{Direction::remove, Direction::add};

using BoundsOfRounds = std::vector<std::shared_ptr<const RoundBounds>>;

/// The last bounds that were made: those of a run are the same ones, for any number of rounds.
std::shared_ptr<const RoundBounds> cached_bounds(const SampledRounds& rounds,
                                                 double step,
                                                 double tail) {
    struct Entry {
        std::array<double, 4> key;
        std::shared_ptr<const RoundBounds> bounds;
    };
    static std::mutex mutex;
    static std::vector<Entry> kept;
    constexpr std::size_t most_kept = 8;
    const std::array<double, 4> key{
        rounds.noise_multiplier, rounds.sampling_probability, step, tail};
    {
        const std::lock_guard lock(mutex);
        for (const Entry& entry : kept)
            if (entry.key == key) return entry.bounds;
    }
    auto made = std::make_shared<const RoundBounds>(
        bound_round(rounds.noise_multiplier, rounds.sampling_probability, step, tail));
    const std::lock_guard lock(mutex);
    if (kept.size() == most_kept) kept.erase(kept.begin());
    kept.push_back({key, made});
    return made;
}

double rounds_of(std::span<const SampledRounds> rounds) {
    double count = 0;
    for (const SampledRounds& one : rounds) count += static_cast<double>(one.count);
    return count;
}

/// Rounded down to one of few values, so that bounds of rounds can be used again.
double rounded_step(double step) { return std::exp2(std::floor(4 * std::log2(step)) / 4); }
double rounded_tail(double tail) {
    return std::max(std::pow(10, 4 * std::floor(std::log10(tail) / 4)), 1e-290);
}

/// Of each direction.
using Tilts = std::array<double, 2>;

/// Everything that is asked about one composition on one lattice.
class Attempt {
  public:
    Attempt(std::span<const SampledRounds> rounds,
            const ExactParts& exact,
            const Tilts& tilts,
            double step,
            double tail) {
        BoundsOfRounds bounds;
        for (const SampledRounds& one : rounds) {
            bounds.push_back(cached_bounds(one, step, tail));
            location_error_ +=
                static_cast<double>(one.count) * bounds.back()->location_error + 1e-15;
        }
        for (const Direction direction : directions) {
            std::vector<LatticeGroup> upper, lower;
            for (std::size_t g = 0; g < rounds.size(); ++g) {
                const bool removed = direction == Direction::remove;
                const LatticeLosses& above = bounds[g]->upper;
                const LatticeLosses& below = bounds[g]->lower;
                upper.push_back({removed ? &above.remove : &above.add, rounds[g].count});
                lower.push_back({removed ? &below.remove : &below.add, rounds[g].count});
            }
            const double tilt = tilts[static_cast<std::size_t>(direction)];
            upper_.emplace_back(upper, exact, tilt);
            if (std::ranges::none_of(
                    lower, [](const LatticeGroup& group) { return group.loss->mass.empty(); }))
                lower_.emplace_back(lower, exact, tilt);
        }
    }

    [[nodiscard]] bool too_long() const {
        return std::ranges::any_of(upper_,
                                   [](const TiltedComposition& one) { return one.length() == 0; });
    }

    /// Lattice losses may be misplaced by their rounding errors.
    [[nodiscard]] Certified delta(double epsilon) const {
        Certified worse;
        for (const TiltedComposition& one : upper_)
            worse.upper =
                std::max(worse.upper, one.delta(std::max(epsilon - location_error_, 0.0)).upper);
        for (const TiltedComposition& one : lower_)
            worse.lower = std::max(worse.lower, one.delta(epsilon + location_error_).lower);
        return worse;
    }

    /// @param guesses of each direction.
    [[nodiscard]] Certified epsilon(double delta, const Tilts& guesses, const Tilts& tilts) const {
        Certified worse;
        for (std::size_t d = 0; d < upper_.size(); ++d) {
            const auto above = [&](double at) { return upper_[d].delta(at).upper; };
            worse.upper =
                std::max(worse.upper, crossing(above, delta, guesses[d], tilts[d]).second);
            if (lower_.size() != upper_.size()) continue;
            const auto below = [&](double at) { return lower_[d].delta(at).lower; };
            worse.lower = std::max(worse.lower, crossing(below, delta, guesses[d], tilts[d]).first);
        }
        worse.upper += worse.upper > 0 ? location_error_ : 0;
        worse.lower = std::max(worse.lower - location_error_, 0.0);
        return worse;
    }

  private:
    /// Two close epsilons: above `delta` at the first (unless it is 0), not above at the second.
    template <class Curve>
    static std::pair<double, double> crossing(const Curve& curve,
                                              double delta,
                                              double guess,
                                              double tilt) {
        const auto excess = [&](double at) {
            return std::log(std::max(curve(at), 1e-320)) - std::log(delta);
        };
        double high = std::max(guess, 0.0), at_high = excess(high);
        for (int i = 0; at_high > 0; ++i) {
            if (i == 60) return {high, infinity};
            high += std::max(at_high / tilt, 1e-3 * high);
            at_high = excess(high);
        }
        if (high == 0) return {0, 0};
        // The curve falls at least as fast as e^(-tilt epsilon) below.
        double low = high, at_low = at_high;
        for (double reach = -at_high / tilt; at_low <= 0 && low > 0; reach *= 2) {
            low = std::max(0.0, low - std::max(reach, 1e-6 * high));
            at_low = excess(low);
            if (at_low <= 0) {
                high = low;
                at_high = at_low;
            }
        }
        if (!(at_low > 0)) return {0, high};
        std::uintmax_t iterations = 60;
        return boost::math::tools::toms748_solve(excess,
                                                 low,
                                                 high,
                                                 at_low,
                                                 at_high,
                                                 boost::math::tools::eps_tolerance<double>(24),
                                                 iterations);
    }

    std::vector<TiltedComposition> upper_, lower_;  // by direction
    double location_error_ = 0;
};

/// Where a search over lattices begins and ends.
struct Search {
    double step = 0;   // of the first lattice
    double tail = 0;   // of one round, that is not resolved
    double most = 0;   // the figure where nothing is known
    double floor = 0;  // a gap that is small enough in any case
};

/// Refines the lattice until bounds are close enough.
/// @param ask what to ask an attempt.
template <class Ask>
Certified refined(std::span<const SampledRounds> rounds,
                  const ExactParts& exact,
                  const Tilts& tilts,
                  const Search& search,
                  const Ask& ask) {
    double widest = 0;
    for (const SampledRounds& one : rounds)
        widest = std::max(widest,
                          widest_loss(one.noise_multiplier, one.sampling_probability, search.tail));
    Certified best{search.most, 0};
    double step = search.step, least_step = widest / most_cells;
    for (int i = 0; i < most_attempts; ++i) {
        step = rounded_step(std::clamp(step, least_step, widest));
        const Attempt attempt(rounds, exact, tilts, step, search.tail);
        if (attempt.too_long()) {
            least_step = 2 * step;
            step *= 4;
            continue;
        }
        const Certified found = ask(attempt);
        best.upper = std::min(best.upper, found.upper);
        best.lower = std::max(best.lower, found.lower);
        const double gap = best.upper - best.lower;
        if (gap <= curve_gap * best.upper + search.floor || step <= least_step) break;
        const double share = std::sqrt(curve_gap * best.upper / gap);
        step *= std::isfinite(share) ? std::clamp(0.8 * share, 0.1, 0.8) : 0.1;
    }
    return best;
}

/// Where to look, by direction. A direction that costs less needs no better tilt than that its
/// errors are small beside what the other costs: beyond its largest loss the best tilt is infinite.
struct Plan {
    Tilts tilts{}, values{};
    std::size_t worse = 0;

    void choose() {
        worse = values[1] > values[0] ? 1 : 0;
        tilts[1 - worse] = std::min(tilts[1 - worse], 4 * tilts[worse]);
    }
    /// One round on cells of this width moves the logarithm of the moment by about
    /// tilt (tilt + 1) step^2 / 8 in all, upper and lower bound together.
    [[nodiscard]] double step_for(double allowed, double rounds) const {
        const double tilt = tilts[worse];
        return std::sqrt(8 * allowed / (tilt * (tilt + 1) * rounds));
    }
};

Certified compute_epsilon(std::span<const SampledRounds> rounds,
                          const ExactParts& exact,
                          double delta) {
    const double count = rounds_of(rounds), tail = rounded_tail(1e-7 * delta / count);
    const RoundMoments moments(rounds, exact, tail);
    Plan plan;
    for (const Direction direction : directions) {
        const TiltedEstimate found = estimate_epsilon(moments, direction, delta);
        plan.tilts[static_cast<std::size_t>(direction)] = found.tilt;
        plan.values[static_cast<std::size_t>(direction)] = found.value;
    }
    plan.choose();
    const double exponent = std::max(plan.tilts[plan.worse] * plan.values[plan.worse], 1e-2);
    const double step = plan.step_for(0.4 * curve_gap * exponent, count);
    return refined(rounds, exact, plan.tilts, {step, tail, infinity, 1e-12}, [&](const Attempt& a) {
        return a.epsilon(delta, plan.values, plan.tilts);
    });
}

}  // namespace

Certified sampled_delta(std::span<const SampledRounds> rounds,
                        const ExactParts& exact,
                        double epsilon) {
    const double count = rounds_of(rounds);
    Plan plan;
    const RoundMoments moments(rounds, exact, 1e-290);
    for (const Direction direction : directions) {
        const TiltedEstimate found = estimate_log_delta(moments, direction, epsilon);
        plan.tilts[static_cast<std::size_t>(direction)] = found.tilt;
        plan.values[static_cast<std::size_t>(direction)] = found.value;
    }
    plan.choose();
    const double tail =
        rounded_tail(std::exp(std::max(plan.values[plan.worse], -600.0)) * 1e-9 / count);
    const double step = plan.step_for(0.4 * curve_gap, count);
    return refined(rounds, exact, plan.tilts, {step, tail, 1, 1e-25}, [&](const Attempt& attempt) {
        return attempt.delta(epsilon);
    });
}

Certified sampled_epsilon(std::span<const SampledRounds> rounds,
                          const ExactParts& exact,
                          double delta) {
    static std::mutex mutex;
    static std::map<std::vector<double>, Certified> known;
    constexpr std::size_t most_known = 20000;
    std::vector<double> question{delta, exact.mu_squared, exact.pure};
    for (const SampledRounds& one : rounds)
        question.insert(
            question.end(),
            {one.noise_multiplier, one.sampling_probability, static_cast<double>(one.count)});
    {
        const std::lock_guard lock(mutex);
        if (const auto found = known.find(question); found != known.end()) return found->second;
    }
    const Certified answer = compute_epsilon(rounds, exact, delta);
    const std::lock_guard lock(mutex);
    if (known.size() >= most_known) known.clear();
    known.emplace(std::move(question), answer);
    return answer;
}

}  // namespace sotto
