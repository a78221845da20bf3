#pragma once

#include <Eigen/Dense>
#include <vector>

#include "core/linear_algebra.hpp"
#include "sotto/graph/gossip.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// What makes messages of honest agents differ.
struct HonestDrive {
    const NoisePlan& plan;       ///< Gaussian, independent over rounds, on gradients
    const MixingMatrix& mixing;  ///< symmetric, of all rounds
    GossipPolynomial gossip{1};
    double contribution = 0;     ///< C: largest norm of an agent's contribution
    Eigen::Index dimension = 1;  ///< d
    double horizon = 1;          ///< H of averages, in rounds, at least 1
};

/// Norms that the difference of two honest agents' messages, m_v - m_u, exceeds with probability
/// below 1%, from the plan alone. With W the mixing, p_k(W) m the messages of the k-th exchange of
/// a round for its first messages m, and q(W) what all K exchanges do,
///
///     S_0 = 0,   M_t = S_t + eta_t^2 R,   S_(t+1) = q(W) M_t q(W)^T,
///     D_uv = (e_v - e_u)^T p_k(W) M_t p_k(W)^T (e_v - e_u)
///
/// is the variance of the noise in a coordinate of the difference, whose norm is below
///
///     sqrt(D_uv) (sqrt(d) + sqrt(2 log 100))
///
/// with probability 0.99 (the norm is a 1-Lipschitz function of d normals with mean at most
/// sqrt(d): Boucheron, Lugosi, Massart 2013, theorem 5.6). Gradients add at most
///
///     B_uv = eta C sum_(j >= 0) ||(e_v - e_u)^T p_k(W) q(W)^j||_1,
///
/// eta the step, or an earlier one less what mixing has made of it since, for contributions of norm
/// up to C (with sampled records: for batches of the usual size). M and S are kept in the basis of
/// W's eigenvectors, where all of this is elementwise. Public values only.
///
/// The same for averages over rounds, a <- (1 - h) a + h y, h = max(1/H, 1/t) in the t-th round, y
/// the mean over a round's exchanges of p_k(W) m: with P the covariance of a, X that of a and the
/// next round's models,
///
///     P <- (1 - h)^2 P + (1 - h) h (X y(W)^T + y(W) X^T) + h^2 y(W) M y(W)^T,
///     X <- ((1 - h) X + h y(W) M) q(W)^T.
///
/// With x = log(1e4), |a_v - a_u|^2 is above its variance times d + 2 sqrt(d x) + 2 x with a
/// probability below 1e-4 (Laurent, Massart 2000, lemma 1).
class HonestSpread {
  public:
    /// Cost: an eigendecomposition, and products of n x n matrices until the sum of B_uv has
    /// converged, at most 400. @throws Error if the plan or the mixing are not as HonestDrive says.
    explicit HonestSpread(const HonestDrive& drive);

    /// The next round, of step size eta_t. Cost O(n^2); figures of pairs O(n^3) when asked for, for
    /// more than 64 agents only every n/64 rounds, after the first 16.
    void begin_round(double step);
    /// A round before those whose messages are seen.
    void pass_round(double step);

    /// h of this round.
    [[nodiscard]] double share() const { return share_; }
    /// D_uv in the k-th exchange of this round.
    [[nodiscard]] double variance(int exchange, int u, int v) const {
        return variance_[static_cast<std::size_t>(exchange)](u, v);
    }
    /// B_uv.
    [[nodiscard]] double gradients(int exchange, int u, int v) const {
        return step_ * gradients_[static_cast<std::size_t>(exchange)](u, v);
    }
    /// tau_uv: noise and gradients.
    [[nodiscard]] double limit(int exchange, int u, int v) const;
    /// Variance of a coordinate of the average difference before this round.
    [[nodiscard]] double average_variance(int u, int v) const { return average_variance_(u, v); }
    /// Norm of the noise in it.
    [[nodiscard]] double average_noise(int u, int v) const;

  private:
    void add_gradients(const Eigen::MatrixXd& mixing, double radius);
    /// (e_v - e_u)^T Q inner Q^T (e_v - e_u) of all pairs.
    [[nodiscard]] Eigen::MatrixXd of_pairs(const Eigen::MatrixXd& inner) const;
    [[nodiscard]] bool due() const;

    double contribution_;
    double dimension_;
    double horizon_;                           // H
    double share_ = 1;                         // h
    Eigen::MatrixXd basis_;                    // eigenvectors of W
    Eigen::MatrixXd noise_;                    // R
    std::vector<Eigen::VectorXd> partial_;     // p_k, by eigenvalue
    Eigen::VectorXd whole_, mean_;             // q, and the mean of p_k
    Eigen::MatrixXd models_, average_, both_;  // S, P, X
    double step_ = 0;                          // eta of B
    long rounds_ = 0;
    std::vector<Eigen::MatrixXd> gradients_, variance_;
    Eigen::MatrixXd average_variance_;
};

}  // namespace sotto
