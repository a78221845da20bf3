#pragma once

#include <Eigen/Dense>
#include <span>

#include "plan/lagged_noise.hpp"
#include "sotto/design/design.hpp"
#include "sotto/graph/gossip.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// H, T x T: joint effect of the noise of rounds s and t on all models of all rounds, so that the
/// trajectory objective of C_time and R is Tr(H X_time^-1), X_time = C_time^T C_time:
///
///     H_st = eta_s eta_t sum_{tau >= max(s,t)} Tr((P^{tau-t+1})^T P^{tau-s+1} R),
///
/// P = P_K(W) the mixing of one round; with push-sum every power of it is multiplied by D^-1
/// (estimate_factors). Source: [U] eq. 9, docs/equations.md#noise-that-is-correlated-over-rounds.
/// Forms no matrix with n T rows. Cost: O(n^3 + n T + T^2) for symmetric W; else T products W
/// R^1/2, O(n^2 T^2) flops and n^2 T numbers of memory.
/// @param spatial_covariance R, n x n.
/// @param step_sizes eta_t, one per round (its size is T).
/// @return symmetric, positive semidefinite.
[[nodiscard]] Eigen::MatrixXd temporal_utility(const MixingMatrix& mixing,
                                               const Eigen::MatrixXd& spatial_covariance,
                                               std::span<const double> step_sizes,
                                               const GossipPolynomial& gossip = 1);

/// M, n x n, of the same objective for a given time correlation: it is Tr(M R) with
///
///     M = sum_{s,t} eta_s eta_t (X_time^-1)_st sum_{tau >= max(s,t)} (W^{K(tau-t+1)})^T
///     W^{K(tau-s+1)}.
///
/// Cost: O(n^3 + n T^2) for symmetric W; else as above.
/// @param inverse_gram X_time^-1, T x T.
[[nodiscard]] Eigen::MatrixXd spatial_utility(const MixingMatrix& mixing,
                                              const Eigen::MatrixXd& inverse_gram,
                                              std::span<const double> step_sizes,
                                              const GossipPolynomial& gossip = 1);

/// The same for a temporal factor; for few lags and symmetric W without a matrix of T rows. Cost
/// then: O(n^3 + T (B^2 + n B)) for B lags; else as above.
/// @throws ConfigError for other factors, or other W, above most_dense_rounds rounds.
[[nodiscard]] Eigen::MatrixXd spatial_utility(const MixingMatrix& mixing,
                                              const TemporalFactor& factor,
                                              std::span<const double> step_sizes,
                                              const GossipPolynomial& gossip = 1);

/// H, n T x n T, of the same objective for any correlation of agents and rounds: with covariance
/// Sigma of all noise (row t n + u: agent u in round t) it is Tr(H Sigma), and
/// temporal_utility(R)_st = Tr(H_st R) of its blocks
///
///     H_st = eta_s eta_t sum_{tau >= max(s,t)} (P^{tau-s+1})^T P^{tau-t+1}.
///
/// Source: [U] eq. 5, 9; docs/equations.md#noise-that-is-correlated-over-rounds. Cost: O(n^3 T^2)
/// flops, n^2 T^2 numbers.
/// @throws ConfigError above most_joint_rows rows.
[[nodiscard]] Eigen::MatrixXd joint_utility(const MixingMatrix& mixing,
                                            std::span<const double> step_sizes,
                                            const GossipPolynomial& gossip = 1);

/// Largest number of rows n T for planning all agents and rounds at once.
inline constexpr long most_joint_rows = 400;
/// @throws ConfigError if agents * rounds is larger than most_joint_rows.
void require_joint_rows(long agents, long rounds);

/// Largest number of rounds for methods that need matrices with a row for every round.
inline constexpr long most_dense_rounds = 2000;

/// Response of an agent's models to noise of one round, by its age, in a mode that a round's mixing
/// multiplies by p, for constant step sizes: h_1 is that of the model right after it. B is the
/// momentum, u_a = B^(a-1):
///
///     none              h_a = p (h_(a-1) + u_a)
///     exact diffusion   s_a = h_(a-1) + u_a,  h_a = p (s_a + h_(a-1) - s_(a-1))
///     tracking          y_a = p (y_(a-1) + u_a - u_(a-1)),  h_a = p (h_(a-1) + y_a)
///
/// from zeros. `Value`: a number, a complex one for derivatives, or a square matrix p = P_K(W).
template <class Value>
class ModelResponse {
  public:
    /// @param one 1, or the identity. Both arguments must outlive the object.
    ModelResponse(const Smoothing& smoothing, const Value& mixed, const Value& one)
        : smoothing_(smoothing), mixed_(mixed), one_(one), model_(0.0 * one), stored_(0.0 * one) {}

    /// h_a of the last next(), or 0.
    [[nodiscard]] const Value& model() const { return model_; }
    /// To h_1, h_2, ... in successive calls.
    void next() {
        switch (smoothing_.correction) {
            case Correction::none:
                model_ += weight_ * one_;
                break;
            case Correction::exact_diffusion: {
                const Value step = model_ + weight_ * one_;
                model_ += step - stored_;
                stored_ = step;
                break;
            }
            case Correction::tracking:
                stored_ += (weight_ - weight_before_) * one_;
                stored_ = Value(stored_ * mixed_);
                model_ += stored_;
                break;
        }
        model_ = Value(model_ * mixed_);
        weight_before_ = weight_;
        weight_ *= smoothing_.momentum;
    }

  private:
    const Smoothing& smoothing_;
    const Value& mixed_;
    const Value& one_;
    Value model_;
    Value stored_;                           // s or y
    double weight_ = 1, weight_before_ = 0;  // u_a, u_(a-1)
};

/// Response of what agents return to noise of one round, by its age: g_1 is that of the last round.
/// With h of ModelResponse, g_a = sum_{j<a} alpha_j h_(a-j) in the mean with weights alpha_j of the
/// model j rounds before the last. Final gossip multiplies all of them and is left out.
template <class Value>
class ImpulseResponse {
  public:
    /// @param one 1, or the identity.
    ImpulseResponse(const Smoothing& smoothing, Value mixed, const Value& one)
        : smoothing_(smoothing),
          mixed_(std::move(mixed)),
          one_(one),
          recent_(smoothing_, mixed_, one_),
          left_(smoothing_, mixed_, one_),
          sum_(0.0 * one) {}
    ImpulseResponse(const ImpulseResponse&) = delete;
    ImpulseResponse& operator=(const ImpulseResponse&) = delete;

    /// Returns g_1, g_2, ... in successive calls.
    const Value& next() {
        ++age_;
        recent_.next();
        if (!smoothing_.averages()) return recent_.model();
        if (smoothing_.decay > 0) {
            sum_ = smoothing_.decay * sum_ + (1 - smoothing_.decay) * recent_.model();
            return sum_;
        }
        const auto tail = static_cast<double>(smoothing_.tail_rounds);
        sum_ += recent_.model() / tail;
        if (age_ > smoothing_.tail_rounds) {
            left_.next();
            sum_ -= left_.model() / tail;
        }
        return sum_;
    }

  private:
    const Smoothing& smoothing_;
    long age_ = 0;
    Value mixed_, one_;
    ModelResponse<Value> recent_;  // h_a
    ModelResponse<Value> left_;    // h_(a-J): the part that has left the tail
    Value sum_;
};

// Effect of noise v(t) with few lags on the modes of a symmetric W with eigenvalues lambda_i:
// y_i(t) = lambda_i (y_i(t - 1) + eta_t v(t)), y_i(-1) = 0, for every mode as if v were its own.

/// Moments of the noise v = fresh q + past h of one round, given the state before it.
struct RoundNoise {
    Eigen::VectorXd past;        ///< B
    Eigen::VectorXd with_lags;   ///< Cov(v, h)
    Eigen::VectorXd with_modes;  ///< Cov(v, y_i)
    double variance = 0;         ///< of v
};

/// Covariances of the modes y_i before a round and of the lags h of its noise.
struct ModeState {
    Eigen::MatrixXd lags;      ///< of h, B x B
    Eigen::MatrixXd modes;     ///< of y_i and h, modes x B
    Eigen::VectorXd variance;  ///< of y_i

    /// State before the first round.
    ModeState(Eigen::Index modes_count, Eigen::Index lag_count);

    [[nodiscard]] RoundNoise noise_of_round(const LaggedNoise& noise, Eigen::Index t) const;
    /// Advances to the state before the next round. Cost: O(B^2 + modes B).
    /// @param round noise_of_round(noise, t).
    /// @param values lambda_i.
    /// @param step eta_t.
    void advance(const LaggedNoise& noise,
                 const RoundNoise& round,
                 const Eigen::VectorXd& values,
                 double step,
                 Eigen::Index t);
};

/// sum over rounds t of Var y_i(t), for every mode. Cost: O(T (B^2 + modes B)).
/// @param values lambda_i.
[[nodiscard]] Eigen::VectorXd mode_gains(const LaggedNoise& noise,
                                         const Eigen::VectorXd& values,
                                         std::span<const double> step_sizes);

}  // namespace sotto
