#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <span>
#include <vector>

#include "core/seeded_random.hpp"
#include "design/coalition_point.hpp"
#include "design/noise_fixtures.hpp"
#include "privacy/protection.hpp"

namespace sotto::test {

inline std::vector<SeedGroup> edge_groups(const Graph& graph) {
    std::vector<SeedGroup> groups;
    for (const auto& [u, v] : graph.edges()) groups.push_back({{u, v}});
    return groups;
}

inline std::vector<SeedGroup> all_pairs(int agents) {
    std::vector<SeedGroup> groups;
    for (int u = 0; u < agents; ++u)
        for (int v = u + 1; v < agents; ++v) groups.push_back({{u, v}});
    return groups;
}

inline std::vector<SeedGroup> neighbourhoods(const Graph& graph) {
    std::vector<SeedGroup> groups;
    for (int u = 0; u < graph.agents(); ++u) {
        const auto members = graph.closed_neighbourhood(u);
        groups.push_back({{members.begin(), members.end()}});
    }
    return groups;
}

inline std::vector<int> agents_outside(const Coalition& coalition, Eigen::Index agents) {
    std::vector<int> outside;
    for (int u = 0; u < agents; ++u)
        if (std::ranges::find(coalition, u) == coalition.end()) outside.push_back(u);
    return outside;
}

/// R^(I), term by term as docs/equations.md#coalitions defines it; rows of members count for
/// nothing.
inline Eigen::MatrixXd covariance_unknown_to(const Coalition& coalition,
                                             const Eigen::VectorXd& private_variance,
                                             std::span<const Eigen::MatrixXd> group_covariance,
                                             std::span<const SeedGroup> groups) {
    Eigen::MatrixXd covariance = private_variance.asDiagonal();
    for (std::size_t k = 0; k < groups.size(); ++k) {
        const auto& members = groups[k].members;
        const bool known = std::ranges::any_of(members, [&](int member) {
            return std::ranges::find(coalition, member) != coalition.end();
        });
        if (!known) covariance(members, members) += group_covariance[k];
    }
    return covariance;
}

/// Pairs or neighbourhoods of a random graph of six agents against single ones.
inline CoalitionProblem small_problem(GroupNoise shape, bool common_variance = false) {
    const Graph graph = make_graph(Topology::erdos_renyi, 6, 3, 0.5);
    const Eigen::MatrixXd utility = horizon_utility(graph, 10);
    CoalitionOptions options;
    options.common_variance = common_variance;
    // With a common variance most agents would be far inside for unequal kappa.
    const Eigen::VectorXd kappa =
        common_variance ? Eigen::VectorXd(Eigen::VectorXd::Ones(6))
                        : Eigen::VectorXd((0.3 * random_kappa(6, 7).array().log()).exp());
    CoalitionProblem problem(6 / utility.trace() * utility,
                             kappa,
                             shape == GroupNoise::free ? neighbourhoods(graph) : all_pairs(6),
                             shape,
                             options);
    for_each_coalition(6, 1, [&](const Coalition& coalition) { problem.add(coalition); });
    return problem;
}

/// Calls f(problem) for every shape of noise, with private variances of their own and in common.
template <class Function>
void for_each_problem_of_coalitions(Function&& f) {
    for (const GroupNoise shape : {GroupNoise::difference, GroupNoise::free})
        for (const bool common : {false, true}) {
            SCOPED_TRACE(testing::Message() << (shape == GroupNoise::free ? "free" : "difference")
                                            << (common ? ", common variance" : ""));
            f(small_problem(shape, common));
        }
}

/// Any direction, small beside phi where signs are fixed.
inline Eigen::VectorXd random_direction(const CoalitionProblem& problem,
                                        const Eigen::VectorXd& phi) {
    SeededRandom random(3, "direction");
    Eigen::VectorXd direction(problem.unknowns());
    for (double& value : direction) value = random.normal();
    return direction * 0.1 * phi.head(problem.nonnegative()).minCoeff();
}

}  // namespace sotto::test
