#pragma once

#include <memory>
#include <string>
#include <vector>

#include "account/published_bound.hpp"
#include "planning/planning_fixtures.hpp"

namespace sotto::test {

/// Seven agents of a random graph, six rounds, noise of deviation 1.
inline SubjectConfig bounded_subject(const std::string& mechanism) {
    SubjectConfig config;
    config.graph.topology.agents = 7;
    config.graph.topology.edge_probability = 0.4;
    config.plan = config_of(mechanism);
    config.plan.rounds = 6;
    config.plan.noise_std = 1;
    return config;
}

inline std::unique_ptr<AccountSubject> subject_of(const SubjectConfig& config) {
    const auto network = make_memory_network(1, 1);
    return build_account_subject(config, *network);
}

/// What a bound says of targets 1 and 4 in a view.
inline std::optional<Eigen::VectorXd> bound_of(const PublishedBound& bound,
                                               const SubjectConfig& config,
                                               const View& view,
                                               double observers = 1) {
    const auto subject = subject_of(config);
    const std::vector<int> targets{1, 4};
    return bound.of_view({config.plan, *subject, observers}, view, targets);
}

/// Eight agents with noise on messages, and a constant step.
struct CancellingTraining {
    explicit CancellingTraining(const std::string& mechanism,
                                const std::string& mixing = "lazy-metropolis")
        : config(config_with_steps(mechanism)),
          topography(eight_agents(mixing)),
          plan(test::plan(config, topography).planned.design.plan) {}
    static PlanConfig config_with_steps(const std::string& mechanism) {
        PlanConfig config = config_of(mechanism);
        config.rounds = 10;
        config.clip_norm = 0.5;
        config.steps.step_size = 0.2;
        return config;
    }
    static Topography eight_agents(const std::string& mixing) {
        GraphConfig graph;
        graph.topology.agents = 8;
        graph.mixing = mixing;
        return build_topography(graph, 1).topography;
    }
    [[nodiscard]] TrainingBoundInput input(long dimension = 3) const {
        return {config, topography, plan, dimension, smoothness};
    }
    PlanConfig config;
    Topography topography;
    NoisePlan plan;
    std::optional<double> smoothness;
};

}  // namespace sotto::test
