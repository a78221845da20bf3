#pragma once

// What one agent adds to its model in a round, before noise; not installed.

#include <Eigen/Dense>

#include "sotto/agent/trainer.hpp"

namespace sotto {

/// What makes the contributions of a training short, and puts them on its plan's grid.
struct ContributionRule {
    const TrainerOptions& options;
    NoiseEntry entry = NoiseEntry::gradient;
    bool l1_clip = false;
    double grid_step = 0;  ///< gamma
};

/// The contribution of one agent to round `round`: its gradient at the model, clipped (of the
/// batch, or of every record and summed over B; with E local steps their sum; over
/// q where agents are sampled; zero without a batch), every coordinate a
/// multiple of gamma. One that is not finite becomes zero and is counted. LOCAL. Cost: that of the
/// objective, and O(d), E times.
/// @param contribution d, overwritten.
/// @throws PrivacyError if the clip norm leaves no room for rounding messages to the grid.
void contribute(const ContributionRule& rule,
                long round,
                const Eigen::Ref<const Eigen::VectorXd>& model,
                LocalAgent& agent,
                Eigen::Ref<Eigen::VectorXd> contribution,
                AgentReport& report);

}  // namespace sotto
