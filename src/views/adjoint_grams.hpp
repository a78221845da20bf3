#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "sotto/core/sparse_rows.hpp"
#include "views/view_filter.hpp"

namespace sotto {

/// Gram matrices of many targets at once. Every innovation e_k, a row of whitening H x, is followed
/// backward through the error dynamics,
///
///     a_s = (F - G W H)^T a_{s+1} = F^T a_{s+1} + H^T o,   o = -W^T G^T a_{s+1},
///
/// with whitening W and gain G. The response to unit inputs of round s is B^T a_{s+1} + D^T o, for
/// all targets side by side; Gram_{s,t} sums products of these over innovations. As exact as
/// forward responses. Cost, with n the state, p the observed values, K gossip steps: (rounds K)^2 /
/// 2 * p * (entries(F) + n p) for all targets together, and rounds^3 / 6 * p K a target.
class AdjointGrams {
  public:
    /// @param memory [bytes] for the innovations followed at a time: 8 p (rounds targets + 2 (n +
    /// p)) each step, and at least one step.
    explicit AdjointGrams(const ViewFilter& filter, double memory = 256e6);

    /// Uses all threads.
    [[nodiscard]] std::vector<TargetGram> grams(std::span<const int> targets) const;

  private:
    class Walk;

    const ViewFilter& filter_;
    double memory_;
    std::vector<SparseRows> backward_;  ///< (F; H)^T of every step of the model
};

/// out = dense * sparse^T, which must not alias `dense`. Threads share blocks of rows; results do
/// not depend on their number. Cost rows(dense) * entries(sparse).
void multiply_transpose(const Eigen::Ref<const Eigen::MatrixXd>& dense,
                        const SparseRows& sparse,
                        Eigen::Ref<Eigen::MatrixXd> out);

/// dense * sparse^T.
[[nodiscard]] Eigen::MatrixXd times_transpose(const Eigen::Ref<const Eigen::MatrixXd>& dense,
                                              const SparseRows& sparse);

/// out = sparse * right if that is symmetric, as for right = S sparse^T with symmetric S: computes
/// one triangle and copies it. Cost half of multiply_transpose's.
void multiply_symmetric(const SparseRows& sparse,
                        const Eigen::MatrixXd& right,
                        Eigen::Ref<Eigen::MatrixXd> out);

/// Gram matrices of many rounds without following every input through every later round. With
/// Phi_t, O_t the error dynamics and whitened innovations of round t, b_t its state response to an
/// input, and N_t = O_t^T O_t + Phi_t^T N_{t+1} Phi_t,
///
///     Gram_{s,t} = (Phi_{t-1} ... Phi_{s+1} b_s)^T y_t,   y_t = O_t^T r_t + Phi_t^T N_{t+1} b_t.
///
/// Rounds are halved recursively: left inputs are carried forward to the middle, right y_t
/// backward, by products over dyadic intervals. Memory about 4 rounds state^2 doubles; cost
/// O(rounds state^3) once, then O(rounds log(rounds) state^2 + rounds^2 state) a target.
class ResponseTree {
  public:
    explicit ResponseTree(const ViewFilter& filter);
    [[nodiscard]] std::vector<TargetGram> grams(std::span<const int> targets) const;

  private:
    struct Round {
        Eigen::MatrixXd seen;     ///< O_t
        Eigen::MatrixXd gramian;  ///< N_{t+1}
        Eigen::MatrixXd leak;     ///< the same for innovations outside the range of the noise
    };
    class Walk;

    const ViewFilter& filter_;
    std::vector<Round> rounds_;
    std::vector<Eigen::MatrixXd> carried_;  ///< Phi of dyadic intervals, as a heap from 1
    void build(std::size_t node, long begin, long end, std::vector<Eigen::MatrixXd>& leaves);
};

}  // namespace sotto
