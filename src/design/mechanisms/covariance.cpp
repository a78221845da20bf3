#include <fmt/format.h>

#include <cmath>

#include "design/finish_plan.hpp"
#include "design/group_plan.hpp"
#include "design/mechanisms/table.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

/// Shares of the largest entry or eigenvalue that count as rounding.
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

/// R up to a factor; the identity where none is given.
Eigen::MatrixXd given_covariance(const DesignInput& input) {
    const Eigen::Index agents = input.graph->agents();
    if (!input.covariance) return Eigen::MatrixXd::Identity(agents, agents);
    require_symmetric(*input.covariance, agents);
    Eigen::MatrixXd covariance = 0.5 * (*input.covariance + input.covariance->transpose());
    const Eigen::VectorXd eigenvalues = symmetric_eigenvalues(covariance);
    if (!(eigenvalues(0) > singular * eigenvalues(agents - 1)))
        throw ConfigError(fmt::format(
            "covariance: a smallest eigenvalue of {:.6g} beside a largest of {:.6g} is not "
            "possible, since whoever sees all messages would see some combination of gradients "
            "without noise (allowed: positive definite; add a share of the identity)",
            eigenvalues(0),
            eigenvalues(agents - 1)));
    return covariance / covariance.diagonal().maxCoeff();
}

/// What is left of every variance beside noise that pairs share.
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
        throw ConfigError(fmt::format(
            "coalition-size: {} is not possible with this covariance, whose noise takes a seed "
            "that "
            "all agents share (allowed: 0, or a matrix in which every variance exceeds the sum of "
            "the absolute values beside it, which seeds of pairs make)",
            coalition_size));
    (void)cholesky(covariance);
    return one_seed_plan("covariance", covariance, 1);
}

/// The user's R, scaled so that the agent that it hides least has its whole budget. Nobody shares
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
            .summary = "noise with a covariance of one's own, scaled to the budget",
            .design = design_covariance,
            .coalitions = true,
            .sharing = SeedSharing::everybody,
            .takes_covariance = true,
            .uses_utility = false};
}

}  // namespace sotto
