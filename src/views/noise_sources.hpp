#pragma once

#include <Eigen/Sparse>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/views/view.hpp"
#include "views/agent_index.hpp"
#include "views/linear_step.hpp"

namespace sotto {

/// The noise of one plan that a view does not know, drawn anew every round: w ~ N(0, R).
struct NoiseSources {
    AgentIndex index;  ///< agents, or streams where receivers get noise of their own
    Eigen::SparseMatrix<double> factor;  ///< R = factor factor^T
    SparseRows covariance;               ///< R
};
[[nodiscard]] NoiseSources noise_sources(const NoisePlan& plan, const View& view);

/// Whether all receivers get the same noise from this sender.
[[nodiscard]] bool same_noise_to_all(const NoisePlan& plan, int sender);

}  // namespace sotto
