#pragma once

#include <Eigen/Dense>
#include <filesystem>
#include <vector>

#include "sotto/net/network.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/views/view.hpp"

namespace sotto {

/// What the members of a view know of every agent's model. The model of an agent is the mean of its
/// messages (first gossip step) in the last rounds, where the view sees them, else the mean of the
/// members' models in these rounds.
struct KnownModels {
    Eigen::MatrixXd models;   ///< d x agents; of members anything
    std::vector<bool> heard;  ///< from its messages
};

/// Reads what the view recorded in the rounds from `first` on. LOCAL.
/// @param views folder `views` of the run directory.  @param rounds of the run.
/// @throws DataError for recordings that are missing or of another run; ConfigError where they say
/// nothing about some agent.
[[nodiscard]] KnownModels read_known_models(const std::filesystem::path& views,
                                            const View& view,
                                            const NoisePlan& plan,
                                            long rounds,
                                            long first);

/// Process 0's models, on every process. COLLECTIVE.
/// @param models read on process 0 only.  @param dimension of a model.
[[nodiscard]] Eigen::MatrixXd share_models(const Eigen::MatrixXd& models,
                                           Eigen::Index dimension,
                                           Network& network);

}  // namespace sotto
