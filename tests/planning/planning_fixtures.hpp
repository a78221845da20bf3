#pragma once

#include <string>
#include <vector>

#include "config/run_fixtures.hpp"
#include "planning/build_topography.hpp"
#include "planning/planning.hpp"

namespace sotto::test {

inline PlanConfig config_of(const std::string& mechanism) {
    PlanConfig config;
    config.mechanism = mechanism;
    config.utility = {Utility::Kind::horizon, 10};
    config.rounds = 100;
    if (find_mechanism("mechanism", mechanism).correlates_rounds) {
        config.rounds = 20;
        config.adjacency = Adjacency::record;
        config.participation = {5};
        config.spatial_mechanism = "corn";
    }
    return config;
}

inline Topography random_topography(int agents) {
    GraphConfig config;
    config.topology.agents = agents;
    return build_topography(config, 1).topography;
}

struct Planned {
    PlannedNoise planned;
    std::vector<Exposure> exposures;  ///< as they count for the plan
    std::vector<PrivacyBudget> budgets;
};
inline Planned plan(const PlanConfig& config,
                    const Topography& topography,
                    const std::vector<Eigen::Index>& records = {}) {
    const int agents = topography.graph.agents();
    const CountedRounds rounds{build_exposures(config, agents, records),
                               build_budgets(config, agents)};
    PlannedNoise planned = plan_noise(config, topography, rounds);
    CountedPlan counted = count_plan(planned.design.plan, config, topography, rounds);
    return {std::move(planned), std::move(counted.exposures), std::move(counted.budgets)};
}

}  // namespace sotto::test
