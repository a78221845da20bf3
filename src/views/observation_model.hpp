#pragma once

#include <Eigen/Sparse>
#include <vector>

#include "plan/lagged_noise.hpp"
#include "sotto/core/sparse_rows.hpp"
#include "sotto/views/view_record.hpp"
#include "views/linear_step.hpp"

namespace sotto {

/// All gossip steps of all rounds of a view. Equal steps are stored once.
struct ObservationModel {
    std::vector<LinearStep> steps;
    std::vector<int> step_at;         ///< time (round * gossip_steps + step) -> steps
    std::vector<double> noise_scale;  ///< nu of every round
    std::vector<double> input_scale;  ///< eta of every round, for unit inputs
    int gossip_steps = 1;
    long rounds = 0;
    /// R = source_factor source_factor^T of every NoiseStretch.
    std::vector<Eigen::SparseMatrix<double>> source_factors;
    std::vector<int> stretch_at;  ///< round -> source_factors
    [[nodiscard]] const LinearStep& at(long time) const {
        return steps[static_cast<std::size_t>(step_at[static_cast<std::size_t>(time)])];
    }
    [[nodiscard]] double noise_at(long time) const {
        return noise_scale[static_cast<std::size_t>(time / gossip_steps)];
    }
    /// Of the whole run, without values that stand alone.
    [[nodiscard]] long observed_values() const;
    /// Of the largest step.
    [[nodiscard]] Eigen::Index state_size() const;
};

/// @param noises of every NoiseStretch: independent rounds (lags 0) or a short memory, which adds
/// lags * agents entries to the state.
[[nodiscard]] ObservationModel make_observation_model(const MessageProcess& process,
                                                      const View& view,
                                                      const std::vector<LaggedNoise>& noises);

}  // namespace sotto
