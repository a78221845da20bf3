#pragma once

#include <Eigen/Dense>

#include "sotto/design/design.hpp"
#include "sotto/graph/gossip.hpp"

namespace sotto {

/// How noisy gradients are scaled, coordinate by coordinate.
struct Preconditioning {
    long every = 0;                 ///< R, rounds between renewals; 0: not at all
    GossipPolynomial consensus{1};  ///< exchanges of models that come before a renewal
    /// phi: variance of a coordinate of the mean of all agents' noise in one round.
    double noise_variance = 0;
};

/// What single rounds add to the motion of a model: with c_s the factor of round s's noisy
/// gradient, sum = sum_s c_s and squares = sum_s c_s^2.
struct MotionWeights {
    double sum = 0, squares = 0;
};

/// For the rounds begin to end - 1, in which x moves by -eta_t u_t, u_t = B u_(t-1) + g_t: c_s =
/// sum over t of eta_t B^(t - s), max(s, begin) <= t < end, for s >= 0. Cost: O(end - begin), plus
/// the rounds after which B^k is below 1e-12.
/// @param momentum B in [0, 1).
[[nodiscard]] MotionWeights motion_weights(const StepSchedule& steps,
                                           double momentum,
                                           long begin,
                                           long end);

/// A diagonal preconditioner P, x <- W (x - eta P u), that divides by gradients' second moments as
/// Adam does and is the same at all agents, so that noise that agents share still cancels. Every R
/// rounds agents exchange models until they agree. Each then computes, from the common model x and
/// that of the last renewal, x' (Kingma and Ba 2015; the noise's bias is subtracted as in Tang,
/// Shpilevskiy and Lecuyer 2024, "DP-AdamBC"):
///
///     g = (kept x' - x) / (P sum_s c_s),
///     v <- 0.9 v + 0.1 (g^2 - phi sum_s c_s^2 / (sum_s c_s)^2),
///     P_i = sqrt((m + f^2 m) / (max(v_i, 0) + f^2 m)),
///
/// m the mean of max(v_i, 0), f = 1/2, c_s as in motion_weights, and kept the product of 1 - eta_t
/// l2. The first v is the first g^2 less its noise. P is between 0 and sqrt(5), 1 where v_i = m;
/// before the first renewal, and where all v_i are at most 0 or not finite, it is 1. It follows
/// from messages: whoever sees them all learns nothing new.
class SharedPreconditioner {
  public:
    SharedPreconditioner(const Preconditioning& options,
                         const StepSchedule& steps,
                         double momentum,
                         double l2);

    /// @param models d x local agents, before the first round; P = 1.
    void start(const Eigen::MatrixXd& models);
    /// @param anchors, moments of an earlier preconditioner, d x local agents.
    /// @throws DataError for other sizes than those of start(), or values that are not finite.
    void resume(const Eigen::MatrixXd& anchors, const Eigen::MatrixXd& moments);

    /// Whether round `round` (from 0) ends with a renewal.
    [[nodiscard]] bool due(long round) const { return (round + 1) % options_.every == 0; }
    /// @param models after round `round`, once agents agree. Cost: O(d) an agent.
    void renew(long round, const Eigen::MatrixXd& models);

    [[nodiscard]] const Preconditioning& options() const { return options_; }
    /// P, x at the last renewal, and v; d x local agents.
    [[nodiscard]] const Eigen::MatrixXd& scales() const { return scales_; }
    [[nodiscard]] const Eigen::MatrixXd& anchors() const { return anchors_; }
    [[nodiscard]] const Eigen::MatrixXd& moments() const { return moments_; }

  private:
    void take_scales();

    Preconditioning options_;
    StepSchedule steps_;
    double momentum_, l2_;
    Eigen::MatrixXd scales_, anchors_, moments_;
};

}  // namespace sotto
