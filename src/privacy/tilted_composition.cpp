#include "privacy/tilted_composition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "core/fourier.hpp"

namespace sotto {

namespace {

constexpr double unit = 0x1p-53;
/// Of masses and of their tilted values, per round.
constexpr double mass_error = 1e-12;
/// Of exact_delta (gdp_delta: 1e-9).
constexpr double exact_error = 5e-9;
/// Mass of the tilted sum that may lie on either side of the window.
constexpr double outside = 1e-9;

/// Smaller masses are left out; `infinite` has them.
constexpr double least_mass = 1e-290;
/// Powers of spectra below this are zero. Its square is no denormal number.
constexpr double negligible = 1e-150;
/// Values e^(a j) are products of so many factors at most: rounding errors below 1e-14.
constexpr std::size_t block = 32;

/// e^(rate j) for j below `block`.
std::array<double, block> powers_of(double rate) {
    std::array<double, block> powers{};
    for (std::size_t j = 0; j < block; ++j) powers[j] = std::exp(rate * static_cast<double>(j));
    return powers;
}

/// log sum_j mass_j e^(tilt loss_j). Blocks are added up relative to the largest of them, so that
/// none overflows, and none that counts underflows.
double log_moment(const LatticeLoss& loss, double tilt) {
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

double log_moment(const std::vector<LatticeGroup>& groups, double tilt) {
    double sum = 0;
    for (const LatticeGroup& group : groups)
        sum += static_cast<double>(group.count) * log_moment(*group.loss, tilt);
    return sum;
}

/// Masses times e^(tilt loss_j - log_sum), in turn.
template <class Take>
void for_tilted_masses(const LatticeLoss& loss, double tilt, double log_sum, const Take& take) {
    const std::array<double, block> powers = powers_of(tilt * loss.step);
    double scale = 0;
    for (std::size_t j = 0; j < loss.mass.size(); ++j) {
        if (j % block == 0)
            scale = tilt * (loss.first + loss.step * static_cast<double>(j)) - log_sum;
        // Scaled in two steps: the first factor alone may be beyond what a double holds.
        if (j % block == 0) scale = std::exp(0.5 * scale);
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
        for_tilted_masses(loss, tilt, log_moment(loss, tilt), [&](std::size_t j, double tilted) {
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

/// All but a share `outside` above and below of the tilted sum (Chernoff).
Window window_of(const std::vector<LatticeGroup>& groups, double tilt, double log_moment_at_tilt) {
    const Spread spread = spread_of(groups, tilt);
    const double likely = std::log(1 / outside);
    const double step = groups.front().loss->step;
    const double deviation = std::max(std::sqrt(spread.variance), step);
    double above = HUGE_VAL, below = HUGE_VAL;
    for (double more = std::sqrt(2 * likely) / deviation * 2, i = 0; i < 6; more /= 2, ++i) {
        const double up = log_moment(groups, tilt + more) - log_moment_at_tilt;
        const double down = log_moment(groups, tilt - more) - log_moment_at_tilt;
        if (std::isfinite(up)) above = std::min(above, (up + likely) / more - spread.mean);
        if (std::isfinite(down)) below = std::min(below, (down + likely) / more + spread.mean);
    }
    return {spread.mean - below - step, spread.mean + above + step};
}

/// z to the power of `count`, by squaring: relative error below count times 4 units.
std::complex<double> power(std::complex<double> z, long count) {
    std::complex<double> result = 1;
    const auto times = [](std::complex<double> x, std::complex<double> y) {
        return std::complex<double>(x.real() * y.real() - x.imag() * y.imag(),
                                    x.real() * y.imag() + x.imag() * y.real());
    };
    for (; count > 0; count >>= 1) {
        if (count & 1) result = times(result, z);
        z = times(z, z);
    }
    return result;
}

double norm_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double x : values) sum += x * x;
    return std::sqrt(sum);
}

/// Tilted masses of one loss, a probability distribution, wrapped around.
std::vector<double> tilted_masses(const LatticeLoss& loss,
                                  double tilt,
                                  double log_sum,
                                  std::size_t length) {
    std::vector<double> tilted(length, 0.0);
    for_tilted_masses(
        loss, tilt, log_sum, [&](std::size_t j, double mass) { tilted[j % length] += mass; });
    return tilted;
}

/// A product of powers of spectra, and the 2-norm of a bound of its errors.
struct PowerOfSpectra {
    Spectrum values;
    double error_squared = 0;
};

/// Errors e of every value z of a spectrum, |z| <= 1, become count |z|^(count - 1) e of its power.
void multiply_by_power(PowerOfSpectra& product, const Spectrum& factor, long count, double error) {
    const auto rounds = static_cast<double>(count);
    const double each = rounds * (error + 8 * unit) * std::exp(2 * rounds * error);
    const double least = std::pow(0.5 + error, rounds - 1);
    const double vanishing = std::pow(negligible, 2 / rounds);
    double sum = 0;
    for (std::size_t k = 0; k < factor.size(); ++k) {
        if (std::norm(factor[k]) < vanishing) {
            product.values[k] = 0;
            sum += 2 * negligible * negligible;
            continue;
        }
        const std::complex<double> raised = power(factor[k], count);
        // |z|^(count - 1) is at most twice the power where |z| >= 1/2.
        const double size = 2 * std::abs(raised) + least;
        sum += 2 * each * size * each * size;  // twice: the other half of the spectrum
        product.values[k] *= raised;
    }
    product.error_squared += sum;
}

double log_chernoff_factor(double tilt) {
    return tilt * std::log(tilt) - (1 + tilt) * std::log1p(tilt);
}

}  // namespace

TiltedComposition::TiltedComposition(const std::vector<LatticeGroup>& groups,
                                     const ExactParts& exact,
                                     double tilt)
    : exact_(exact), tilt_(tilt) {
    std::vector<double> log_moments;
    double rounds = 0;
    for (const LatticeGroup& group : groups) {
        const auto count = static_cast<double>(group.count);
        log_moments.push_back(log_moment(*group.loss, tilt));
        log_moment_ += count * log_moments.back();
        infinite_ += count * (group.loss->infinite +
                              least_mass * static_cast<double>(group.loss->mass.size()));
        rounds += count;
    }
    relative_error_ = rounds * mass_error + (exact.nothing() ? 1e-11 : exact_error);
    convolve(groups, log_moments);
}

void TiltedComposition::convolve(const std::vector<LatticeGroup>& groups,
                                 const std::vector<double>& log_moments) {
    const double step = groups.front().loss->step;
    const Window window = window_of(groups, tilt_, log_moment_);
    double origin = 0;
    for (const LatticeGroup& group : groups)
        origin += static_cast<double>(group.count) * group.loss->first;
    const auto first = static_cast<long long>(std::floor((window.low - origin) / step));
    // Written so that NaN fails.
    if (!((window.high - window.low) / step < most_transformed)) return;
    const std::size_t length =
        transform_length(static_cast<std::size_t>((window.high - window.low) / step) + 3);

    PowerOfSpectra product{Spectrum(length / 2 + 1, 1.0), 0};
    const double passes = transform_error(length);
    const double root = std::sqrt(static_cast<double>(length));
    double carried = 0;  // sum over groups of 2-norms
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const std::vector<double> tilted =
            tilted_masses(*groups[g].loss, tilt_, log_moments[g], length);
        product.error_squared = 0;
        multiply_by_power(
            product, real_spectrum(tilted), groups[g].count, passes * root * norm_of(tilted));
        carried += std::sqrt(product.error_squared);
    }
    const std::vector<double> sum = from_real_spectrum(product.values);
    // The 1-norm is at most the root of the length times the 2-norm; the inverse transform divides
    // by that root.
    error_ = 2 * outside + 1.01 * carried + 1.01 * passes * root * norm_of(sum);

    centre_ = 0.5 * (window.low + window.high);
    losses_.resize(length);
    untilted_.resize(length);
    shrinking_.resize(length);
    const auto n = static_cast<long long>(length);
    const auto untilting = powers_of(-tilt_ * step), falling = powers_of(-step);
    double untilt = 0, shrink = 0;
    for (long long i = 0; i < n; ++i) {
        const long long at = first + i;
        const auto j = static_cast<std::size_t>(i) % block;
        const double loss = origin + step * static_cast<double>(at) - centre_;
        const auto k = static_cast<std::size_t>(i);
        losses_[k] = loss;
        if (j == 0) {
            untilt = std::exp(-tilt_ * loss);
            shrink = std::exp(-loss);
        }
        untilted_[k] = sum[static_cast<std::size_t>(((at % n) + n) % n)] * untilt * untilting[j];
        shrinking_[k] = shrink * falling[j];
    }
}

double TiltedComposition::weighted_sum(double epsilon) const {
    double sum = 0;
    const double x = epsilon - centre_;
    if (exact_.nothing()) {
        const double grown = std::exp(x);
        for (std::size_t k = 0; k < untilted_.size(); ++k)
            sum += untilted_[k] * std::max(0.0, 1 - grown * shrinking_[k]);
        return sum;
    }
    for (std::size_t k = 0; k < untilted_.size(); ++k)
        sum += untilted_[k] * exact_delta(exact_, x - losses_[k]);
    return sum;
}

Certified TiltedComposition::delta(double epsilon) const {
    if (losses_.empty()) return {1, 0};
    const double sum = std::exp(log_moment_ - tilt_ * centre_) * weighted_sum(epsilon);
    const double error = error_ * std::exp(log_chernoff_factor(tilt_) + log_moment_ +
                                           exact_log_moment(exact_, tilt_) - tilt_ * epsilon);
    return {std::min(1.0, (sum + error) * (1 + relative_error_) + infinite_),
            std::clamp((sum - error) * (1 - relative_error_), 0.0, 1.0)};
}

}  // namespace sotto
