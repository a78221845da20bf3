#pragma once

#include <algorithm>
#include <vector>

#include "privacy/round_losses.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

// Sums of many losses on a lattice.

/// Longest transform: about 20 ms.
inline constexpr double most_transformed = 0x1p19;

/// `count` independent losses of one distribution.
struct LatticeGroup {
    const LatticeLoss* loss = nullptr;
    long count = 0;
};

/// The composition of losses on lattices of one step with exact parts,
/// docs/equations.md#secretly-sampled-rounds:
///
///     delta(epsilon) = E (1 - e^(epsilon - X))+,    X the sum of all
///                    = e^(K - tilt epsilon) sum_x p(x) e^(-tilt (x - epsilon)) f(epsilon - x),
///
/// with p the probabilities tilted by e^(tilt loss), convolved by powers of spectra, K(tilt) the
/// logarithm of the moment and f the curve of the exact parts. The first factor is kept as a
/// logarithm, so nothing overflows, and underflow is negligible. Errors are bounded relative to
/// Chernoff's bound: rounding of the transforms (transform_error, carried through the powers), and
/// what the window leaves out or wraps around. A figure that is not finite counts as delta 1 from
/// above and 0 from below.
class TiltedComposition {
  public:
    /// @param groups used by the constructor only.
    /// @param tilt > 0.
    /// @param log_weight logarithm of a factor of delta.
    TiltedComposition(const std::vector<LatticeGroup>& groups,
                      const ExactParts& exact,
                      double tilt,
                      double log_weight = 0);

    /// Bounds on delta at epsilon >= 0 for the given lattice measures. Cost: O(length); with exact
    /// parts about 200 ns for each place within some mu of epsilon.
    [[nodiscard]] Certified delta(double epsilon) const;
    /// Number of transformed values; 0 if it would exceed most_transformed: delta is then only
    /// known to lie between 0 and 1.
    [[nodiscard]] long length() const { return static_cast<long>(tilted_.size()); }
    /// Bound on all errors except those of masses, relative to Chernoff's bound.
    [[nodiscard]] double error() const { return error_; }
    /// The transform length that is needed.
    [[nodiscard]] double wanted_length() const { return wanted_; }

  private:
    void convolve(const std::vector<LatticeGroup>& groups, const std::vector<double>& log_moments);
    [[nodiscard]] double loss_at(std::size_t k) const {
        return first_ + step_ * static_cast<double>(k);
    }
    /// The first place in the window with a larger loss.
    [[nodiscard]] std::size_t first_above(double loss) const;
    /// sum p(x) e^(-tilt (x - epsilon)) f(epsilon - x) e^(-K_exact).
    [[nodiscard]] double weighted_sum(double epsilon) const;
    /// The same without exact parts, over places from k on, whose losses exceed epsilon.
    [[nodiscard]] double sum_above(double epsilon, std::size_t k) const;

    ExactParts exact_;
    double tilt_;
    double exact_log_moment_ = 0;  // K_exact at the tilt
    double log_moment_ = 0;        // of the lattice parts, at the tilt
    double infinite_ = 0;          // bound on the mass at infinite loss
    double error_ = 0;             // relative to Chernoff's bound
    double relative_error_ = 0;    // of masses
    double wanted_ = 0;
    double first_ = 0, step_ = 0;  // of the window
    std::vector<double> tilted_;   // p in the window
};

/// log E e^(tilt X), X the sum of the groups' losses.
[[nodiscard]] double log_moment(const std::vector<LatticeGroup>& groups, double tilt);

// delta of a composition on one lattice, with rare large losses treated separately.

/// One lattice's bound on one direction's delta, from above or from below: a sum of compositions.
class LatticeCurve {
  public:
    /// All rounds together, with this tilt.
    /// @param groups used by the constructors only.
    LatticeCurve(const std::vector<LatticeGroup>& groups, const ExactParts& exact, double tilt) {
        terms_.emplace_back(groups, exact, tilt);
    }
    /// If rare single large losses dominate delta, no tilt suits both them and the others. So
    /// losses above `cuts` (of every group) are jumps: there is none, or one in a round of one
    /// group, with a composition and a tilt of its own, or more than one, whose probability is
    /// bounded by half the square of their expected number.
    /// @param cuts a loss for each group.
    /// @param tilt of the composition without jumps.
    /// @param epsilon, enough a jump's own tilt is a small one with Chernoff's bound e^enough at
    /// this epsilon.
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
