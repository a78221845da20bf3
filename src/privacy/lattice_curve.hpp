#pragma once

// delta of a composition on one lattice, with rare large losses counted apart; not installed.

#include <algorithm>
#include <vector>

#include "privacy/exact_parts.hpp"
#include "privacy/tilted_composition.hpp"
#include "sotto/privacy/certified.hpp"

namespace sotto {

/// One lattice's bound of one direction's delta, from above or from below: a sum of compositions.
class LatticeCurve {
  public:
    /// All rounds together, with this tilt.  @param groups outlive the constructors only.
    LatticeCurve(const std::vector<LatticeGroup>& groups, const ExactParts& exact, double tilt) {
        terms_.emplace_back(groups, exact, tilt);
    }
    /// Where large losses are so rare that one of them makes delta, no tilt suits both them and the
    /// others. So losses above `cuts` (of every group) are jumps: there is none, or one in a round
    /// of one group, which has a composition and a tilt of its own, or more than one, of which only
    /// the probability is bounded, by half the square of their expected number.
    /// @param cuts a loss for each group.  @param tilt of the others alone.  @param epsilon,
    /// enough the jumps' own tilt is a small one with Chernoff's bound e^enough at this epsilon.
    LatticeCurve(const std::vector<LatticeGroup>& groups,
                 const std::vector<double>& cuts,
                 const ExactParts& exact,
                 double tilt,
                 double epsilon,
                 double enough);

    [[nodiscard]] Certified delta(double epsilon) const {
        Certified sum{several_, 0};

    }  // namespace sotto
