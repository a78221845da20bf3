#include "privacy/round_losses.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "privacy/normal_tails.hpp"

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
    /// Its inverse, of the smallest loss plus x.
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
    std::vector<double> share;    // of the Q mass, that a chord gives to the upper end
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
/// Width of a panel, times the largest rate at which what is integrated changes: the rule's error
/// is then below 1e-15.
constexpr double panel = 0.1;

struct CellMasses {
    double scaled = 0, share = 0;
};

/// @param low, high its ends.  @param from where it begins, at or above `low`.
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
    // Removing is easier to notice, and adding too, with what lies outside where it costs more.
    under_p.front() += cells.below * std::exp(cells.edge(0));
    under_q.back() += cells.above_q;
    LatticeLosses losses =
        both_directions(cells.edge(0), cells.step, std::move(under_p), std::move(under_q));
    losses.remove.infinite = cells.above_p;
    losses.add.infinite = cells.below;
    return losses;
}

/// Cells in ascending order of the loss of one direction: what has numerator and denominator P and
/// Q (remove), or Q and P (add).
struct Slices {
    double first = 0, step = 0;       // the first slice's lower end
    std::vector<double> denominator;  // mass, times the ratio at the slice's lower end
    std::vector<double> excess;       // mean ratio over that at the lower end, less 1
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

/// A pair on a lattice that the slices dominate: outcomes are thrown together at random so that
/// what is thrown together has the ratio of a point of the lattice. The lattice goes through the
/// mean of the heaviest slice, or of the last one. A slice whose mean is below its point gets a
/// share of the next one, one above it a share of what is at the point before; what is too much for
/// that joins the next slice. What cannot be balanced at all loses numerator mass until it has the
/// ratio of the point below its mean.
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
    // One point more, below the first slice.
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
        // By how much the whole of the next slice exceeds this point's ratio.
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

double widest_loss(double noise_multiplier, double probability, double tail) {
    const Round round{noise_multiplier, probability};
    return round.loss(1 / noise_multiplier + normal_tail_point(tail)) - round.least_loss();
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

}  // namespace sotto
