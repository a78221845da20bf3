#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "views/target_grams.hpp"
#include "views/view_filter.hpp"

namespace sotto {

/// Gram matrices of many targets at once. Every innovation e_k, a row of whitening H x, is followed
/// backward through the error dynamics,
///
///     a_s = (F - G W H)^T a_{s+1} = F^T a_{s+1} + H^T o,   o = -W^T G^T a_{s+1},
///
/// whitening W, gain G; what unit inputs of round s make of it is B^T a_{s+1} + D^T o, of all
/// targets side by side, and Gram_{s,t} the sum over innovations of products of these. Exact as
/// forward responses are. Cost, with n the state, p the observed values, K gossip steps: (rounds
/// K)^2 / 2 * p * (entries(F) + n p) for all targets together, and rounds^3 / 6 * p K a target.
class AdjointGrams {
  public:
    /// @param memory [bytes] that is shared by the innovations followed at a time; those of one
    /// step are, whatever they take: 8 p (rounds targets + 2 (n + p)).
    explicit AdjointGrams(const ViewFilter& filter, double memory = 256e6);

    /// Shares its work by threads.
    [[nodiscard]] std::vector<TargetGram> grams(std::span<const int> targets) const;

  private:
    class Walk;

    const ViewFilter& filter_;
    double memory_;
    std::vector<SparseRows> backward_;  ///< (F; H)^T of every step of the model
};

}  // namespace sotto
