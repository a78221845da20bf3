#include "privacy/lattice_curve.hpp"

#include <cmath>
#include <numeric>

#include "privacy/round_moments.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

/// A small tilt whose bound of log(delta) is at most `enough`, or the one with the least bound.
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
