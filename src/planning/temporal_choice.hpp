#pragma once

#include <Eigen/Core>
#include <vector>

#include "config/config.hpp"
#include "sotto/design/affordable_shape.hpp"
#include "sotto/graph/topography.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// The shape of --temporal auto (affordable_shape); empty where the configuration leaves none open:
/// it names one, has a plan already, or its mechanism takes none. With an open cycle the widest
/// band that agents can afford, which choose_cycle narrows.
/// @param records of every agent, which count where batches are all of them; empty: not known.
/// @param dimension d.
/// @throws as affordable_shape.
[[nodiscard]] ShapeChoice choose_temporal(const PlanConfig& config,
                                          const Topography& topography,
                                          const std::vector<Eigen::Index>& records,
                                          long dimension);

/// With the shape that was chosen, if one was.
[[nodiscard]] PlanConfig with_temporal(PlanConfig config, const ShapeChoice& choice);

/// A configuration that leaves no temporal factor's shape open.
struct AgreedTemporal {
    PlanConfig config;
    ShapeChoice choice;  ///< on processes that solve plans
};
/// Process 0's choice, where this process leaves it open. COLLECTIVE.
/// @param solves this process solves plans, and chooses for itself.
/// @throws as choose_temporal; NetworkError where two processes chose differently, or process 0
/// chose nothing; the same on every process.
[[nodiscard]] AgreedTemporal agree_on_temporal(PlanConfig config,
                                               Network& network,
                                               const Topography& topography,
                                               const std::vector<Eigen::Index>& records,
                                               long dimension,
                                               bool solves);

}  // namespace sotto
