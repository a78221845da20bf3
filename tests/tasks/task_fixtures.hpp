#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "config/run_fixtures.hpp"
#include "tasks/task.hpp"

namespace sotto::test {

inline LocalTask build(const TaskConfig& config, int agents) {
    const auto network = make_memory_network(agents, 1);
    return build_task(config, *network, Membership::everybody(network->agents()));
}

inline TaskConfig on(const std::string& data) {
    TaskConfig config;
    config.data = data;
    return config;
}

/// Records, by their own feature, that the objective trains on.
inline std::vector<int> trained_records(Objective& objective) {
    std::vector<Eigen::Index> rows(static_cast<std::size_t>(objective.records()));
    std::iota(rows.begin(), rows.end(), 0);
    Eigen::VectorXd gradient(objective.dimension());
    objective.mean_gradient(Eigen::VectorXd::Zero(objective.dimension()), rows, gradient);
    std::vector<int> result;
    for (Eigen::Index i = 0; i + 1 < gradient.size(); ++i)
        if (gradient(i) != 0) result.push_back(static_cast<int>(i));
    return result;
}

/// Records, by their own feature, that it is tested on.
inline std::vector<int> tested_records(Objective& objective) {
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(objective.dimension());
    const double base = objective.test_loss(zero, 0, 1).loss;
    std::vector<int> result;
    for (Eigen::Index i = 0; i + 1 < zero.size(); ++i) {
        Eigen::VectorXd model = zero;
        model(i) = 3;
        if (objective.test_loss(model, 0, 1).loss != base) result.push_back(static_cast<int>(i));
    }
    return result;
}

}  // namespace sotto::test
