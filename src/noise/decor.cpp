#include "sotto/noise/mechanism.hpp"
#include "sotto/noise/spatial_solver.hpp"

namespace sotto {

namespace {

Eigen::MatrixXd laplacian(const Graph& graph) {
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(graph.agents(), graph.agents());
    for (const auto& [u, v] : graph.edges()) {
        matrix(u, u) += 1;
        matrix(v, v) += 1;
        matrix(u, v) -= 1;
        matrix(v, u) -= 1;
    }
    return matrix;
}

}  // namespace

/// R = s2 I + c L: private noise, and for every edge one stream that its two ends add with opposite
/// signs, so that it cancels where they are averaged.
Design design_decor(const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    const Graph& graph = *input.graph;
    const LaplacianSolution solution = solve_laplacian_covariance(
        utility_matrix(*input.mixing, input.utility, input.rounds, input.gossip_steps),
        laplacian(graph),
        limits.kappa,
        input.variance_cap);

    Design design;
    NoisePlan& plan = design.plan;
    plan.mechanism = "decor";
    plan.agents = graph.agents();
    plan.scale = 1 / std::sqrt(limits.unit);
    const double private_std = std::sqrt(solution.private_variance);
    const double edge_std = std::sqrt(solution.edge_variance);
    for (int u = 0; u < plan.agents; ++u) {
        plan.groups.push_back({{u}});
        plan.streams.push_back({u, 0, StreamDistribution::gaussian});
        plan.rows.push_back({u, NoiseRow::all_receivers, {u}, {private_std}});
    }
    if (edge_std > 0) {
        for (const auto& [u, v] : graph.edges()) {
            const auto stream = static_cast<int>(plan.streams.size());
            plan.groups.push_back({{u, v}});
            plan.streams.push_back({stream, 0, StreamDistribution::gaussian});
            const auto add = [&](int agent, double coefficient) {
                auto& row = plan.rows[static_cast<std::size_t>(agent)];
                row.streams.push_back(stream);
                row.coefficients.push_back(coefficient);
            };
            add(u, edge_std);
            add(v, -edge_std);
        }
    }
    finish_plan(plan, input.kappa);
    design.objective = solution.value;
    design.lower_bound = solution.lower_bound;
    design.capped = solution.capped;
    return design;
}

}  // namespace sotto
