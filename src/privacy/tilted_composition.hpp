#pragma once

// Sums of many losses on a lattice; not installed.

#include <vector>

#include "privacy/exact_parts.hpp"
#include "privacy/round_losses.hpp"
#include "sotto/privacy/certified.hpp"

namespace sotto {

/// Longest transform: 100 MB of working space.
inline constexpr double most_transformed = 0x1p22;

/// So many independent losses of one distribution.
struct LatticeGroup {
    const LatticeLoss* loss = nullptr;
    long count = 0;
};

/// The composition of losses on lattices of one step with exact parts:
///
///     delta(epsilon) = E (1 - e^(epsilon - X))+,    X the sum of all.
///
/// The lattice parts are convolved as distributions tilted by e^(tilt loss), by Fourier transform
/// (powers of spectra). With the right tilt what delta is made of is the bulk of what is
/// transformed, so delta is right to many digits however small it is, and errors are bounded in
/// shares of Chernoff's bound c e^(K(tilt) - tilt epsilon) of it, K the logarithm of the moment and
/// c = tilt^tilt / (1 + tilt)^(1 + tilt), since (1 - e^-x)+ <= c e^(tilt x): rounding of the
/// transforms (transform_error, carried through the powers), and what the transform's length leaves
/// out or wraps around (Chernoff's bound again).
class TiltedComposition {
  public:
    /// @param groups outlive the constructor only.  @param tilt > 0.
    TiltedComposition(const std::vector<LatticeGroup>& groups,
                      const ExactParts& exact,
                      double tilt);

    /// delta at epsilon >= 0, for the lattice measures given: no more, and no less.
    /// Cost: O(length); with exact parts about 200 ns times that.
    [[nodiscard]] Certified delta(double epsilon) const;
    /// How many values are transformed; 0 where they would be more than most_transformed: delta is
    /// then only known to lie between 0 and 1.
    [[nodiscard]] long length() const { return static_cast<long>(losses_.size()); }

  private:
    void convolve(const std::vector<LatticeGroup>& groups, const std::vector<double>& log_moments);
    [[nodiscard]] double weighted_sum(double epsilon) const;

    ExactParts exact_;
    double tilt_;
    double log_moment_ = 0;          // of the lattice parts, at the tilt
    double infinite_ = 0;            // bound of the mass at infinite loss
    double error_ = 0;               // as a share of Chernoff's bound
    double relative_error_ = 0;      // of masses
    double centre_ = 0;              // of the window
    std::vector<double> losses_;     // of the window, minus its centre
    std::vector<double> untilted_;   // masses times e^(-tilt (loss - centre))
    std::vector<double> shrinking_;  // e^-(loss - centre)
};

}  // namespace sotto
