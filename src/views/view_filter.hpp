#pragma once

#include <Eigen/Dense>
#include <vector>

#include "views/observation_model.hpp"
#include "views/whitening.hpp"

namespace sotto {

/// The Kalman filter of a view (docs/equations.md 8): at every time the whitening of the innovation
/// and the gain. Error dynamics, for the response to an input:
///     r = whitening (H x + eta D g),    x+ = F x + eta B g - gain r.
class ViewFilter {
  public:
    /// Cost a time: two products of the sparse F with the state's covariance, and
    /// O(state^2 observed + observed^3).
    explicit ViewFilter(const ObservationModel& model);

    struct Gain {
        Whitening whitening;
        Eigen::MatrixXd gain;  ///< state x rank
    };
    [[nodiscard]] const Gain& at(long time) const;
    /// From this round on every round's gains are those of this round; rounds() where not reached.
    [[nodiscard]] long steady_round() const { return steady_round_; }
    [[nodiscard]] const ObservationModel& model() const { return model_; }

  private:
    const ObservationModel& model_;
    std::vector<Gain> gains_;
    long steady_round_ = 0;
};

}  // namespace sotto
