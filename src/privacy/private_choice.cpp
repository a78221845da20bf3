#include "privacy/private_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/numbers.hpp"
#include "privacy/normal_tails.hpp"
#include "privacy/round_losses.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr double most_mean_trainings = 1e4;
constexpr double largest_shape = 10;

/// (1 - e^(-a x)) / a, continued to a = 0.
double decayed(double a, double x) { return a == 0 ? x : -std::expm1(-a * x) / a; }

/// The mean for g = e^-x: eta (1 - g) / (g (1 - g^eta)).
double mean_at(double shape, double x) { return x == 0 ? 1 : std::expm1(x) / decayed(shape, x); }

void require_count(const TrainingCount& count) {
    if (!(count.mean >= 1 && count.mean <= most_mean_trainings))
        throw ConfigError(fmt::format(
            "private-choice: {} trainings are not possible on average (allowed: 1 to {:g})",
            count.mean,
            most_mean_trainings));
    if (!(count.shape > -1 && count.shape <= largest_shape))
        throw ConfigError(fmt::format(
            "choice-shape: {} is not possible (allowed: above -1 and at most {:g}; 1: stops "
            "with the same probability after every training)",
            count.shape,
            largest_shape));
}

/// log(1 / g).
double log_range(const TrainingCount& count) {
    require_count(count);
    double low = 0, high = 1;
    while (mean_at(count.shape, high) < count.mean) high *= 2;
    for (int step = 0; step < 200 && low < high; ++step) {
        const double middle = low + (high - low) / 2;
        if (middle == low || middle == high) break;
        (mean_at(count.shape, middle) < count.mean ? low : high) = middle;
    }
    return count.mean == 1 ? 0 : high;
}

/// 1 - f(1 - v) = (1 - (1 + (1/g - 1) v)^-eta) / (1 - g^eta).
double reached(double shape, double range, double probability) {
    if (range == 0) return probability;
    return decayed(shape, std::log1p(std::expm1(range) * probability)) / decayed(shape, range);
}

/// The distinct ones.
std::vector<PrivacyLoss> distinct(std::span<const PrivacyLoss> losses) {
    std::vector<PrivacyLoss> kept;
    for (const PrivacyLoss& loss : losses)
        if (std::ranges::find(kept, loss) == kept.end()) kept.push_back(loss);
    return kept;
}

double largest_epsilon(const std::vector<PrivacyLoss>& losses, double delta, bool upper) {
    double largest = 0;
    for (const PrivacyLoss& loss : losses) {
        const Certified epsilon = loss.epsilon(delta);
        largest = std::max(largest, upper ? epsilon.upper : epsilon.lower);
    }
    return largest;
}

double largest_delta(const std::vector<PrivacyLoss>& losses, double epsilon) {
    double largest = 0;
    for (const PrivacyLoss& loss : losses) largest = std::max(largest, loss.delta(epsilon).upper);
    return largest;
}

/// The profile's bound.
double epsilon_by_profile(const std::vector<PrivacyLoss>& losses,
                          const TrainingCount& count,
                          double delta) {
    const double all = largest_epsilon(losses, delta / count.mean, true);
    if (!std::isfinite(all)) return all;
    return all + (1 + count.shape) * log_win_ratio(count, [&](double epsilon) {
                     return largest_delta(losses, epsilon);
                 });
}

/// The orders that Renyi bounds are minimised over, less 1.
std::vector<double> orders_less_one() {
    std::vector<double> tilts;
    constexpr double finest = 1.02;
    for (double tilt = 1e-4; tilt < 1e6; tilt *= finest) tilts.push_back(tilt);
    return tilts;
}

/// The largest Renyi divergence of order 1 + tilt.
double divergence(const std::vector<PrivacyLoss>& losses, double tilt) {
    double largest = 0;
    for (const PrivacyLoss& loss : losses) {
        const PrivacyLoss::Parts parts = loss.parts();
        const ExactParts exact{parts.mu_squared, parts.pure.value_or(0)};
        largest = std::max(largest, exact_log_moment(exact, tilt) / tilt);
    }
    return largest;
}

/// Papernot, Steinke 2022, Theorem 2, with Canonne, Kamath, Steinke 2020, Proposition 12.
std::optional<double> epsilon_by_renyi(const std::vector<PrivacyLoss>& losses,
                                       const TrainingCount& count,
                                       double delta) {
    for (const PrivacyLoss& loss : losses)
        if (loss.infinite() || !loss.parts().sampled.empty()) return std::nullopt;
    const double range = log_range(count);
    const std::vector<double> tilts = orders_less_one();
    double inner = infinity;
    for (const double tilt : tilts)
        inner = std::min(inner, (tilt * divergence(losses, tilt) + range) / (1 + tilt));
    double smallest = infinity;
    for (const double tilt : tilts) {
        const double order = 1 + tilt;
        const double renyi =
            divergence(losses, tilt) + (1 + count.shape) * inner + std::log(count.mean) / tilt;
        smallest =
            std::min(smallest, renyi + std::log1p(-1 / order) - std::log(delta * order) / tilt);
    }
    return std::max(smallest, 0.0);
}

/// The largest delta of the events "some training's score is above z" and "none is", if scores are
/// N(mu, 1) on one input and N(0, 1) on its neighbour.
double delta_of_events(double mu, const TrainingCount& count, double epsilon) {
    constexpr double widest = 12, step = 0.01;
    const double range = log_range(count);
    double largest = 0;
    for (double z = -widest; z < widest + mu; z += step) {
        const double more = reached(count.shape, range, normal_above(z - mu));
        const double less = reached(count.shape, range, normal_above(z));
        largest = std::max(largest, more - std::exp(epsilon) * less);
        largest = std::max(largest, (1 - less) - std::exp(epsilon) * (1 - more));
    }
    return largest;
}

/// No smaller epsilon holds for every score: with equal scores the choice is one training; with a
/// score that decides between the two inputs as well as the training can, delta_of_events.
double lowest_epsilon(const std::vector<PrivacyLoss>& losses,
                      const TrainingCount& count,
                      double delta) {
    double lowest = largest_epsilon(losses, delta, false);
    for (const PrivacyLoss& loss : losses) {
        if (!loss.mu() || !std::isfinite(*loss.mu())) continue;
        double low = lowest, high = 2 * lowest + 1;
        if (delta_of_events(*loss.mu(), count, low) <= delta) continue;
        while (delta_of_events(*loss.mu(), count, high) > delta) high *= 2;
        constexpr int halvings = 30;
        for (int k = 0; k < halvings; ++k) {
            const double middle = low + (high - low) / 2;
            (delta_of_events(*loss.mu(), count, middle) > delta ? low : high) = middle;
        }
        lowest = low;
    }
    return lowest;
}

}  // namespace

double stop_parameter(const TrainingCount& count) { return std::exp(-log_range(count)); }

double log_win_ratio(const TrainingCount& count,
                     const std::function<double(double epsilon)>& delta_of) {
    const double odds = std::expm1(log_range(count));  // 1/g - 1
    if (odds == 0) return 0;
    const auto suffices = [&](double log_ratio) {
        return std::expm1(log_ratio) >= odds * delta_of(log_ratio);
    };
    if (suffices(0)) return 0;
    double low = 0, high = std::log1p(odds);  // since delta is at most 1
    constexpr int halvings = 30;
    for (int k = 0; k < halvings; ++k) {
        const double middle = low + (high - low) / 2;
        (suffices(middle) ? high : low) = middle;
    }
    return high;
}

double reached(const TrainingCount& count, double probability) {
    return reached(count.shape, log_range(count), probability);
}

long draw_trainings(const TrainingCount& count, double uniform) {
    const double range = log_range(count);
    if (range == 0) return 1;
    const double go_on = -std::expm1(-range);  // 1 - g
    double probability = go_on * std::exp(-count.shape * range) / decayed(count.shape, range);
    long k = 1;
    for (; uniform >= probability && probability > 0; ++k) {
        uniform -= probability;
        probability *= go_on * (static_cast<double>(k) + count.shape) / static_cast<double>(k + 1);
    }
    return k;
}

ChoiceCost choice_cost(std::span<const PrivacyLoss> trainings,
                       const TrainingCount& count,
                       double delta) {
    require_delta("delta", delta);
    require_count(count);
    const std::vector<PrivacyLoss> losses = distinct(trainings);
    ChoiceCost cost;
    cost.delta = delta;
    cost.one = largest_epsilon(losses, delta, true);
    cost.by_profile = epsilon_by_profile(losses, count, delta);
    cost.by_renyi = epsilon_by_renyi(losses, count, delta);
    cost.epsilon = {std::min(cost.by_profile, cost.by_renyi.value_or(infinity)),
                    lowest_epsilon(losses, count, delta)};
    constexpr double tolerance = 1e-9;
    if (cost.epsilon.lower > cost.epsilon.upper * (1 + tolerance) + tolerance)
        throw PrivacyError(fmt::format(
            "private-choice: an upper bound of epsilon, {:.9g}, is below a lower one, {:.9g}: "
            "please report this with the options of the run",
            cost.epsilon.upper,
            cost.epsilon.lower));
    for (const PrivacyLoss& loss : losses) {
        PrivacyLoss all;
        for (long k = 0; k < std::lround(count.mean); ++k) all += loss;
        cost.added_up = std::max(cost.added_up, all.epsilon(delta).upper);
    }
    return cost;
}

double epsilon_of_one(double total, const TrainingCount& count, double delta) {
    require_epsilon(total);
    double low = 0, high = total;
    constexpr int halvings = 40;
    for (int k = 0; k < halvings; ++k) {
        const double middle = low + (high - low) / 2;
        const std::vector<PrivacyLoss> one{PrivacyLoss::gaussian(gdp_mu(middle, delta))};
        const double all =
            std::min(epsilon_by_profile(one, count, delta), *epsilon_by_renyi(one, count, delta));
        (all <= total ? low : high) = middle;
    }
    return low;
}

}  // namespace sotto
