#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "views/target_grams.hpp"

namespace sotto {

/// Gram matrices of many rounds without following every input through every later round. With
/// Phi_t, O_t the error dynamics and whitened innovations of round t, b_t its state response to an
/// input, and N_t = O_t^T O_t + Phi_t^T N_{t+1} Phi_t,
///
///     Gram_{s,t} = (Phi_{t-1} ... Phi_{s+1} b_s)^T y_t,   y_t = O_t^T r_t + Phi_t^T N_{t+1} b_t.
///
/// Rounds are halved recursively: left inputs are carried to the middle, right y_t carried back to
/// it, each by products over dyadic stretches.
/// Memory about 4 rounds state^2 doubles; cost O(rounds state^3) once, then
/// O(rounds log(rounds) state^2 + rounds^2 state) a target.
class ResponseTree {
  public:
    explicit ResponseTree(const ViewFilter& filter);
    [[nodiscard]] std::vector<TargetGram> grams(std::span<const int> targets) const;

  private:
    struct Round {
        Eigen::MatrixXd seen;     ///< O_t
        Eigen::MatrixXd gramian;  ///< N_{t+1}
        Eigen::MatrixXd leak;     ///< the same for innovations that the noise does not cover
    };
    class Walk;

    const ViewFilter& filter_;
    std::vector<Round> rounds_;
    std::vector<Eigen::MatrixXd> carried_;  ///< Phi of dyadic stretches, as a heap from 1
    void build(std::size_t node, long begin, long end, std::vector<Eigen::MatrixXd>& leaves);
};

}  // namespace sotto
