#pragma once

#include <Eigen/Dense>

#include "agent/trainer.hpp"

namespace sotto {

/// How contributions are clipped and rounded to the plan's grid.
struct ContributionRule {
    const TrainerOptions& options;
    NoiseEntry entry = NoiseEntry::gradient;
    bool l1_clip = false;
    double grid_step = 0;  ///< gamma
};

/// The contribution of one agent to round `round`: its gradient at the model, clipped (per batch,
/// or per record and summed over B; with E local steps their sum; divided by q if agents are
/// sampled; zero without a batch), every coordinate a multiple of gamma. A non-finite one becomes
/// zero and is counted. LOCAL. Cost: that of the objective, and O(d), E times.
/// @param contribution d, overwritten.
/// @throws PrivacyError if the clip norm leaves no room for rounding messages to the grid.
void contribute(const ContributionRule& rule,
                long round,
                const Eigen::Ref<const Eigen::VectorXd>& model,
                LocalAgent& agent,
                Eigen::Ref<Eigen::VectorXd> contribution,
                AgentReport& report);

/// Scales to norm `clip_norm` (L1 or L2) if it is larger, then rounds toward zero to the grid: the
/// result's norm is at most clip_norm, to the last bit, for any gradient. A non-finite gradient
/// becomes zero.
/// @return false if it was not finite.
[[nodiscard]] bool clip_to_grid(Eigen::Ref<Eigen::VectorXd> gradient,
                                bool l1,
                                double clip_norm,
                                double grid_step);

/// The same per coordinate, each as its own model.
/// @return false if one was not finite.
[[nodiscard]] bool clip_coordinates_to_grid(Eigen::Ref<Eigen::VectorXd> gradient,
                                            double clip_norm,
                                            double grid_step);

}  // namespace sotto
