#pragma once

// Moments of the loss of sampled rounds, from above: Chernoff's bounds of epsilon and delta, which
// need no lattice; not installed.

#include <Eigen/Core>
#include <span>
#include <vector>

#include "privacy/exact_parts.hpp"
#include "sotto/privacy/sampled_gaussian.hpp"

namespace sotto {

enum class Direction { remove, add };

/// Of every kind of rounds, a z above which P has at most this mass.
[[nodiscard]] std::vector<double> highest_points(std::span<const SampledRounds> rounds,
                                                 double mass);

/// Logarithms of moments. With Q = N(0, 1), losses x(z) = log(1 - q + q e^(z/s - 1/(2 s^2))) and
/// P = e^x Q:
///
///     remove: log E_P e^(tilt x),        add: log E_Q e^(-tilt x)
///
/// These are Renyi divergences: K(tilt) = tilt D_(1+tilt). Where one of the two summands of the
/// likelihood ratio is below e^-40 of the other the integral over z is a Gaussian one, in closed
/// form; in between it is taken by Gauss-Legendre panels of at most a quarter of s. What lies below
/// is counted at the largest value it can have, so that all moments are bounds from above; what
/// lies above (remove only) is left out, and `unresolved` is its mass.
class RoundMoments {
  public:
    /// @param rounds with 0 < q < 1.  @param tail mass of P in one round that is left out above.
    RoundMoments(std::span<const SampledRounds> rounds, const ExactParts& exact, double tail);
    /// @param highest of every kind of rounds, the z above which losses are left out.
    RoundMoments(std::span<const SampledRounds> rounds,
                 const ExactParts& exact,
                 std::span<const double> highest);

    /// log E e^(tilt X), X the loss of everything in this direction. @param tilt from 0 to
    /// `highest_tilt`.  Cost: about 20 microseconds for each kind of rounds.
    [[nodiscard]] double log_moment(Direction direction, double tilt) const;
    /// The widest lattice step, `widest` times a power of 2^(-1/4), whose bounds raise or lower
    /// that logarithm by about `allowed`.
    [[nodiscard]] double widest_step(Direction direction,
                                     double tilt,
                                     double allowed,
                                     double widest) const;
    /// Beyond it panels are too wide for the moment to be right.
    [[nodiscard]] double highest_tilt() const { return highest_tilt_; }
    /// Sum over rounds of the mass that is left out. It is part of delta.
    [[nodiscard]] double unresolved(Direction direction) const {
        return direction == Direction::remove ? unresolved_ : 0;
    }

  private:
    struct Group {
        double noise = 0, probability = 0, count = 0;
        double low = 0, high = 0;            // ends of the panels
        double highest = 0;                  // above it losses are left out
        bool below = false, above = false;   // whether closed forms take over at the ends
        Eigen::ArrayXd losses, log_under_q;  // at the nodes
    };
    void add_panels(Group& group);
    [[nodiscard]] static double log_moment(const Group& group, Direction direction, double tilt);

    std::vector<Group> groups_;
    ExactParts exact_;
    double highest_tilt_ = 1e12;
    double unresolved_ = 0;
};

/// The tilt of the least of Chernoff's bounds, and the epsilon or log(delta) that it has.
struct TiltedEstimate {
    double tilt = 0;
    double value = 0;
};
/// The epsilon at this delta, from above (0 or negative where delta is met by 0; infinite where
/// what is unresolved exceeds delta).
[[nodiscard]] TiltedEstimate estimate_epsilon(const RoundMoments& moments,
                                              Direction direction,
                                              double delta);
/// The logarithm of delta at this epsilon, from above, without what is unresolved.
[[nodiscard]] TiltedEstimate estimate_log_delta(const RoundMoments& moments,
                                                Direction direction,
                                                double epsilon);
/// A small tilt whose bound of log(delta) is at most `enough`.
/// @param best the tilt of the least bound, which is returned where no smaller one is enough.
[[nodiscard]] double small_tilt(
    const RoundMoments& moments, Direction direction, double epsilon, double enough, double best);
/// log of the least c with (1 - e^-x)+ <= c e^(tilt x): tilt^tilt / (1 + tilt)^(1 + tilt).
[[nodiscard]] double log_chernoff_factor(double tilt);

}  // namespace sotto
