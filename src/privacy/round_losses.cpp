#include "privacy/round_losses.hpp"

#include <algorithm>
#include <array>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

namespace sotto {

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();
constexpr double lowest_point = -12;  // Phi of it is 2e-33

double normal_above(double z) { return 0.5 * std::erfc(z / std::numbers::sqrt2); }

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
    const double highest = round.loss(1 / round.noise + normal_tail_point(tail));
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

/// Cells by their centres, while those at the ends are merged.
struct Centres {
    // Of every cell, scaled to the ratio a_c of its centre: mass a_c Q_c, and
    // a_c Q_c - P_c: by how much the tangent at its upper end exceeds the one at its lower end
    // there.
    std::vector<double> mass, offset;
    std::size_t begin = 0, end = 0;

    [[nodiscard]] bool resolved() const { return begin + 2 < end; }
};

/// Merges cells from below until the merged one's ratio is not above its centre's, and the next
/// cell does not ask for more than half of it.
void merge_below(Centres& centres, double step) {
    const double grow = std::exp(step);
    double mass = 0, offset = 0;  // scaled to the current centre
    for (std::size_t c = 0; c + 1 < centres.mass.size(); ++c) {
        offset += mass * std::expm1(step) + centres.offset[c];
        mass = mass * grow + centres.mass[c];
        const double asked = std::max(0.0, -centres.offset[c + 1]);
        if (offset >= 0 && mass > 0 && asked <= 0.5 * std::expm1(step) * mass) {
            centres.begin = c;
            centres.mass[c] = mass;
            centres.offset[c] = offset;
            return;
        }
    }
    centres.begin = centres.mass.size();
}

void merge_above(Centres& centres, double step) {
    const double shrink = std::exp(-step);
    double mass = 0, offset = 0;
    for (std::size_t c = centres.mass.size(); c-- > 1;) {
        offset += mass * std::expm1(-step) + centres.offset[c];
        mass = mass * shrink + centres.mass[c];
        const double asked = std::max(0.0, centres.offset[c - 1]);
        if (offset <= 0 && mass > 0 && asked <= -0.5 * std::expm1(-step) * mass) {
            centres.end = c + 1;
            centres.mass[c] = mass;
            centres.offset[c] = offset;
            return;
        }
    }
    centres.end = 0;
}

/// Removes vertices where the polygon is not convex: what a vertex lacks its neighbours give.
/// @return whether that was possible.
bool make_convex(std::vector<double>& mass, double step) {
    for (std::size_t c = 0; c < mass.size(); ++c) {
        if (mass[c] >= 0) continue;
        std::size_t left = c, right = c;
        while (left > 0 && !(mass[left] > 0)) --left;
        while (right + 1 < mass.size() && !(mass[right] > 0)) ++right;
        if (!(mass[left] > 0) || !(mass[right] > 0)) return false;
        // Masses are a Q, so that of both a Q and Q the sum is kept.
        const double below = static_cast<double>(c - left) * step;
        const double above = static_cast<double>(right - c) * step;
        const double weight = std::expm1(above) / (std::exp(above) - std::exp(-below));
        mass[left] += mass[c] * weight * std::exp(-below);
        mass[right] += mass[c] * (1 - weight) * std::exp(above);
        mass[c] = 0;
        if (mass[left] < 0) c = left - 1;
    }
    return true;
}

LatticeLosses tangents(const LossCells& cells) {
    const double step = cells.step;
    Centres centres;
    for (std::size_t c = 0; c < cells.size(); ++c) {
        const double q = cells.scaled[c];  // times the ratio of the lower end
        centres.mass.push_back(q * std::exp(step / 2));
        centres.offset.push_back(q * (std::expm1(step / 2) - cells.share[c] * std::expm1(step)));
    }
    merge_below(centres, step);
    merge_above(centres, step);
    if (!centres.resolved()) return {};
    const std::size_t n = centres.end - centres.begin;
    std::vector<double> under_p(n), under_q(n);
    // The segment to the right of a centre has the slope of the tangent there, changed by how far
    // below it its two ends are: a at the left one, b at the right one.
    const auto a = [&](std::size_t c) { return std::max(0.0, centres.offset[c]); };
    const auto b = [&](std::size_t c) { return std::max(0.0, -centres.offset[c]); };
    for (std::size_t c = centres.begin; c < centres.end; ++c) {
        double change = a(c) + std::exp(step) * b(c);
        if (c + 1 < centres.end) change -= b(c + 1);
        if (c > centres.begin) change -= std::exp(step) * a(c - 1);
        under_p[c - centres.begin] = centres.mass[c] + change / std::expm1(step);
    }
    if (!make_convex(under_p, step)) return {};
    const double first = cells.edge(centres.begin) + step / 2;
    for (std::size_t c = 0; c < n; ++c)
        under_q[c] = under_p[c] * std::exp(-(first + step * static_cast<double>(c)));
    return both_directions(first, step, std::move(under_p), std::move(under_q));
}

}  // namespace

double normal_tail_point(double tail) {
    return std::numbers::sqrt2 * boost::math::erfc_inv(2 * std::max(tail, 1e-300));
}

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
    RoundBounds bounds{chords(cells), tangents(cells), 0};
    const double farthest = cells.edge(cells.size());
    bounds.location_error = 0x1p-50 * (std::abs(cells.least) + std::abs(farthest) +
                                       (1 / noise_multiplier + 40) / noise_multiplier);
    return bounds;
}

}  // namespace sotto
