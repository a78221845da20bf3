

#include <fmt/format.h>

#include <cmath>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "design/large_design.hpp"
#include "design/mechanisms/table.hpp"
#include "design/message_plan.hpp"
#include "design/seed_group_design.hpp"
#include "design/spatial_solver.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

/// R = diag(s2_u) + sum over pairs of c_e (e_u - e_v)(e_u - e_v)^T. Pair noise cancels in the
/// network's mean.
Design design_pairs(const DesignInput& input) {
    for (const auto& group : input.seed_groups)
        if (group.members.size() != 2)
            throw ConfigError(fmt::format(
                "seed-groups: mechanism pairs needs groups of two agents (allowed: edges, "
                "all-pairs, nearest:K, circulant:K, or a FILE of pairs); {} takes larger groups",
                join(mechanisms_with(&Mechanism::larger_groups), ", ")));
    if (designs_locally(input) && !input.common_variance) return design_large_pairs("pairs", input);
    const CoalitionSolution solution = solve_for_seed_groups(input, GroupNoise::difference);
    std::vector<Eigen::MatrixXd> factors;
    for (const auto& block : solution.group_covariance)
        factors.push_back(difference_factor(block(0, 0)));
    return make_seed_group_design("pairs", input, solution, factors);
}

}  // namespace

Mechanism pairs_mechanism() {
    return {
        .name = "pairs",
        .summary = "private noise plus pair noise that cancels, optimal against curious agents too",
        .design = design_pairs,
        .coalitions = true,
        .default_coalition_size = 1,
        .sharing = SeedSharing::seed_groups,
        .spatial_part = true};
}

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
/// signs, so that it cancels when averaged.
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
            0,
            solution.capped};
}

/// Against colluding agents one c is limited by the agents they isolate most, and is rarely
/// worthwhile. With seed groups (edges: [C] (10)(iii)) each has its optimal noise: R = s2 I + sum
/// over groups of R_k.
Design design_decor(const DesignInput& input) {
    if (input.seed_groups.empty())
        return designs_locally(input) ? design_large_alike_edges("decor", input)
                                      : design_alike_edges(input);
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

namespace {

/// Any R. F is the Cholesky factor: agent u draws u+1 streams a round instead of n, half the work
/// of a square root.
Design design_corn(const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    SpatialOptions options;
    options.variance_cap = input.variance_cap;
    SpatialSolution solution =
        solve_spatial_covariance(design_utility(input), limits.kappa, options);
    if (!cholesky(solution.covariance))
        throw PrivacyError(
            "mechanism corn: the optimal covariance is numerically not positive definite; lower "
            "the variance cap");
    return {finish_plan(one_seed_plan("corn", solution.covariance, 1 / std::sqrt(limits.unit)),
                        input.kappa),
            solution.value,
            solution.lower_bound,
            0,
            solution.status == SpatialStatus::capped};
}

}  // namespace

Mechanism corn_mechanism() {
    return {.name = "corn",
            .summary = "optimal correlated noise from one seed that all agents share",
            .design = design_corn,
            .sharing = SeedSharing::everybody,
            .spatial_part = true};
}

namespace {

/// R = diag(s2_u) + sum over seed groups of R_k, any covariance of its members. [C] section V-D.
Design design_corn_hbc(const DesignInput& input) {
    if (!designs_locally(input) || input.common_variance)
        return design_free_groups("corn-hbc", input);
    // Noise that cancels is among that of free pairs; the bound is not for all of these.
    Design design = design_large_pairs("corn-hbc", input);
    design.lower_bound = not_a_number;
    return design;
}

}  // namespace

Mechanism corn_hbc_mechanism() {
    return {
        .name = "corn-hbc",
        .summary = "private noise plus optimal noise of seed groups, against curious agents too",
        .design = design_corn_hbc,
        .coalitions = true,
        .default_coalition_size = 1,
        .sharing = SeedSharing::seed_groups,
        .larger_groups = true,
        .spatial_part = true};
}

namespace {

/// Relative to the largest entry or eigenvalue; smaller values are rounding.
constexpr double asymmetric = 1e-9, singular = 1e-11;

void require_symmetric(const Eigen::MatrixXd& matrix, Eigen::Index agents) {
    if (matrix.rows() != agents || matrix.cols() != agents)
        throw ConfigError(
            fmt::format("covariance: a matrix of {} x {} is given for {} agents "
                        "(allowed: {} x {})",
                        matrix.rows(),
                        matrix.cols(),
                        agents,
                        agents,
                        agents));
    const double most = asymmetric * matrix.cwiseAbs().maxCoeff();
    for (Eigen::Index u = 0; u < agents; ++u)
        for (Eigen::Index v = 0; v <= u; ++v)
            if (!(std::abs(matrix(u, v) - matrix(v, u)) <= most))
                throw ConfigError(fmt::format(
                    "covariance: {} in row {}, column {} and {} in its mirror are not possible "
                    "(allowed: a symmetric matrix of finite numbers, such as (R + R.T) / 2)",
                    matrix(u, v),
                    u,
                    v,
                    matrix(v, u)));
}

/// R up to a factor; the identity if none is given.
Eigen::MatrixXd given_covariance(const DesignInput& input) {
    const Eigen::Index agents = input.graph->agents();
    if (!input.covariance) return Eigen::MatrixXd::Identity(agents, agents);
    require_symmetric(*input.covariance, agents);
    Eigen::MatrixXd covariance = 0.5 * (*input.covariance + input.covariance->transpose());
    const Eigen::VectorXd eigenvalues = symmetric_eigenvalues(covariance);
    if (!(eigenvalues(0) > singular * eigenvalues(agents - 1)))
        throw ConfigError(fmt::format(
            "covariance: a smallest eigenvalue of {:.6g} with a largest of {:.6g} is not possible, "
            "since whoever sees all messages would see some combination of gradients without noise "
            "(allowed: positive definite; add a share of the identity)",
            eigenvalues(0),
            eigenvalues(agents - 1)));
    return covariance / covariance.diagonal().maxCoeff();
}

/// The part of every variance not shared by pairs.
Eigen::VectorXd private_variances(const Eigen::MatrixXd& covariance) {
    return 2 * covariance.diagonal() - covariance.cwiseAbs().rowwise().sum();
}

/// R = diag(s2_u) + sum over pairs of |R_uv| (e_u +- e_v)(e_u +- e_v)^T, with the sign of R_uv.
NoisePlan plan_of_pairs(const Eigen::MatrixXd& covariance) {
    std::vector<SeedGroup> pairs;
    std::vector<Eigen::MatrixXd> factors;
    const auto agents = static_cast<int>(covariance.rows());
    for (int u = 0; u < agents; ++u)
        for (int v = u + 1; v < agents; ++v) {
            if (covariance(u, v) == 0) continue;
            pairs.push_back({{u, v}});
            Eigen::MatrixXd& factor = factors.emplace_back(2, 1);
            factor << std::sqrt(std::abs(covariance(u, v))),
                std::copysign(std::sqrt(std::abs(covariance(u, v))), covariance(u, v));
        }
    return make_group_plan("covariance", private_variances(covariance), pairs, factors);
}

NoisePlan plan_of_one_seed(Eigen::MatrixXd covariance, int coalition_size) {
    if (coalition_size > 0)
        throw ConfigError(
            fmt::format("coalition-size: {} is not possible with this covariance, whose noise "
                        "takes a seed that all agents share (allowed: 0, or a matrix in which "
                        "every variance exceeds the sum of the absolute values of the other "
                        "entries in its row, which seeds of pairs make)",
                        coalition_size));
    (void)cholesky(covariance);
    return one_seed_plan("covariance", covariance, 1);
}

/// The user's R, scaled so that the least protected agent spends its whole budget. Agents share no
/// more seeds than R needs.
Design design_covariance(const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    const Eigen::MatrixXd covariance = given_covariance(input);
    const bool by_pairs = private_variances(covariance).minCoeff() > asymmetric;
    Design design;
    NoisePlan& plan = design.plan;
    plan =
        by_pairs ? plan_of_pairs(covariance) : plan_of_one_seed(covariance, input.coalition_size);
    plan.coalition_size = input.coalition_size;
    plan.scale = 1;
    plan.scale = std::sqrt(
        coalition_precision(plan, input.coalition_size).cwiseQuotient(input.kappa).maxCoeff());
    plan = finish_plan(std::move(plan), input.kappa);
    design.objective =
        design_utility(input).cwiseProduct(spatial_covariance(plan)).sum() * limits.unit;
    design.lower_bound = design.objective;
    return design;
}

}  // namespace

Mechanism covariance_mechanism() {
    return {.name = "covariance",
            .summary = "noise with a covariance of your own, scaled to the budget",
            .design = design_covariance,
            .coalitions = true,
            .sharing = SeedSharing::everybody,
            .takes_covariance = true,
            .uses_utility = false};
}

}  // namespace sotto
