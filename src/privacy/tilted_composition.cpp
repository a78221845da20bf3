#include "privacy/tilted_composition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "core/fourier.hpp"
#include "core/numbers.hpp"
#include "privacy/round_losses.hpp"

namespace sotto {

namespace {

constexpr double unit = 0x1p-53;
/// Of masses and of their tilted values, per round.
constexpr double mass_error = 1e-12;
/// Of exact_delta (gdp_delta: 1e-9).
constexpr double exact_error = 5e-9;
/// Mass of the tilted sum that may lie on either side of the window.
constexpr double outside = 1e-13;

/// Smaller masses are left out and added to `infinite`.
constexpr double least_mass = 1e-290;
/// Powers of spectra below this become zero. Its square is not denormal.
constexpr double negligible = 1e-150;
/// Values e^(a j) are products of at most this many factors: rounding errors below 1e-14.
constexpr std::size_t block = 32;

/// e^(rate j) for j below `block`.
std::array<double, block> powers_of(double rate) {
    std::array<double, block> powers{};
    for (std::size_t j = 0; j < block; ++j) powers[j] = std::exp(rate * static_cast<double>(j));
    return powers;
}

/// log sum_j mass_j e^(tilt loss_j). Blocks are added relative to the largest, so that none
/// overflows and none that matters underflows.
double log_moment_of(const LatticeLoss& loss, double tilt) {
    const std::array<double, block> powers = powers_of(tilt * loss.step);
    double top = -HUGE_VAL, sum = 0;
    for (std::size_t begin = 0; begin < loss.mass.size(); begin += block) {
        double part = 0;
        const std::size_t end = std::min(begin + block, loss.mass.size());
        for (std::size_t j = begin; j < end; ++j)
            if (loss.mass[j] > least_mass) part += loss.mass[j] * powers[j - begin];
        if (!(part > 0)) continue;
        const double at = std::log(part) + tilt * loss.step * static_cast<double>(begin);
        if (at > top) {
            sum = sum * std::exp(top - at) + 1;
            top = at;
        } else {
            sum += std::exp(at - top);
        }
    }
    return std::log(sum) + top + tilt * loss.first;
}

/// Calls `take` with masses times e^(tilt loss_j - log_sum): probabilities.
template <class Take>
void for_tilted_masses(const LatticeLoss& loss, double tilt, double log_sum, const Take& take) {
    const auto exponent = [&](std::size_t j) {
        return tilt * (loss.first + loss.step * static_cast<double>(j)) - log_sum;
    };
    if (std::abs(tilt) * loss.step > 1) {  // blocks would span too many orders of magnitude
        for (std::size_t j = 0; j < loss.mass.size(); ++j)
            if (loss.mass[j] > least_mass) take(j, std::exp(std::log(loss.mass[j]) + exponent(j)));
        return;
    }
    const std::array<double, block> powers = powers_of(tilt * loss.step);
    double scale = 0;
    for (std::size_t j = 0; j < loss.mass.size(); ++j) {
        // Scaled in two steps, since the first factor alone may overflow.
        if (j % block == 0) scale = std::exp(0.5 * exponent(j));
        if (loss.mass[j] > least_mass) take(j, loss.mass[j] * scale * powers[j % block] * scale);
    }
}

/// Mean and variance under the tilted distribution.
struct Spread {
    double mean = 0, variance = 0;
};

Spread spread_of(const std::vector<LatticeGroup>& groups, double tilt) {
    Spread all;
    for (const LatticeGroup& group : groups) {
        const LatticeLoss& loss = *group.loss;
        double mean = 0, square = 0;
        for_tilted_masses(loss, tilt, log_moment_of(loss, tilt), [&](std::size_t j, double tilted) {
            const double x = loss.step * static_cast<double>(j);
            mean += tilted * x;
            square += tilted * x * x;
        });
        const auto count = static_cast<double>(group.count);
        all.mean += count * (mean + loss.first);
        all.variance += count * std::max(square - mean * mean, 0.0);
    }
    return all;
}

struct Window {
    double low = 0, high = 0;
};

/// Window with all but a share `outside` above and below of the tilted sum (Chernoff).
Window window_of(const std::vector<LatticeGroup>& groups, double tilt, double log_moment_at_tilt) {
    const Spread spread = spread_of(groups, tilt);
    const double likely = std::log(1 / outside);
    const double step = groups.front().loss->step;
    const double deviation = std::max(std::sqrt(spread.variance), step);
    double above = HUGE_VAL, below = HUGE_VAL;
    double more = std::sqrt(2 * likely) / deviation * 4;
    // Both decrease with `more`, down to their only minimum.
    bool falling = true;
    for (int i = 0; falling && i < 60; more /= 2, ++i) {
        const double up =
            (log_moment(groups, tilt + more) - log_moment_at_tilt + likely) / more - spread.mean;
        const double down =
            (log_moment(groups, tilt - more) - log_moment_at_tilt + likely) / more + spread.mean;
        falling = !(up > above && down > below);
        if (std::isfinite(up)) above = std::min(above, up);
        if (std::isfinite(down)) below = std::min(below, down);
    }

    return {spread.mean - below - step, spread.mean + above + step};
}

/// (1 + w)^count as exp(count log(1 + w)), so that a tiny w keeps its precision.
std::complex<double> power_of_one_and(std::complex<double> w, double count) {
    const double x = w.real(), y = w.imag();
    const double log_size = x > -0.25 ? 0.5 * std::log1p(2 * x + x * x + y * y)
                                      : 0.5 * std::log((1 + x) * (1 + x) + y * y);
    return std::polar(std::exp(count * log_size), count * std::atan2(y, 1 + x));
}

double norm_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double x : values) sum += x * x;
    return std::sqrt(sum);
}

/// Tilted masses of one loss, a probability distribution, wrapped around, with the largest at 0:
/// its spectrum there is known without a transform, so that only the mass `rest` of the others has
/// errors.
struct Tilted {
    std::vector<double> others;
    double rest = 0;
    std::size_t largest = 0;  // its cell
};

Tilted tilted_masses(const LatticeLoss& loss, double tilt, double log_sum, std::size_t length) {
    Tilted tilted{std::vector<double>(length, 0.0), 0, 0};
    double most = 0;
    for_tilted_masses(loss, tilt, log_sum, [&](std::size_t j, double mass) {
        if (mass > most) tilted.largest = j;
        most = std::max(most, mass);
    });
    const std::size_t behind = length - tilted.largest % length;
    for_tilted_masses(loss, tilt, log_sum, [&](std::size_t j, double mass) {
        if (j == tilted.largest) return;
        tilted.others[(j + behind) % length] += mass;
        tilted.rest += mass;
    });
    return tilted;
}

/// A product of powers of spectra, and the sum over groups of bounds on their errors' 2-norms.
struct PowerOfSpectra {
    Spectrum values;
    double error = 0;
};

/// An error e of a value z of a spectrum, |z| <= 1, becomes count |z|^(count - 1) e in its power.
void multiply_by_power(PowerOfSpectra& product, const Tilted& tilted, long count, double passes) {
    const Spectrum others = real_spectrum(tilted.others);
    const auto rounds = static_cast<double>(count);
    // Every value has an error relative to the sum; logarithms and powers relative to a unit.
    const double error = (1.01 * passes + 16 * unit) * tilted.rest;
    const double each = rounds * error * std::exp(2 * rounds * error);
    const double least = std::pow(0.5 + error, rounds - 1);
    const double vanishing = std::pow(negligible, 2 / rounds);
    double sum = 0;
    for (std::size_t k = 0; k < others.size(); ++k) {
        const std::complex<double> w = others[k] - tilted.rest;
        if (std::norm(1.0 + w) < vanishing) {
            product.values[k] = 0;
            sum += 2 * negligible * negligible;
            continue;
        }
        const std::complex<double> raised = power_of_one_and(w, rounds);
        // |z|^(count - 1) is at most twice the power where |z| >= 1/2.
        const double size = 2 * std::abs(raised) + least;
        sum += 2 * each * size * each * size;  // twice: the other half of the spectrum
        product.values[k] *= raised;
    }
    product.error += std::sqrt(sum);
}

}  // namespace

double log_moment(const std::vector<LatticeGroup>& groups, double tilt) {
    double sum = 0;
    for (const LatticeGroup& group : groups)
        sum += static_cast<double>(group.count) * log_moment_of(*group.loss, tilt);
    return sum;
}

TiltedComposition::TiltedComposition(const std::vector<LatticeGroup>& groups,
                                     const ExactParts& exact,
                                     double tilt,
                                     double log_weight)
    : exact_(exact), tilt_(tilt), exact_log_moment_(exact_log_moment(exact, tilt)) {
    std::vector<double> log_moments;
    double rounds = 0;
    for (const LatticeGroup& group : groups) {
        const auto count = static_cast<double>(group.count);
        log_moments.push_back(log_moment_of(*group.loss, tilt));
        log_moment_ += count * log_moments.back();
        infinite_ += count * (group.loss->infinite +
                              least_mass * static_cast<double>(group.loss->mass.size()));
        rounds += count;
    }
    relative_error_ = rounds * mass_error + (exact.nothing() ? 1e-11 : exact_error);
    convolve(groups, log_moments);
    log_moment_ += log_weight;
    infinite_ *= std::exp(log_weight);
}

void TiltedComposition::convolve(const std::vector<LatticeGroup>& groups,
                                 const std::vector<double>& log_moments) {
    const double step = groups.front().loss->step;
    const Window window = window_of(groups, tilt_, log_moment_);
    wanted_ = (window.high - window.low) / step + 3;
    // Written so that NaN fails.
    if (!(wanted_ <= most_transformed)) return;
    const std::size_t length = transform_length(static_cast<std::size_t>(wanted_));

    PowerOfSpectra product{Spectrum(length / 2 + 1, 1.0), 0};
    const double passes = transform_error(length);
    double origin = 0;  // the loss at index 0 of the product
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const LatticeLoss& loss = *groups[g].loss;
        const Tilted tilted = tilted_masses(loss, tilt_, log_moments[g], length);
        multiply_by_power(product, tilted, groups[g].count, passes);
        origin += static_cast<double>(groups[g].count) *
                  (loss.first + step * static_cast<double>(tilted.largest));
    }
    const auto first = static_cast<long long>(std::floor((window.low - origin) / step));
    const std::vector<double> sum = from_real_spectrum(product.values);
    // The 1-norm is at most the root of the length times the 2-norm; the inverse transform divides
    // by that root.
    error_ = 2 * outside + 1.01 * product.error +
             1.01 * passes * std::sqrt(static_cast<double>(length)) * norm_of(sum);

    first_ = origin + step * static_cast<double>(first);
    step_ = step;
    tilted_.resize(length);
    const auto n = static_cast<long long>(length);
    for (long long i = 0; i < n; ++i)
        tilted_[static_cast<std::size_t>(i)] =
            sum[static_cast<std::size_t>((((first + i) % n) + n) % n)];
}

namespace {

/// log f(b) of exact parts between two arguments, up to 2e-9. For Gaussian parts alone by cubics
/// through nodes of mu / 48, whose error is below 1e-9: f changes on the scale of mu (tested).
/// Nodes are kept, since a run asks for the same mu after every evaluation.
class LogCurve {
  public:
    LogCurve(const ExactParts& exact, double from, double to) : exact_(exact) {
        const double apart = std::sqrt(exact.mu_squared) / 48;
        // One node before the range and two after it, and one more for rounding.
        const double first = std::floor(from / apart) - 2;
        const double last = std::floor(to / apart) + 3;
        constexpr double most_nodes = 2e4;
        if (exact.pure > 0 || !(last - first <= most_nodes)) return;
        nodes_a_unit_ = 1 / apart;
        kept_ = nodes_between(apart, first, last);
    }
    [[nodiscard]] double at(double b) const {
        if (!kept_) return log_exact_delta(exact_, b);
        const double place = b * nodes_a_unit_, node = std::floor(place), x = place - node;
        const double* const y =  // at -1, 0, 1, 2
            &kept_->values[static_cast<std::size_t>(node - kept_->first) - 1];
        const double down = x - 1, far = x - 2, up = x + 1;
        return (x * up * down * y[3] - 3 * x * up * far * y[2] + 3 * up * down * far * y[1] -
                x * down * far * y[0]) /
               6;
    }

  private:
    struct Nodes {
        double first = 0;  // its argument is first * apart
        std::vector<double> values;
        [[nodiscard]] double last() const { return first + static_cast<double>(values.size()) - 1; }
    };
    [[nodiscard]] std::shared_ptr<const Nodes> nodes_between(double apart,
                                                             double first,
                                                             double last) const {
        static std::mutex mutex;
        static std::map<double, std::shared_ptr<const Nodes>> all;
        constexpr std::size_t most_kept = 256;
        {
            const std::lock_guard lock(mutex);
            const auto found = all.find(apart);
            if (found != all.end() && found->second->first <= first &&
                found->second->last() >= last)
                return found->second;
            if (found != all.end()) {
                first = std::min(first, found->second->first);
                last = std::max(last, found->second->last());
            }
        }
        auto made = std::make_shared<Nodes>(Nodes{first, {}});
        for (double node = first; node <= last; ++node)
            made->values.push_back(log_exact_delta(exact_, node * apart));
        const std::lock_guard lock(mutex);
        if (all.size() >= most_kept) all.clear();
        all[apart] = made;
        return made;
    }

    ExactParts exact_;
    double nodes_a_unit_ = 0;
    std::shared_ptr<const Nodes> kept_;
};

}  // namespace

std::size_t TiltedComposition::first_above(double loss) const {
    const double before = std::floor((loss - first_) / step_);
    auto k = static_cast<std::size_t>(std::clamp(before, 0.0, static_cast<double>(tilted_.size())));
    while (k < tilted_.size() && loss_at(k) <= loss) ++k;
    return k;
}

double TiltedComposition::weighted_sum(double epsilon) const {
    if (exact_.nothing()) return sum_above(epsilon, first_above(epsilon));
    // Beyond these distances from epsilon the curve of the exact parts is zero or 1 - e^-distance,
    // up to a share of e^-70: f(b) <= Phi(-x) with b = E + mu (x + mu / 2), and f(-b) = 1 - e^-b +
    // e^-b f(b).
    constexpr double beyond = 12, log_nothing = 80;
    const double mu = std::sqrt(exact_.mu_squared);
    const double rise = tilt_ * mu;
    const double room =
        rise * rise + 2 * (tilt_ * (exact_.pure + 0.5 * exact_.mu_squared) - exact_log_moment_ -
                           log_chernoff_factor(tilt_) + log_nothing);
    const double below = exact_.pure + mu * (rise + std::sqrt(std::max(room, 0.0)) + 0.5 * mu);
    const double above = exact_.pure + mu * (beyond + 0.5 * mu);
    double sum = 0;
    const std::size_t begin = first_above(epsilon - below), end = first_above(epsilon + above);
    if (begin < end) {
        const LogCurve log_curve(exact_, epsilon - loss_at(end - 1), epsilon - loss_at(begin));
        for (std::size_t k = begin; k < end; ++k) {
            const double distance = epsilon - loss_at(k);
            sum += tilted_[k] *
                   std::exp(log_curve.at(distance) + tilt_ * distance - exact_log_moment_);
        }
    }
    return sum + std::exp(-exact_log_moment_) * sum_above(epsilon, end);
}

double TiltedComposition::sum_above(double epsilon, std::size_t k) const {
    double sum = 0;
    const auto falling = powers_of(-tilt_ * step_), shrinking = powers_of(-step_);
    while (k < tilted_.size()) {
        const double above = loss_at(k) - epsilon;
        const double fall = std::exp(-tilt_ * above), gain = -std::expm1(-above);
        if (fall == 0) break;
        const std::size_t end = std::min(k + block, tilted_.size());
        // 1 - e^-(above + j step) = gain + (1 - gain) (1 - e^(-j step)).
        for (std::size_t j = 0; k < end; ++k, ++j)
            sum += tilted_[k] * fall * falling[j] * (gain + (1 - gain) * (1 - shrinking[j]));
    }
    return sum;
}

Certified TiltedComposition::delta(double epsilon) const {
    if (tilted_.empty()) return {1, 0};
    const double sum = weighted_sum(epsilon);
    const double error = error_ * std::exp(log_chernoff_factor(tilt_));
    const double log_scale = log_moment_ + exact_log_moment_ - tilt_ * epsilon;
    const double upper = std::exp(log_scale + std::log(sum + error)) * (1 + relative_error_);
    const double lower = std::exp(log_scale + std::log(sum - error)) * (1 - relative_error_);
    // Written so that NaN gives no bound.
    return {upper + infinite_ < 1 ? upper + infinite_ : 1, lower > 0 ? std::min(lower, 1.0) : 0};
}

namespace {

/// A small tilt whose bound on log(delta) is at most `enough`, or the one with the smallest bound.
double small_tilt(const std::vector<LatticeGroup>& groups,
                  const ExactParts& exact,
                  double epsilon,
                  double enough) {
    TiltedEstimate best{1e-9, infinity};
    for (double tilt = 1e-9; tilt < 1e12 && best.value > enough; tilt *= 2) {
        const double value = log_moment(groups, tilt) + exact_log_moment(exact, tilt) +
                             log_chernoff_factor(tilt) - tilt * epsilon;
        if (value < best.value) best = {tilt, value};
    }
    return best.tilt;
}

}  // namespace

LatticeCurve::LatticeCurve(const std::vector<LatticeGroup>& groups,
                           const std::vector<double>& cuts,
                           const ExactParts& exact,
                           double tilt,
                           double epsilon,
                           double enough) {
    std::vector<LatticeLoss> others, jumps;
    double jumping = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const LatticeLoss& loss = *groups[g].loss;
        const double cells = std::floor((cuts[g] - loss.first) / loss.step) + 2;
        const auto cut = std::min(static_cast<std::size_t>(std::max(cells, 1.0)), loss.mass.size());
        const auto at = loss.mass.begin() + static_cast<std::ptrdiff_t>(cut);
        others.push_back({loss.first, loss.step, {loss.mass.begin(), at}, loss.infinite});
        jumps.push_back({loss.first + loss.step * static_cast<double>(cut),
                         loss.step,
                         {at, loss.mass.end()},
                         0});
        jumping += static_cast<double>(groups[g].count) * std::accumulate(at, loss.mass.end(), 0.0);
    }
    several_ = 0.5 * jumping * jumping * (1 + 1e-9);
    std::vector<LatticeGroup> none;
    for (std::size_t g = 0; g < groups.size(); ++g) none.push_back({&others[g], groups[g].count});
    terms_.emplace_back(none, exact, tilt);
    for (LatticeLoss& loss : others) loss.infinite = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        if (std::accumulate(jumps[g].mass.begin(), jumps[g].mass.end(), 0.0) == 0) continue;
        std::vector<LatticeGroup> one = none;
        const double weight = std::log(static_cast<double>(groups[g].count));
        if (--one[g].count == 0) one.erase(one.begin() + static_cast<std::ptrdiff_t>(g));
        one.push_back({&jumps[g], 1});
        terms_.emplace_back(one, exact, small_tilt(one, exact, epsilon, enough - weight), weight);
    }
}

}  // namespace sotto
