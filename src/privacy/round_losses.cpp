#include "privacy/round_losses.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>

#include "privacy/normal_tails.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

/// One round in units of its noise: z ~ N(0, 1) under Q.
struct Round {
    double noise, probability;

    /// log(P/Q) at z.
    [[nodiscard]] double loss(double z) const {
        const double y = z / noise - 0.5 / (noise * noise);
        if (y < 30) return std::log1p(probability * std::expm1(y));
        return std::log(probability) + y +
               std::log1p((1 - probability) / probability * std::exp(-y));
    }
    /// Inverse of loss at the smallest loss plus x.
    [[nodiscard]] double point(double x) const {
        if (x <= 0) return -unbounded;
        const double log_expm1 = x > 1 ? x + std::log1p(-std::exp(-x)) : std::log(std::expm1(x));
        return noise * (std::log((1 - probability) / probability) + log_expm1) + 0.5 / noise;
    }
    [[nodiscard]] double least_loss() const { return std::log1p(-probability); }
};

/// Masses of cells [least + c step, least + (c + 1) step], c = first, first + 1, ...
struct LossCells {
    double least = 0, step = 0;
    long first = 0;
    std::vector<double> under_q;  // Q mass
    std::vector<double> scaled;   // Q mass times the likelihood ratio at the lower end
    std::vector<double> share;    // share of the Q mass that a chord gives to the upper end
    double below = 0;             // Q mass below the cells
    double above_q = 0, above_p = 0;

    [[nodiscard]] std::size_t size() const { return scaled.size(); }
    [[nodiscard]] double edge(std::size_t cell) const {
        return least + step * static_cast<double>(first + static_cast<long>(cell));
    }
};

/// Gauss-Legendre with four nodes on [0, 1].
constexpr std::array<double, 4> nodes{
    0.0694318442029737124, 0.330009478207571868, 0.669990521792428132, 0.930568155797026288};
constexpr std::array<double, 4> weights{
    0.173927422568726929, 0.326072577431273071, 0.326072577431273071, 0.173927422568726929};
/// Width of a panel times the largest rate of change of the integrand: the rule's error is then
/// below 1e-15.
constexpr double panel = 0.1;

struct CellMasses {
    double scaled = 0, share = 0;
};

/// @param low, high its ends.
/// @param from start of the integral, at or above `low`.
CellMasses integrate(const Round& round, double log_ratio, double low, double high, double from) {
    if (low == -unbounded) {  // both integrals are Gaussian
        const double mass = log_normal_between(from, high), shift = 1 / round.noise;
        const double upper =
            shift * (0.5 * shift - high) + log_normal_between(from - shift, high - shift);
        return {std::exp(log_ratio + mass), std::clamp(std::exp(upper - mass), 0.0, 1.0)};
    }
    const double width = high - from;
    const double rate = std::max({1.0, 1 / round.noise, std::abs(from), std::abs(high)});
    const auto panels = static_cast<long>(std::ceil(width * rate / panel));
    const double whole = std::expm1((low - high) / round.noise);
    double mass = 0, upper = 0;
    for (long i = 0; i < std::max(panels, 1L); ++i)
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            const double z = from + width * (static_cast<double>(i) + nodes[k]) /
                                        static_cast<double>(std::max(panels, 1L));
            const double density = weights[k] * std::exp(log_ratio - 0.5 * z * z);
            mass += density;
            upper += density * std::exp((z - high) / round.noise) *
                     std::expm1((low - z) / round.noise) / whole;
        }
    if (!(mass > 0)) return {0, 0.5};
    const double scale =
        width / static_cast<double>(std::max(panels, 1L)) / std::sqrt(2 * std::numbers::pi);
    return {mass * scale, std::clamp(upper / mass, 0.0, 1.0)};
}

LossCells cells_of(const Round& round, double step, double tail) {
    LossCells cells;
    cells.least = round.least_loss();
    cells.step = step;
    const double reach = normal_tail_point(tail), lowest_point = -reach;
    const double highest = round.loss(1 / round.noise + reach);
    cells.first = static_cast<long>(std::floor((round.loss(lowest_point) - cells.least) / step));
    cells.first = std::max(cells.first, 0L);
    cells.below = normal_above(-lowest_point);
    double low = round.point(static_cast<double>(cells.first) * step), edge = cells.least;
    for (long c = cells.first; c == cells.first || edge < highest; ++c) {
        const double high = round.point(static_cast<double>(c + 1) * step);
        edge = cells.least + step * static_cast<double>(c);
        const double from = std::min(std::max(low, lowest_point), high);
        const CellMasses found = integrate(round, edge, low, high, from);
        cells.scaled.push_back(found.scaled);
        cells.under_q.push_back(found.scaled * std::exp(-edge));
        cells.share.push_back(found.share);
        low = high;
        edge += step;
    }
    cells.above_q = normal_above(low);
    cells.above_p = (1 - round.probability) * cells.above_q +
                    round.probability * normal_above(low - 1 / round.noise);
    return cells;
}

/// Both directions from masses under P and Q on a lattice of log(P/Q).
LatticeLosses both_directions(double first,
                              double step,
                              std::vector<double> under_p,
                              std::vector<double> under_q) {
    LatticeLosses losses;
    const double last = first + step * (static_cast<double>(under_q.size()) - 1);
    losses.remove = {first, step, std::move(under_p), 0};
    std::ranges::reverse(under_q);
    losses.add = {-last, step, std::move(under_q), 0};
    return losses;
}

LatticeLosses chords(const LossCells& cells) {
    const std::size_t n = cells.size();
    std::vector<double> under_p(n + 1, 0.0), under_q(n + 1, 0.0);
    for (std::size_t c = 0; c < n; ++c) {
        const double share = cells.share[c];
        under_q[c] += cells.under_q[c] * (1 - share);
        under_q[c + 1] += cells.under_q[c] * share;
        under_p[c] += cells.scaled[c] * (1 - share);
        under_p[c + 1] += cells.scaled[c] * share * std::exp(cells.step);
    }
    // Mass outside goes where it costs more, in both directions.
    under_p.front() += cells.below * std::exp(cells.edge(0));
    under_q.back() += cells.above_q;
    LatticeLosses losses =
        both_directions(cells.edge(0), cells.step, std::move(under_p), std::move(under_q));
    losses.remove.infinite = cells.above_p;
    losses.add.infinite = cells.below;
    return losses;
}

/// Cells in ascending order of one direction's loss, with numerator and denominator P and Q
/// (remove), or Q and P (add).
struct Slices {
    double first = 0, step = 0;       // the first slice's lower end
    std::vector<double> denominator;  // mass, times the ratio at the slice's lower end
    std::vector<double> excess;       // mean ratio divided by that at the lower end, minus 1
};

Slices slices_of(const LossCells& cells, bool removed) {
    const std::size_t n = cells.size();
    Slices slices{removed ? cells.edge(0) : -cells.edge(n), cells.step, {}, {}};
    const double grow = std::expm1(cells.step);
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t c = removed ? i : n - 1 - i;
        const double above = cells.share[c] * grow;
        const double excess = removed ? above : (grow - above) / (1 + above);
        slices.excess.push_back(excess);
        slices.denominator.push_back(removed ? cells.scaled[c] : cells.under_q[c] / (1 + excess));
    }
    return slices;
}

/// A pair on a lattice that the slices dominate: outcomes are merged at random into ratios of
/// lattice points. The lattice goes through the mean of the heaviest slice, or of the last one. A
/// slice whose mean is below its point receives a share of the next one; one above gives a share of
/// the mass at the previous point; the surplus joins the next slice. What cannot be balanced loses
/// numerator mass down to the ratio of the point below its mean.
LatticeLoss dominated(Slices slices) {
    std::vector<double>& mass = slices.denominator;
    std::vector<double>& excess = slices.excess;
    const std::size_t n = mass.size();
    const double grow = std::expm1(slices.step), fall = std::expm1(-slices.step);
    const double shrink = 1 + fall;
    std::size_t anchor = n - 1;
    if (mass.back() * (1 + excess.back()) < 1e-9)
        for (std::size_t c = 0; c < n; ++c)
            if (mass[c] * (1 + excess[c]) > mass[anchor] * (1 + excess[anchor])) anchor = c;
    const double at = excess[anchor];
    // One extra point below the first slice.
    LatticeLoss lattice{slices.first + std::log1p(at) - slices.step, slices.step, {}, 0};
    lattice.mass.assign(n + 1, 0.0);
    for (std::size_t c = 0; c < n; ++c) {
        double& here = lattice.mass[c + 1];
        double& before = lattice.mass[c];
        const bool last = c + 1 == n;
        const double lack = mass[c] * (at - excess[c]);
        if (lack <= 0) {
            const double needed = -lack / grow;
            const double share = before < needed && !last ? before / needed : 1;
            const double taken = std::min(before, needed);
            before -= taken;
            here = share * mass[c] * (1 + at) + taken / shrink;
            if (share < 1) {
                const double joining = (1 - share) * mass[c] / shrink;
                excess[c + 1] =
                    (mass[c + 1] * excess[c + 1] + joining * (excess[c] * shrink + fall)) /
                    (mass[c + 1] + joining);
                mass[c + 1] += joining;
            }
            continue;
        }
        // By how much the whole next slice exceeds this point's ratio.
        const double gain = last ? 0 : mass[c + 1] * (excess[c + 1] - at * shrink - fall);
        const double balanced = gain > 0 ? std::min(1.0, gain / lack) : 0;
        here = balanced * mass[c] * (1 + at);
        before += (1 - balanced) * mass[c] * (1 + at) * shrink;
        if (balanced > 0) {
            const double given = balanced * lack / gain;
            here += given * mass[c + 1] * (1 + at) * shrink;
            mass[c + 1] *= 1 - given;
        }
    }
    return lattice;
}

}  // namespace

double sampled_loss(double noise_multiplier, double probability, double z) {
    return Round{noise_multiplier, probability}.loss(z);
}

double widest_loss(const SampledRounds& rounds, double tail) {
    const double s = rounds.noise_multiplier, reach = normal_tail_point(tail);
    if (rounds.is_allocated()) return (1 / s + 2 * reach) / s;
    const Round round{s, rounds.sampling_probability};
    return round.loss(1 / s + reach) - round.least_loss();
}

RoundBounds bound(const SampledRounds& rounds, double step, double tail) {
    return rounds.is_allocated()
               ? bound_epoch(rounds.noise_multiplier, rounds.rounds_an_epoch, step, tail)
               : bound_round(rounds.noise_multiplier, rounds.sampling_probability, step, tail);
}

RoundBounds bound_round(double noise_multiplier, double probability, double step, double tail) {
    const Round round{noise_multiplier, probability};
    const LossCells cells = cells_of(round, step, tail);
    RoundBounds bounds{
        chords(cells), {dominated(slices_of(cells, true)), dominated(slices_of(cells, false))}, 0};
    const double farthest = cells.edge(cells.size());
    bounds.location_error = 0x1p-50 * (std::abs(cells.least) + std::abs(farthest) +
                                       (1 / noise_multiplier + 40) / noise_multiplier);
    return bounds;
}

double first_width(double noise_multiplier, long rounds) {
    constexpr double large = 6;  // standard deviations
    const double log_largest = (0.5 / noise_multiplier + large) / noise_multiplier;
    const double log_rounds = std::log(static_cast<double>(rounds));
    return std::exp(std::max(std::min(0.5 * log_rounds, log_rounds - log_largest), 0.0));
}

namespace {

/// Law of the mean of some log-normals under Q: cells of log L of width `step` from `first` times
/// it on, each with its mass at one ratio, the lower end's times 1 + above (at most e^step - 1).
struct MeanLaw {
    double count = 0;  // of log-normals
    double step = 0;
    long first = 0;
    std::vector<double> mass;
    std::vector<double> above;            // empty: all at lower ends
    double outside_q = 0, outside_p = 0;  // bounds on what is left out
    [[nodiscard]] double edge(std::size_t cell) const {
        return step * static_cast<double>(first + static_cast<long>(cell));
    }
};

/// The P mass of a Q mass whose loss is this; large instead of infinite.
double mass_under_p(double under_q, double loss) {
    constexpr double most = 700;
    return under_q > 0 ? std::exp(std::min(std::log(under_q) + loss, most)) : 0;
}

/// Leaves out the ends whose masses under Q and P are too small to count: less than `least` each.
void trim(MeanLaw& law, double least) {
    std::size_t end = law.mass.size(), begin = 0;
    const auto leave_out = [&](std::size_t c) {
        const double under_p = mass_under_p(law.mass[c], law.edge(c) + law.step);
        if (law.mass[c] > least || under_p > least) return false;
        law.outside_q += law.mass[c];
        law.outside_p += under_p;
        return true;
    };
    while (end > 1 && leave_out(end - 1)) --end;
    while (begin + 1 < end && leave_out(begin)) ++begin;
    for (std::vector<double>* const values : {&law.mass, &law.above}) {
        if (values->empty()) continue;
        values->resize(end);
        values->erase(values->begin(), values->begin() + static_cast<std::ptrdiff_t>(begin));
    }
    law.first += static_cast<long>(begin);
}

/// Of one log-normal, on cells that hold all but `tail` of Q and of P on either side.
MeanLaw one_log_normal(double noise, double step, double tail, bool keeps_means) {
    // log A = z / s - 1 / (2 s^2), z ~ N(0, 1) under Q and N(1/s, 1) under P.
    const double reach = normal_tail_point(tail), middle = 0.5 / noise;
    const double far = (reach + middle) / noise / step;
    constexpr double most_cells = 1 << 17;  // their pairs are added up
    if (!(2 * far <= most_cells))
        throw ConfigError(
            fmt::format("noise multiplier {}: losses of an epoch of random allocation would need "
                        "{:.3g} cells of {:g} (allowed: {:g})",
                        noise,
                        2 * far,
                        step,
                        most_cells));
    MeanLaw law{1, step, static_cast<long>(std::floor(-far)), {}, {}, 2 * tail, 2 * tail};
    const auto cells = static_cast<std::size_t>(static_cast<long>(std::ceil(far)) - law.first);
    law.mass.assign(cells + 1, 0.0);
    if (keeps_means) law.above.assign(cells + 1, 0.0);
    const double grow = std::expm1(step);
    for (std::size_t c = 0; c < cells; ++c) {
        const double low = noise * law.edge(c) + middle, high = low + noise * step;
        const double log_mass = log_normal_between(low, high), mass = std::exp(log_mass);
        const double log_mean =
            log_normal_between(low - 2 * middle, high - 2 * middle) - log_mass - law.edge(c);
        const double excess = mass > 0 ? std::clamp(std::expm1(log_mean), 0.0, grow) : 0;
        if (keeps_means) {
            law.mass[c] = mass;
            law.above[c] = excess;
        } else {
            law.mass[c] += mass * (1 - excess / grow);
            law.mass[c + 1] += mass * excess / grow;
        }
    }
    return law;
}

/// The same law on cells of half the width.
MeanLaw on_halves(const MeanLaw& law) {
    MeanLaw fine = law;
    fine.step = law.step / 2;
    fine.first = 2 * law.first;
    fine.mass.assign(2 * law.mass.size(), 0.0);
    fine.above.assign(2 * law.above.size(), 0.0);
    const double half = std::expm1(fine.step);
    for (std::size_t c = 0; c < law.mass.size(); ++c) {
        const bool upper = !law.above.empty() && law.above[c] >= half;
        fine.mass[2 * c + (upper ? 1 : 0)] = law.mass[c];
        if (law.above.empty()) continue;
        const double excess = upper ? (law.above[c] - half) / (1 + half) : law.above[c];
        fine.above[2 * c + (upper ? 1 : 0)] = std::clamp(excess, 0.0, half);
    }
    return fine;
}

/// Pairs of cells of two laws that are the same number of cells apart.
struct PairsApart {
    const double *mass, *other_mass;    // of each
    const double *above, *other_above;  // or null
    std::ptrdiff_t count;
    double times;  // that each counts
};

/// Adds the means of pairs, which lie between `excess` above the ratio of a cell's lower end, and
/// the end of the next cell. @param mine, others what a unit of either's `above` adds.
void add_means(const PairsApart& pairs,
               double excess,
               double mine,
               double others,
               double step,
               double* mass,
               double* moment) {
    constexpr std::ptrdiff_t most = 512;  // fit the first cache
    using Block = Eigen::Array<double, Eigen::Dynamic, 1, 0, most, 1>;
    using In = Eigen::Map<const Eigen::ArrayXd>;
    using Out = Eigen::Map<Eigen::ArrayXd>;
    const double grow = std::expm1(step), shrink = 1 / (1 + grow);
    const double share = std::clamp(excess / grow, 0.0, 1.0);
    for (std::ptrdiff_t at = 0; at < pairs.count; at += most) {
        const std::ptrdiff_t n = std::min(most, pairs.count - at);
        const Block both = pairs.times * In(pairs.mass + at, n) * In(pairs.other_mass + at, n);
        if (pairs.above == nullptr) {
            Out(mass + at, n) += both * (1 - share);
            Out(mass + at + 1, n) += both * share;
            continue;
        }
        const Block there =
            excess + mine * In(pairs.above + at, n) + others * In(pairs.other_above + at, n);
        const Block next = (there >= grow).select(both, 0.0), here = both - next;
        Out(mass + at, n) += here;
        Out(mass + at + 1, n) += next;
        Out(moment + at, n) += here * there;
        Out(moment + at + 1, n) += next * (there - grow) * shrink;
    }
}

/// The law of the mean of both, independent. @param least as trim.
MeanLaw mean_of(const MeanLaw& one, const MeanLaw& other, double least) {
    if (one.step > other.step) return mean_of(on_halves(one), other, least);
    if (other.step > one.step) return mean_of(one, on_halves(other), least);
    const bool keeps_means = !one.above.empty();
    const double count = one.count + other.count, step = one.step;
    const double w = one.count / count, v = other.count / count;
    const auto n = std::ssize(one.mass), m = std::ssize(other.mass);
    MeanLaw sum{count,
                step,
                std::min(one.first, other.first) - 1,
                {},
                {},
                one.outside_q + other.outside_q,
                w * (one.outside_p + other.outside_q) + v * (other.outside_p + one.outside_q)};
    const long last = std::max(one.first + n, other.first + m) + 1;
    sum.mass.assign(static_cast<std::size_t>(last - sum.first + 1), 0.0);
    if (keeps_means) sum.above.assign(sum.mass.size(), 0.0);
    // Of a law with itself, both pairs of two cells have the same mean.
    const bool twice = &one == &other;
    const long nearest = other.first - one.first - n + 1;
    for (long apart = twice ? 0 : nearest; apart < other.first - one.first + m; ++apart) {
        const double distance = step * static_cast<double>(apart);
        // Logarithm of the mean of both lower ends, from the first one's.
        const double level = distance > 0 ? distance + std::log(v + w * std::exp(-distance))
                                          : std::log(w + v * std::exp(distance));
        const auto cell = static_cast<long>(std::floor(level / step));
        const double excess = std::expm1(level - step * static_cast<double>(cell));
        const long from = std::max(one.first, other.first - apart);
        const long to = std::min(one.first + n, other.first + m - apart);
        const auto i = static_cast<std::size_t>(from - one.first);
        const auto j = static_cast<std::size_t>(from + apart - other.first);
        const auto k = static_cast<std::size_t>(from + cell - sum.first);
        add_means({&one.mass[i],
                   &other.mass[j],
                   keeps_means ? &one.above[i] : nullptr,
                   keeps_means ? &other.above[j] : nullptr,
                   to - from,
                   twice && apart > 0 ? 2.0 : 1.0},
                  excess,
                  (1 + excess) / (1 + v / w * std::exp(distance)),
                  (1 + excess) / (1 + w / v * std::exp(-distance)),
                  step,
                  &sum.mass[k],
                  keeps_means ? &sum.above[k] : nullptr);
    }
    const double grow = std::expm1(step);
    for (std::size_t c = 0; c < sum.above.size(); ++c)
        sum.above[c] = sum.mass[c] > 0 ? std::clamp(sum.above[c] / sum.mass[c], 0.0, grow) : 0;
    trim(sum, least);
    return sum;
}

/// Of the mean of `rounds`, by doubling, from cells that are wider by first_width().
MeanLaw law_of_epoch(double noise, long rounds, double step, double tail, bool keeps_means) {
    double wide = step;
    for (double width = first_width(noise, rounds);
         2 * wide <= std::min(step * width, 0.3 / noise);)
        wide *= 2;
    const auto all = static_cast<double>(rounds);
    constexpr double share_of_tail = 1e-8;  // for each of the cells at the ends
    MeanLaw power = one_log_normal(noise, wide, share_of_tail * tail / all, keeps_means), law;
    for (long left = rounds; left > 0; left /= 2) {
        const auto least = [&](double count) { return share_of_tail * tail * count / all; };
        if (left % 2 != 0)
            law = law.count > 0 ? mean_of(law, power, least(law.count + power.count)) : power;
        if (left == 1) break;
        if (power.step > step * std::sqrt(all / (2 * power.count))) power = on_halves(power);
        power = mean_of(power, power, least(2 * power.count));
    }
    while (law.step > step) law = on_halves(law);
    return law;
}

}  // namespace

RoundBounds bound_epoch(double noise_multiplier, long rounds, double step, double tail) {
    const MeanLaw above = law_of_epoch(noise_multiplier, rounds, step, tail, false);
    std::vector<double> under_p;
    for (std::size_t c = 0; c < above.mass.size(); ++c)
        under_p.push_back(mass_under_p(above.mass[c], above.edge(c)));
    RoundBounds bounds;
    bounds.upper = both_directions(above.edge(0), step, std::move(under_p), above.mass);
    bounds.upper.remove.infinite = above.outside_p;
    bounds.upper.add.infinite = above.outside_q;
    const MeanLaw below = law_of_epoch(noise_multiplier, rounds, step, tail, true);
    LossCells cells;
    cells.step = step;
    cells.first = below.first;
    cells.under_q = below.mass;
    for (std::size_t c = 0; c < below.mass.size(); ++c) {
        cells.scaled.push_back(mass_under_p(below.mass[c], below.edge(c)));
        cells.share.push_back(below.above[c] / std::expm1(step));
    }
    bounds.lower = {dominated(slices_of(cells, true)), dominated(slices_of(cells, false))};
    bounds.location_error =
        0x1p-50 * (std::abs(above.edge(0)) + std::abs(above.edge(above.mass.size())));
    return bounds;
}

namespace {

double gaussian_delta(double mu, double epsilon) {
    if (epsilon >= 0) return gdp_delta(mu, epsilon);
    return -std::expm1(epsilon) + std::exp(epsilon) * gdp_delta(mu, -epsilon);
}

double log_gaussian_delta(double mu, double epsilon) {
    const double z = epsilon / mu - mu / 2;
    if (mu == 0 || z < 20) return std::log(gaussian_delta(mu, epsilon));
    return std::log(mills_difference(z, mu) / std::sqrt(2 * std::numbers::pi)) - 0.5 * z * z;
}

}  // namespace

double exact_delta(const ExactParts& parts, double epsilon) {
    if (std::isinf(parts.mu_squared) || std::isinf(parts.pure)) return 1;
    const double mu = std::sqrt(parts.mu_squared);
    if (parts.pure == 0) return gaussian_delta(mu, epsilon);
    const double odds = std::exp(-parts.pure);  // (1 - p) / p
    return (gaussian_delta(mu, epsilon - parts.pure) +
            odds * gaussian_delta(mu, epsilon + parts.pure)) /
           (1 + odds);
}

double log_exact_delta(const ExactParts& parts, double epsilon) {
    if (std::isinf(parts.mu_squared) || std::isinf(parts.pure)) return 0;
    const double mu = std::sqrt(parts.mu_squared);
    if (parts.pure == 0) return log_gaussian_delta(mu, epsilon);
    const double odds = std::exp(-parts.pure);
    const double near = log_gaussian_delta(mu, epsilon - parts.pure) - std::log1p(odds);
    const double far = log_gaussian_delta(mu, epsilon + parts.pure) - parts.pure - std::log1p(odds);
    const double top = std::max(near, far);
    return top > -HUGE_VAL ? top + std::log1p(std::exp(std::min(near, far) - top)) : top;
}

double exact_log_moment(const ExactParts& parts, double tilt) {
    const double gaussian = parts.mu_squared * tilt * (tilt + 1) / 2;
    const double odds = std::exp(-parts.pure);
    return gaussian + tilt * parts.pure +
           std::log1p(odds * std::expm1(-2 * tilt * parts.pure) / (1 + odds));
}

namespace {

constexpr double lowest_tilt = 1e-9;
/// Nothing is resolved below: Phi of it is 1e-299.
constexpr double lowest_point = -37;
/// Where one summand of 1 - q + q e^y is below e^-40 of the other.
constexpr double negligible_odds = 40;
/// Rounding of sums, and Gauss-Legendre's error, of one round's moment.
constexpr double moment_error = 1e-12;

/// The tilt up to `highest` that minimises `value`, which has one minimum: powers of 4 from 1 until
/// it rises, then Brent's method. Every tilt gives a bound, so the search need not be exact.
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
        if (one.is_allocated()) {
            add_epoch(one, group);
            continue;
        }
        group.highest = highest[g];
        // y = z/s - 1/(2 s^2) equals log((1 - q)/q) here: both summands are equal.
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

void RoundMoments::add_epoch(const SampledRounds& rounds, Group& group) {
    constexpr double cells = 500, tail = 1e-30;
    const LatticeLosses bounds = bound(rounds, widest_loss(rounds, tail) / cells, tail).upper;
    const LatticeLoss& add = bounds.add;  // losses are -log L
    const auto size = std::ssize(add.mass);
    group.epoch = true;
    group.losses.resize(size);
    group.log_under_q.resize(size);
    for (Eigen::Index j = 0; j < size; ++j) {
        group.losses(j) = -(add.first + add.step * static_cast<double>(j));
        group.log_under_q(j) = std::log(add.mass[static_cast<std::size_t>(j)]);
    }
    unresolved_ += group.count * bounds.remove.infinite;
    unresolved_add_ += group.count * bounds.add.infinite;
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
    // A panel integrates a total change of e^6 to 1e-13.
    if (steepest > 0) highest_tilt_ = std::min(highest_tilt_, 4 / steepest);
}

double RoundMoments::log_moment(const Group& group, Direction direction, double tilt) {
    // E_Q e^(power x) is the moment: power = 1 + tilt (remove) or -tilt (add).
    const double power = direction == Direction::remove ? 1 + tilt : -tilt;
    const double q = group.probability, s = group.noise;
    if (group.epoch) {
        const Eigen::ArrayXd nodes = group.log_under_q + power * group.losses;
        const double top = nodes.maxCoeff();
        return std::log((nodes - top).exp().sum()) + top + moment_error;
    }
    // The omitted summand is below e^-40.
    const double left_out = std::max(power, 0.0) * std::exp(-negligible_odds);
    // Logarithms of the parts below, above, and at the nodes.
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
            if (group
                    .epoch) {  // a sixth for each cell, and as much again for every doubling's half
                all += group.count * step * step / 2;
                continue;
            }
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

double small_tilt(
    const RoundMoments& moments, Direction direction, double epsilon, double enough, double best) {
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
