#pragma once

#include <Eigen/Dense>

#include "sotto/graph/mixing.hpp"

namespace sotto {

/// pi, n entries >= 0 that sum to 1. Averaging mixes models into sum_u pi_u x_u: W's left Perron
/// vector, 1/n each where W is doubly stochastic. With push_sum pi = A pi, and w tends to n pi.
/// (docs/equations.md 19.) Where the weights leave several, that which equal models or w = 1 come
/// to. Cost: O(n^3) up to 2000 agents, then at most 10^5 products with the matrix.
[[nodiscard]] Eigen::VectorXd perron_vector(const MixingMatrix& mixing);

/// D^-1, n entries: what agents end up with is D^-1 times what mixing made, 1/(n pi) with push_sum
/// once w has settled, else 1. Cost: as perron_vector.
[[nodiscard]] Eigen::VectorXd estimate_factors(const MixingMatrix& mixing);

/// w of push-sum, n numbers > 0 that models are divided by. Public: of the graph alone, so every
/// agent knows all.
class PushSumWeights {
  public:
    explicit PushSumWeights(int agents) : now_(Eigen::VectorXd::Ones(agents)), before_(now_) {}
    /// After one exchange, that makes here W m - before m' of messages m and those before.
    void mix(const MixingMatrix& mixing, double here = 1, double before = 0);
    [[nodiscard]] double of(int agent) const { return now_[agent]; }
    [[nodiscard]] const Eigen::VectorXd& values() const { return now_; }

  private:
    Eigen::VectorXd now_, before_;
};

}  // namespace sotto
