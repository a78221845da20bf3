#include "privacy/sampled_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <optional>
#include <tuple>
#include <vector>

#include "core/numbers.hpp"
#include "privacy/normal_tails.hpp"
#include "privacy/round_losses.hpp"
#include "privacy/tilted_composition.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr double most_cells = 3e5;
constexpr double most_cells_of_an_epoch = 8e3;
constexpr double widest_step = 300;
constexpr int most_attempts = 6;
/// Share of delta that errors should stay below.
constexpr double negligible_share = 1e-4;
constexpr std::array<Direction, 2> directions{Direction::remove, Direction::add};

using BoundsOfRounds = std::vector<std::shared_ptr<const RoundBounds>>;

/// Cache of bounds: a run uses the same ones for any number of rounds, for each of its agents.
std::shared_ptr<const RoundBounds> cached_bounds(const SampledRounds& rounds,
                                                 double step,
                                                 double tail) {
    using Key = std::array<double, 5>;
    static std::mutex mutex;
    static std::map<Key, std::shared_ptr<const RoundBounds>> kept;
    static std::size_t cells = 0;
    constexpr std::size_t most_kept_cells = std::size_t{1} << 22;
    const Key key{rounds.noise_multiplier,
                  rounds.sampling_probability,
                  static_cast<double>(rounds.rounds_an_epoch),
                  step,
                  tail};
    {
        const std::lock_guard lock(mutex);
        if (const auto found = kept.find(key); found != kept.end()) return found->second;
    }
    auto made = std::make_shared<const RoundBounds>(bound(rounds, step, tail));
    std::size_t more = 0;
    for (const LatticeLosses* one : {&made->upper, &made->lower})
        more += one->remove.mass.size() + one->add.mass.size();
    const std::lock_guard lock(mutex);
    if (cells + more > most_kept_cells) {
        kept.clear();
        cells = 0;
    }
    if (kept.emplace(key, made).second) cells += more;
    return made;
}

double rounds_of(std::span<const SampledRounds> rounds) {
    double count = 0;
    for (const SampledRounds& one : rounds) count += static_cast<double>(one.count);
    return count;
}

/// Rounded down to one of few values, so that cached bounds can be reused.
double rounded_step(double step) { return std::exp2(std::floor(4 * std::log2(step)) / 4); }
double rounded_tail(double tail) {
    return std::max(std::pow(10, 4 * std::floor(std::log10(tail) / 4)), 1e-290);
}

/// One per direction.
using Tilts = std::array<double, 2>;

/// A question about a composition.
struct Question {
    std::span<const SampledRounds> rounds;
    const ExactParts& exact;
    double tail = 0;   // unresolved mass of one round
    double floor = 0;  // a gap between bounds that is always small enough
};

/// Search parameters.
struct Look {
    Tilts tilts{};  // of both directions
    Direction worse = Direction::remove;
    double slope = 0;                // the tilt of the worse direction's smallest Chernoff bound
    double exponent = 0;             // slope times epsilon
    double epsilon = 0, enough = 0;  // the tilts' bound on log(delta) at epsilon
    /// For every kind of rounds the z above which losses are jumps; empty without jumps.
    std::vector<double> jumps;
};

/// Tilts for this epsilon: small ones, which have short windows, as long as Chernoff's bound, to
/// which errors are relative (`error`), is not so far above delta that they matter. For the less
/// costly direction errors need only be small beside the other's delta.
Look look_at(const Question& question,
             const RoundMoments& moments,
             const Certified& known,
             double log_delta,
             double error) {
    Look look;
    double epsilon = known.upper;
    std::array<TiltedEstimate, 2> least{};
    for (std::size_t d = 0; d < directions.size(); ++d)
        least[d] = estimate_log_delta(moments, directions[d], epsilon);
    const std::size_t worse = least[1].value > least[0].value ? 1 : 0;
    look.epsilon = epsilon;
    look.enough = log_delta + std::log(negligible_share / error);
    for (std::size_t d = 0; d < directions.size(); ++d)
        look.tilts[d] = small_tilt(moments,
                                   directions[d],
                                   epsilon,
                                   std::max(least[worse].value + 1, look.enough),
                                   least[d].tilt);
    look.worse = directions[worse];
    look.slope = least[worse].tilt;
    look.exponent = std::max(look.slope * epsilon, 1e-2);
    if (least[0].value <= look.enough + 2.5) return look;
    // No tilt suffices: use jumps, of which pairs make a ten-thousandth of delta. Epochs have none.
    if (std::ranges::any_of(question.rounds, &SampledRounds::is_allocated)) return look;
    const double mass = 1e-2 * std::exp(0.5 * log_delta) / rounds_of(question.rounds);
    if (!(mass > 10 * question.tail)) return look;
    look.jumps = highest_points(question.rounds, mass);
    // A tilt that suffices at a smaller epsilon suffices at a larger one.
    look.epsilon = epsilon = std::max(known.lower, 1e-3 * known.upper);
    const RoundMoments others(question.rounds, question.exact, look.jumps);
    look.tilts[0] = small_tilt(others,
                               Direction::remove,
                               epsilon,
                               look.enough,
                               estimate_log_delta(others, Direction::remove, epsilon).tilt);
    return look;
}

/// The widest step whose lattice changes the figure by a relative `gap`.
double step_for(const RoundMoments& moments, const Look& look, double gap, double widest) {
    // Chernoff bounds say little about a delta dominated by jumps.
    if (!look.jumps.empty())
        return rounded_step(std::min(widest, look.epsilon * std::sqrt(2 * gap)));
    return moments.widest_step(
        look.worse, look.slope, 0.4 * gap * look.exponent, rounded_step(widest));
}

/// All questions about one composition on one lattice.
class Attempt {
  public:
    Attempt(const Question& question, const Look& look, double step) {
        const auto& rounds = question.rounds;
        BoundsOfRounds bounds;
        for (const SampledRounds& one : rounds) {
            bounds.push_back(cached_bounds(one, step, question.tail));
            location_error_ +=
                static_cast<double>(one.count) * bounds.back()->location_error + 1e-15;
        }
        std::vector<double> cuts;
        for (std::size_t g = 0; g < look.jumps.size(); ++g)
            cuts.push_back(sampled_loss(
                rounds[g].noise_multiplier, rounds[g].sampling_probability, look.jumps[g]));
        for (const Direction direction : directions) {
            const bool removed = direction == Direction::remove;
            std::vector<LatticeGroup> upper, lower;
            for (std::size_t g = 0; g < rounds.size(); ++g) {
                const LatticeLosses& above = bounds[g]->upper;
                const LatticeLosses& below = bounds[g]->lower;
                upper.push_back({removed ? &above.remove : &above.add, rounds[g].count});
                lower.push_back({removed ? &below.remove : &below.add, rounds[g].count});
            }
            const double tilt = look.tilts[static_cast<std::size_t>(direction)];
            const auto curve_of = [&](const std::vector<LatticeGroup>& groups) {
                return removed && !cuts.empty()
                           ? LatticeCurve(
                                 groups, cuts, question.exact, tilt, look.epsilon, look.enough)
                           : LatticeCurve(groups, question.exact, tilt);
            };
            upper_.push_back(curve_of(upper));
            lower_.push_back(curve_of(lower));
        }
    }

    /// Ratio of the longest needed transform to the longest allowed; at most 1 if all were made.
    [[nodiscard]] double too_long() const {
        double longest = 0;
        for (const auto* both : {&upper_, &lower_})
            for (const LatticeCurve& one : *both) longest = std::max(longest, one.wanted_length());
        return longest / most_transformed;
    }

    /// The largest error relative to Chernoff's bound.
    [[nodiscard]] double error() const {
        double largest = 1e-13;
        for (const auto* both : {&upper_, &lower_})
            for (const LatticeCurve& one : *both) largest = std::max(largest, one.error());
        return largest;
    }

    /// Lattice losses may be shifted by their rounding errors.
    [[nodiscard]] Certified delta(double epsilon) const {
        Certified worse;
        for (const LatticeCurve& one : upper_)
            worse.upper =
                std::max(worse.upper, one.delta(std::max(epsilon - location_error_, 0.0)).upper);
        for (const LatticeCurve& one : lower_)
            worse.lower = std::max(worse.lower, one.delta(epsilon + location_error_).lower);
        return worse;
    }

    /// @param bracket epsilons that enclose the result.
    [[nodiscard]] Certified epsilon(double delta, const Certified& bracket) const {
        Certified worse;
        for (const LatticeCurve& one : upper_)
            worse.upper = std::max(
                worse.upper,
                crossing([&](double at) { return one.delta(at).upper; }, delta, bracket).upper);
        for (const LatticeCurve& one : lower_)
            worse.lower = std::max(
                worse.lower,
                crossing([&](double at) { return one.delta(at).lower; }, delta, bracket).lower);
        worse.upper += worse.upper > 0 ? location_error_ + 1e-14 * worse.upper : 0;
        worse.lower = std::max(worse.lower * (1 - 1e-14) - location_error_, 0.0);
        return worse;
    }

  private:
    /// Two close epsilons within the bracket: not above `delta` at the upper one and above at the
    /// lower one, except at the bracket's ends. Searched from above, since errors may exceed the
    /// curve far below.
    template <class DeltaAt>
    static Certified crossing(const DeltaAt& curve, double delta, const Certified& bracket) {
        const auto excess = [&](double at) {
            return std::log(std::max(curve(at), 1e-320)) - std::log(delta);
        };
        double high = bracket.upper, at_high = excess(high), low = high, at_low = at_high;
        if (at_high > 0) return {high, high};
        for (double reach = 1e-4; at_low <= 0 && low > bracket.lower; reach *= 4) {
            high = low;
            at_high = at_low;
            low = std::max(bracket.lower, bracket.upper * (1 - reach));
            at_low = excess(low);
        }
        if (!(at_low > 0)) return {low, low};
        std::uintmax_t iterations = 100;
        std::tie(low, high) =
            boost::math::tools::toms748_solve(excess,
                                              low,
                                              high,
                                              at_low,
                                              at_high,
                                              boost::math::tools::eps_tolerance<double>(44),
                                              iterations);
        return {high, low};
    }

    std::vector<LatticeCurve> upper_, lower_;  // by direction
    double location_error_ = 0;
};

/// Refines the lattice until the bounds are close enough.
/// @param bracket bounds without a lattice.
/// @param tilts_at the tilts for the figure `known`.
/// @param ask what to ask an attempt.
template <class TiltsAt, class Ask>
Certified refined(const Question& question,
                  const RoundMoments& moments,
                  const Certified& bracket,
                  const TiltsAt& tilts_at,
                  const Ask& ask) {
    double widest = 0, least_step = 0;
    for (const SampledRounds& one : question.rounds) {
        const double of_one = widest_loss(one, question.tail);
        widest = std::max(widest, of_one);
        const double most =
            one.is_allocated()
                ? most_cells_of_an_epoch * first_width(one.noise_multiplier, one.rounds_an_epoch)
                : most_cells;
        least_step = std::max(least_step, of_one / most);
    }
    Certified known = bracket;
    double share = 1, last_step = infinity;
    widest = std::min(widest, widest_step);
    double error = 1e-10;  // of an attempt, relative to Chernoff's bound
    Tilts last_tilts{};
    bool stuck = false;
    for (int i = 0; i < most_attempts; ++i) {
        const double gap = known.upper - known.lower;
        if (gap <= curve_gap * known.upper + question.floor) break;
        const Look look = tilts_at(known, error, stuck);
        const double step =
            std::max(step_for(moments, look, share * curve_gap, widest), rounded_step(least_step));
        if (!(step <= widest_step) || (step >= last_step && look.tilts == last_tilts)) break;
        const Attempt attempt(question, look, step);
        // Written so that NaN ends the loop.
        if (const double times = attempt.too_long(); !(times <= 1)) {
            least_step = 1.3 * step * times;
            if (!(least_step < std::min(widest, last_step))) break;
            continue;
        }
        last_step = step;
        last_tilts = look.tilts;
        error = attempt.error();
        const double before = known.upper;
        known = agreed(known, ask(attempt, known));
        stuck = known.upper > 0.999 * before;
        share *= std::clamp(curve_gap * known.upper / (known.upper - known.lower), 0.05, 0.5);
    }
    return known;
}

/// Mass of one round that no lattice and no moment resolves, a small share of delta.
double tail_of(std::span<const SampledRounds> rounds, double delta) {
    return rounded_tail(1e-7 * delta / rounds_of(rounds));
}

/// The Gaussian loss of rounds in all of which the record takes part dominates as well.
ExactParts without_chance(std::span<const SampledRounds> rounds, ExactParts exact) {
    for (const SampledRounds& one : rounds)
        exact.mu_squared +=
            static_cast<double>(one.count) / one.noise_multiplier / one.noise_multiplier;
    return exact;
}

Certified bracket_of(std::span<const SampledRounds> rounds,
                     const ExactParts& exact,
                     const RoundMoments& moments,
                     double delta) {
    double most = 0;
    for (const Direction direction : directions)
        most = std::max(most, estimate_epsilon(moments, direction, delta).value);
    const ExactParts all = without_chance(rounds, exact);
    const PrivacyLoss gaussian = PrivacyLoss::of(
        {all.mu_squared, all.pure > 0 ? std::optional(all.pure) : std::nullopt, {}});
    return agreed({most * (1 + 1e-9), 0},
                  {gaussian.epsilon(delta).upper * (1 + 1e-9), epsilon_of_tests(rounds, delta)});
}

Certified compute_epsilon(std::span<const SampledRounds> rounds,
                          const ExactParts& exact,
                          double delta) {
    if (delta_of_nothing(rounds, exact) <= delta) return {0, 0};
    const double tail = tail_of(rounds, delta);
    const RoundMoments moments(rounds, exact, tail);
    const Certified bracket = bracket_of(rounds, exact, moments, delta);
    const Question question{rounds, exact, tail, 1e-12};
    return refined(
        question,
        moments,
        bracket,
        [&](const Certified& known, double error, bool stuck) {
            const Certified near{stuck ? std::max(known.lower, 1e-3 * known.upper) : known.upper,
                                 known.lower};
            return look_at(question, moments, near, std::log(delta), error);
        },
        [&](const Attempt& attempt, const Certified& known) {
            return attempt.epsilon(delta, known);
        });
}

}  // namespace

Certified sampled_delta(std::span<const SampledRounds> rounds,
                        const ExactParts& exact,
                        double epsilon) {
    const double count = rounds_of(rounds);
    // First with the smallest resolvable mass, then with the mass that matters for such a delta.
    double tail = 1e-290, most = 0;
    std::optional<RoundMoments> moments;
    for (int i = 0; i < 2; ++i) {
        moments.emplace(rounds, exact, tail);
        most = 0;
        for (const Direction direction : directions)
            most = std::max(most,
                            std::exp(estimate_log_delta(*moments, direction, epsilon).value) +
                                moments->unresolved(direction));
        tail = rounded_tail(std::min(most, 1.0) * 1e-9 / count);
    }
    const Certified bracket =
        agreed({std::min(1.0, most * (1 + 1e-9)), 0},
               {std::min(delta_of_nothing(rounds, exact),
                         exact_delta(without_chance(rounds, exact), epsilon) * (1 + 1e-8)),
                delta_of_tests(rounds, epsilon)});
    const Question question{rounds, exact, tail, 1e-300};
    return refined(
        question,
        *moments,
        bracket,
        [&](const Certified& known, double error, bool) {
            const double about = std::max(known.lower, 1e-3 * known.upper);
            return look_at(question, *moments, {epsilon, epsilon}, std::log(about), error);
        },
        [&](const Attempt& attempt, const Certified&) { return attempt.delta(epsilon); });
}

Certified sampled_epsilon_bracket(std::span<const SampledRounds> rounds,
                                  const ExactParts& exact,
                                  double delta) {
    if (delta_of_nothing(rounds, exact) <= delta) return {0, 0};
    return bracket_of(rounds, exact, RoundMoments(rounds, exact, tail_of(rounds, delta)), delta);
}

Certified sampled_epsilon(std::span<const SampledRounds> rounds,
                          const ExactParts& exact,
                          double delta) {
    static std::mutex mutex;
    static std::map<std::vector<double>, Certified> known;
    constexpr std::size_t most_known = 20000;
    std::vector<double> question{delta, exact.mu_squared, exact.pure};
    for (const SampledRounds& one : rounds)
        question.insert(question.end(),
                        {one.noise_multiplier,
                         one.sampling_probability,
                         static_cast<double>(one.count),
                         static_cast<double>(one.rounds_an_epoch)});
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

namespace {

/// log(1 - (1 - e^log_p)^count).
double log_some(double log_p, double count) {
    if (log_p > -1e-300) return 0;
    // log(1 - p): for tiny p it is -p, even if p underflows.
    const double all = count * std::log1p(-std::exp(log_p));
    if (all > -1e-8) return std::min(log_p + std::log(count), 0.0);
    return std::log(-std::expm1(all));
}

/// Rounds up a log probability with a relative error of 1e-12.
double rounded_up(double log_p) { return log_p + 1e-11 * std::abs(log_p) + 1e-12; }

/// An event's probabilities with and without the record.
struct Test {
    double with = 0, log_without = 0;
};

/// Calls `take` with tests of one kind of rounds.
template <class Take>
void for_tests(const SampledRounds& rounds, const Take& take) {
    const double s = rounds.noise_multiplier, q = rounds.sampling_probability;
    const auto epochs = static_cast<double>(rounds.count);
    const auto count = epochs * static_cast<double>(rounds.rounds_an_epoch);
    const auto some_round = [&](double c) {
        const double without = log_normal_above(c), there = normal_above(c - 1 / s);
        const double with =
            rounds.is_allocated()
                ? 1 - std::exp((count / epochs - 1) * std::log1p(-std::exp(without))) * (1 - there)
                : (1 - q) * std::exp(without) + q * there;
        take({-std::expm1(epochs * std::log1p(-with)) * (1 - 1e-12),
              rounded_up(log_some(without, count))});
    };
    constexpr int steps = 48;
    for (int i = 0; i <= steps; ++i) {
        some_round(1 / s + 12 * (2.0 * i / steps - 1));
        some_round((1 / s + 12) * i / steps);
    }
    const double root = std::sqrt(count);
    if (rounds.is_allocated()) {
        for (double below = -8; below <= 8; below += 0.5)
            take({normal_above(below) * (1 - 1e-12),
                  rounded_up(log_normal_above(epochs / s / root + below))});
        return;
    }
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
        const double differs = std::erf(0.5 / s / std::numbers::sqrt2);
        log_same += count * std::log1p(-(one.is_allocated() ? 1 : q) * differs);
        log_chi += count * std::log1p((one.is_allocated() ? q : q * q) * std::expm1(1 / (s * s)));
    }
    if (!exact.nothing()) log_same += std::log1p(-exact_delta(exact, 0));
    const double chi = exact.nothing() ? 0.5 * std::sqrt(std::expm1(log_chi)) : 1;
    // Written so that NaN gives 1.
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
