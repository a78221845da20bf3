#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <vector>

#include "sotto/core/sparse_rows.hpp"
#include "sotto/plan/lagged_noise.hpp"
#include "sotto/views/view.hpp"

namespace sotto {

/// One gossip step of what a view does not know, up to known terms:
///
///     x+ = F x + nu N w + eta B g,     y = H x + nu E w + eta D g,     w ~ N(0, R) fresh,
///
/// with w and g present in the first step of a round only. x is what the view cannot reconstruct:
/// messages it saw are known and no part of x, so F and H are often much smaller than W. Where a
/// later phase goes back to the models after some round, x holds them besides until then.
struct LinearStep {
    SparseRows transition;           ///< F, state x previous state
    SparseRows observation;          ///< H, observed x previous state
    SparseRows state_source;         ///< N, state x sources
    SparseRows observed_source;      ///< E, observed x sources
    SparseRows state_input;          ///< B, state x agents
    SparseRows observed_input;       ///< D, observed x agents
    SparseRows state_covariance;     ///< N R N^T
    SparseRows cross_covariance;     ///< N R E^T
    SparseRows observed_covariance;  ///< E R E^T
    /// Sum over observations that hear nothing of the state, each under noise of its own, of
    /// D_u^2 / variance: what round s alone says about one unit of agent u. Left out of H, E, D.
    Eigen::VectorXd alone;
};

/// Every gossip step of every round of a view. Equal steps are stored once.
struct ObservationModel {
    std::vector<LinearStep> steps;
    std::vector<int> step_at;         ///< time (round * gossip_steps + step) -> steps
    std::vector<double> noise_scale;  ///< nu of every round
    std::vector<double> input_scale;  ///< eta of every round; responses are to unit inputs
    int gossip_steps = 1;
    long rounds = 0;
    /// R = source_factor source_factor^T, of every NoiseStretch.
    std::vector<Eigen::SparseMatrix<double>> source_factors;
    std::vector<int> stretch_at;  ///< round -> source_factors
    [[nodiscard]] const LinearStep& at(long time) const {
        return steps[static_cast<std::size_t>(step_at[static_cast<std::size_t>(time)])];
    }
    [[nodiscard]] double noise_at(long time) const {
        return noise_scale[static_cast<std::size_t>(time / gossip_steps)];
    }
};

/// @param noises of every NoiseStretch: of independent rounds (lags 0) or with a short memory,
/// which becomes part of the state: lags * agents more entries.
[[nodiscard]] ObservationModel make_observation_model(const MessageProcess& process,
                                                      const View& view,
                                                      const std::vector<LaggedNoise>& noises);

}  // namespace sotto
