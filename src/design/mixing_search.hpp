#pragma once

#include <vector>

#include "design/best_noise.hpp"
#include "design/edge_mixing.hpp"
#include "sotto/design/mixing_design.hpp"

namespace sotto {

/// Edge weights, and the value of what was minimised there.
struct FoundMixing {
    Eigen::VectorXd weights;
    double value = 0;
};

/// Descents over edge weights for one graph and one gain.
class MixingSearch {
  public:
    MixingSearch(const MixingDesignInput& input, GossipPolynomial gossip);

    [[nodiscard]] const EdgeMixing& edges() const { return edges_; }
    /// Metropolis (first), maximum degree, 2 / (l_2 + l_n) of the Laplacian's eigenvalues, which
    /// makes lambda_2 least among constant weights. All have lambda_2 < 1.
    [[nodiscard]] const std::vector<Eigen::VectorXd>& starts() const { return starts_; }
    /// min_R Tr(M(W) R) among the noise given, and its gradient by the weights,
    /// -b_e^T (dTr(M R)/dW) b_e; infinite where lambda_2 >= 1 - 1e-9.
    [[nodiscard]] double value(const BestNoise& noise,
                               const Eigen::VectorXd& weights,
                               Eigen::VectorXd& gradient) const;
    /// A local minimum from there. @param steps at most.
    [[nodiscard]] FoundMixing descend_from(const BestNoise& noise,
                                           const Eigen::VectorXd& weights,
                                           int steps) const;
    /// The best of local minima from all starts and `more`: a few steps from each, the rest from
    /// the two that are then best. @param make an own BestNoise for every descent.
    [[nodiscard]] FoundMixing best_of_starts(const std::function<BestNoise()>& make,
                                             const std::vector<Eigen::VectorXd>& more) const;
    /// Weights as multiples of 2^-40, for which sums of rows are exact.
    [[nodiscard]] static Eigen::VectorXd rounded(const Eigen::VectorXd& weights);
    /// @throws Error if lambda_2 is not below 1.
    [[nodiscard]] MixingMatrix mixing(const Eigen::VectorXd& weights) const;

  private:
    const Graph& graph_;
    EdgeMixing edges_;
    UtilityGain gain_;
    double mean_gain_;
    std::vector<Eigen::VectorXd> starts_;
};

}  // namespace sotto
