#pragma once

#include <Eigen/Dense>
#include <memory>
#include <optional>
#include <string>

#include "config/config.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/learn/objective.hpp"
#include "sotto/net/network.hpp"
#include "tasks/local_task.hpp"

namespace sotto {

/// What a program brings for the one agent of this process.
struct HandedInputs {
    std::unique_ptr<Objective> objective;
    /// Model that every agent begins with; empty: zero. It must not depend on data.
    Eigen::VectorXd initial;
    std::string description;  ///< for people
    /// Of the agent's records, as the program sees fit. Without it only their number is compared
    /// when the run is taken up.
    std::optional<Digest> data{};
};

/// The task of agents whose gradients a program hands over. COLLECTIVE.
/// @throws ConfigError, DataError, NetworkError, the same on every process; the second where agents
/// begin with different models.
[[nodiscard]] LocalTask make_handed_task(HandedInputs inputs,
                                         const TaskConfig& config,
                                         Network& network);

}  // namespace sotto
