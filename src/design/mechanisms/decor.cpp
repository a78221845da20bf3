#include <cmath>

#include "design/finish_plan.hpp"
#include "design/group_plan.hpp"
#include "design/mechanisms/table.hpp"
#include "design/seed_group_design.hpp"
#include "sotto/design/laplacian_solver.hpp"

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

/// R = s2 I + c L: private noise, and for every edge one stream that its two ends add with opposite
/// signs, so that it cancels where they are averaged.
Design design_alike_edges(const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    const Graph& graph = *input.graph;
    const LaplacianSolution solution = solve_laplacian_covariance(design_utility(input),
                                                                  laplacian(graph),
                                                                  limits.kappa,
                                                                  input.variance_cap,
                                                                  input.coalition_size);

    std::vector<SeedGroup> groups;
    std::vector<Eigen::MatrixXd> factors;
    for (const auto& [u, v] : graph.edges()) {
        groups.push_back({{u, v}});
        factors.push_back(difference_factor(solution.edge_variance));
    }
    NoisePlan plan =
        make_group_plan("decor",
                        Eigen::VectorXd::Constant(graph.agents(), solution.private_variance),
                        groups,
                        factors);
    plan.scale = 1 / std::sqrt(limits.unit);
    plan.coalition_size = input.coalition_size;
    return {finish_plan(std::move(plan), input.kappa),
            solution.value,
            solution.lower_bound,
            solution.capped};
}

/// Against colluding agents c is what protects whom they isolate most, and is rarely worth its
/// price. Where seed groups are chosen (edges: [C] (10)(iii)) each has the noise that is best:
/// R = s2 I + sum over groups of R_k.
Design design_decor(const DesignInput& input) {
    if (input.seed_groups.empty()) return design_alike_edges(input);
    DesignInput common = input;
    common.common_variance = true;
    return design_free_groups("decor", common);
}

}  // namespace

Mechanism decor_mechanism() {
    return {.name = "decor",
            .summary = "private noise plus one shared stream per edge that cancels",
            .design = design_decor,
            .coalitions = true,
            .sharing = SeedSharing::neighbours,
            .larger_groups = true,
            .takes_seed_groups = true,
            .common_variance = true,
            .spatial_part = true};
}

}  // namespace sotto
