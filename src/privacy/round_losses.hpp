#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

// The privacy loss of one sampled round on a lattice.

/// Distribution of a privacy loss: mass[j] at first + j step, and the rest at infinity. Masses need
/// not sum to 1: measures bound hockey-stick divergences and compose like distributions.
struct LatticeLoss {
    double first = 0;
    double step = 0;
    std::vector<double> mass;
    double infinite = 0;  ///< mass at an infinite loss
};

/// Both directions of one pair: log dP/dQ under P (`remove`: the record was there), and log dQ/dP
/// under Q (`add`).
struct LatticeLosses {
    LatticeLoss remove, add;
};

/// Bounds of one round's pair (Q = N(0, s^2), P = (1-q) N(0, s^2) + q N(1, s^2)), docs/equations.md
/// 15.
///
/// H(a) = int (P - a Q)+ is convex in a. With cells of log a of width `step`, from log(1 - q) up:
///   upper  chords of H between the cells' ends, which dominate (P, Q) in both directions
///          (Doroshenko et al. 2022, connect the dots). A cell's mass goes to its two ends so that
///          both its P and its Q mass are kept.
///   lower  outcomes merged at random into the ratios of a lattice through the mean of the heaviest
///          cell: post-processing. What cannot be balanced loses numerator mass. Each direction
///          has its own pair.
///
/// Both differ from H by O(step^2). Outcomes with less than `tail` of Q below, or of P above,
/// become infinite or are merged upwards (upper), or are dropped (lower).
struct RoundBounds {
    LatticeLosses upper, lower;
    double location_error = 0;  ///< bound on rounding errors of the lattice's losses
};

/// Masses have a relative error of 1e-13. Cost: O(cells).
/// @param noise_multiplier s > 0, finite.
/// @param probability 0 < q < 1.
[[nodiscard]] RoundBounds bound_round(double noise_multiplier,
                                      double probability,
                                      double step,
                                      double tail);

/// Bounds of one epoch of `rounds` rounds in exactly one of which, drawn uniformly and in secret,
/// the record takes part (random allocation; Feldman, Shenfeld 2025): Q = N(0, s^2 I), P = mean
/// over i of N(e_i, s^2 I), likelihood ratio L = mean of `rounds` independent log-normals A_i with
/// E_Q A_i = 1. The law of L under Q follows by sums of two at a time, on cells of log L of width
/// `step`:
///   upper  mass between two cells' ends is split between them so that Q and P mass are kept:
///   larger
///          in convex order, so that it dominates (P, Q) in both directions.
///   lower  a cell's mass stays at its mean ratio: smaller in convex order; then as bound_round.
///
/// Outcomes in which some A_i is beyond its tails (at most `tail` of Q and of P) become infinite
/// (upper) or are dropped (lower).
/// Masses have a relative error of 1e-12. Cost: O(cells^2 log rounds).
/// @param noise_multiplier s > 0, finite.
/// @param rounds 2 or more.
/// @throws ConfigError if the cells are too many to be added up.
[[nodiscard]] RoundBounds bound_epoch(double noise_multiplier,
                                      long rounds,
                                      double step,
                                      double tail);

/// How many times as wide the first cells of bound_epoch may be, 1 or more: errors of a law are
/// averaged in later ones, which allows sqrt(rounds), but cells of a single large log-normal show
/// in all means.
[[nodiscard]] double first_width(double noise_multiplier, long rounds);

/// Of one round, or of one epoch of random allocation.
[[nodiscard]] RoundBounds bound(const SampledRounds& rounds, double step, double tail);

/// The range of losses of one round, or of one log-normal of an epoch, without mass `tail`. [log]
[[nodiscard]] double widest_loss(const SampledRounds& rounds, double tail);
/// log(P/Q) where the noise is z standard deviations.
[[nodiscard]] double sampled_loss(double noise_multiplier, double probability, double z);

// Closed forms for the Gaussian and pure parts of a loss.

/// Gaussian parts with this mu^2 and pure ones with this epsilon (class comment of PrivacyLoss).
struct ExactParts {
    double mu_squared = 0;
    double pure = 0;

    [[nodiscard]] bool nothing() const { return mu_squared == 0 && pure == 0; }
};

/// E (1 - e^(epsilon - X))+ over their loss X, for every finite epsilon, including negative ones.
[[nodiscard]] double exact_delta(const ExactParts& parts, double epsilon);
/// Its logarithm, also where exact_delta underflows.
[[nodiscard]] double log_exact_delta(const ExactParts& parts, double epsilon);
/// log E e^(tilt X).  @param tilt 0 or more.
[[nodiscard]] double exact_log_moment(const ExactParts& parts, double tilt);

// Upper bounds on moments of the loss of sampled rounds, for Chernoff bounds of epsilon and delta
// without a lattice.

enum class Direction { remove, add };

/// For every kind of rounds, a z above which P has at most this mass.
[[nodiscard]] std::vector<double> highest_points(std::span<const SampledRounds> rounds,
                                                 double mass);

/// Logarithms of moments. With Q = N(0, 1), losses x(z) = log(1 - q + q e^(z/s - 1/(2 s^2))) and P
/// = e^x Q:
///
///     remove: log E_P e^(tilt x),        add: log E_Q e^(-tilt x)
///
/// These are Renyi divergences: K(tilt) = tilt D_(1+tilt). Where one summand of the likelihood
/// ratio is below e^-40 of the other the integral over z is Gaussian, in closed form; in between it
/// uses Gauss-Legendre panels of at most a quarter of s. Everything below counts at its largest
/// possible value, so that all moments are upper bounds; what lies above (remove only) is left out,
/// with mass `unresolved`. Moments of an epoch of random allocation are those of a coarse upper
/// lattice (bound_epoch).
class RoundMoments {
  public:
    /// @param rounds with 0 < q < 1.
    /// @param tail mass of P in one round that is left out above.
    RoundMoments(std::span<const SampledRounds> rounds, const ExactParts& exact, double tail);
    /// @param highest for every kind of rounds, the z above which losses are left out.
    RoundMoments(std::span<const SampledRounds> rounds,
                 const ExactParts& exact,
                 std::span<const double> highest);

    /// log E e^(tilt X), X the total loss in this direction. Cost: about 20 microseconds for each
    /// kind of rounds.
    /// @param tilt from 0 to `highest_tilt`.
    [[nodiscard]] double log_moment(Direction direction, double tilt) const;
    /// The widest lattice step, `widest` times a power of 2^(-1/4), whose bounds change that
    /// logarithm by about `allowed`.
    [[nodiscard]] double widest_step(Direction direction,
                                     double tilt,
                                     double allowed,
                                     double widest) const;
    /// Beyond it panels are too wide for a correct moment.
    [[nodiscard]] double highest_tilt() const { return highest_tilt_; }
    /// Sum over rounds of the mass left out, which counts in delta.
    [[nodiscard]] double unresolved(Direction direction) const {
        return direction == Direction::remove ? unresolved_ : unresolved_add_;
    }

  private:
    struct Group {
        double noise = 0, probability = 0, count = 0;
        double low = 0, high = 0;            // ends of the panels
        double highest = 0;                  // above it losses are left out
        bool below = false, above = false;   // whether closed forms apply beyond the ends
        bool epoch = false;                  // all mass is at nodes
        Eigen::ArrayXd losses, log_under_q;  // at the nodes
    };
    void add_panels(Group& group);
    void add_epoch(const SampledRounds& rounds, Group& group);
    [[nodiscard]] static double log_moment(const Group& group, Direction direction, double tilt);

    std::vector<Group> groups_;
    ExactParts exact_;
    double highest_tilt_ = 1e12;
    double unresolved_ = 0, unresolved_add_ = 0;
};

/// The tilt of the smallest Chernoff bound, and its epsilon or log(delta).
struct TiltedEstimate {
    double tilt = 0;
    double value = 0;
};
/// Upper bound on epsilon at this delta (0 or negative if delta holds at 0; infinite if the
/// unresolved mass exceeds delta).
[[nodiscard]] TiltedEstimate estimate_epsilon(const RoundMoments& moments,
                                              Direction direction,
                                              double delta);
/// Upper bound on log(delta) at this epsilon, without the unresolved mass.
[[nodiscard]] TiltedEstimate estimate_log_delta(const RoundMoments& moments,
                                                Direction direction,
                                                double epsilon);
/// A small tilt whose bound on log(delta) is at most `enough`.
/// @param best the tilt of the smallest bound, returned if no smaller tilt suffices.
[[nodiscard]] double small_tilt(
    const RoundMoments& moments, Direction direction, double epsilon, double enough, double best);
/// log of the smallest c with (1 - e^-x)+ <= c e^(tilt x): tilt^tilt / (1 + tilt)^(1 + tilt).
[[nodiscard]] double log_chernoff_factor(double tilt);

}  // namespace sotto
