#pragma once

// The privacy loss of one sampled round on a lattice; not installed.

#include <vector>

namespace sotto {

/// A distribution of a privacy loss: mass[j] at first + j step, and the rest of it. Sums of masses
/// may differ from 1: measures bound hockey-stick divergences, and compose, like distributions.
struct LatticeLoss {
    double first = 0;
    double step = 0;
    std::vector<double> mass;
    double infinite = 0;  ///< mass at an infinite loss
};

/// Both directions of one pair: the loss log dP/dQ under P (`remove`: the record was there), and
/// log dQ/dP under Q (`add`).
struct LatticeLosses {
    LatticeLoss remove, add;
};

/// Bounds of one round's pair (Q = N(0, s^2), P = (1-q) N(0, s^2) + q N(1, s^2)).
///
/// H(a) = int (P - a Q)+ is convex in a. With cells of log a of width `step`, from log(1 - q) up:
///   upper  chords of H between the cells' ends: a pair on the ends that dominates (P, Q) in both
///          directions (Doroshenko et al. 2022, connect the dots). A cell's mass goes to its two
///          ends so that both its P and its Q mass are kept.
///   lower  outcomes are thrown together at random so that what is thrown together has the ratio of
///          a point of a lattice, which goes through the mean of the heaviest cell: post-processing,
///          so that (P, Q) dominates the result. What cannot be balanced loses numerator mass. Each
///          direction has a pair of its own.
/// Both differ from H by O(step^2). What has less than `tail` of Q below, or
/// of P above, is infinite or merged upwards (upper), or dropped (lower).
struct RoundBounds {
    LatticeLosses upper, lower;
    double location_error = 0;  ///< bound of rounding errors of the lattice's losses
};

/// @param noise_multiplier s > 0, finite.  @param probability 0 < q < 1.  Masses are right to
/// 1e-13 of themselves. Cost: O(cells).
[[nodiscard]] RoundBounds bound_round(double noise_multiplier,
                                      double probability,
                                      double step,
                                      double tail);

/// Where the losses of one round end, for `tail` of P beyond. [log]
[[nodiscard]] double widest_loss(double noise_multiplier, double probability, double tail);
/// log(P/Q) where the noise is z standard deviations.
[[nodiscard]] double sampled_loss(double noise_multiplier, double probability, double z);

}  // namespace sotto
