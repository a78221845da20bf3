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
        for (const TiltedComposition& one : terms_) {
            const Certified part = one.delta(epsilon);
            sum.upper += part.upper;
            sum.lower += part.lower;
        }
        return {std::min(sum.upper, 1.0), std::min(sum.lower, 1.0)};
    }
    [[nodiscard]] double wanted_length() const {
        double longest = 0;
        for (const TiltedComposition& one : terms_)
            longest = std::max(longest, one.wanted_length());
        return longest;
    }
    [[nodiscard]] double error() const {
        double largest = 0;
        for (const TiltedComposition& one : terms_) largest = std::max(largest, one.error());
        return largest;
    }

  private:
    std::vector<TiltedComposition> terms_;
    double several_ = 0;
};

}  // namespace sotto
