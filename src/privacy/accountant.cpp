#include "sotto/privacy/accountant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/privacy/coalitions.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double verification_tolerance = 1e-9;

bool holds_a_seed(const SeedGroup& group, std::span<const int> coalition) {
    return std::any_of(coalition.begin(), coalition.end(), [&](int agent) {
        return std::binary_search(group.members.begin(), group.members.end(), agent);
    });
}

void require_supported(const NoisePlan& plan) {
    const auto refuse = [](const std::string& what) {
        throw PrivacyError("noise plan: no bound is known here for noise that " + what);
    };
    if (!plan.same_message_to_all()) refuse("depends on the receiver");
    if (plan.entry != NoiseEntry::gradient) refuse("is added to the message");
    for (const auto& stream : plan.streams)
        if (stream.distribution != StreamDistribution::gaussian) refuse("is not Gaussian");
}

/// diag(S^-1) of a positive semidefinite S; infinite where the unit vector is outside its range.
Eigen::VectorXd precision_diagonal(const Eigen::MatrixXd& covariance) {
    const Eigen::Index n = covariance.rows();
    Eigen::VectorXd precision = Eigen::VectorXd::Constant(n, infinity);
    if (n == 0 || !(covariance.diagonal().maxCoeff() > 0)) return precision;
    const SymmetricEigen eigen = symmetric_eigen(covariance);
    const double cut_off = 1e-11 * eigen.values(n - 1);
    for (Eigen::Index u = 0; u < n; ++u) {
        double sum = 0, outside = 0;
        for (Eigen::Index i = 0; i < n; ++i) {
            const double component = eigen.vectors(u, i) * eigen.vectors(u, i);
            if (eigen.values(i) > cut_off)
                sum += component / eigen.values(i);
            else
                outside += component;
        }
        if (outside <= 1e-9 * 1e-9) precision(u) = sum;
    }
    return precision;
}

}  // namespace

Eigen::MatrixXd spatial_covariance(const NoisePlan& plan) {
    const Eigen::MatrixXd factor = plan.coefficient_matrix();
    return plan.scale * plan.scale * (factor * factor.transpose());
}

Eigen::MatrixXd unknown_covariance(const NoisePlan& plan, const Observer& observer) {
    Eigen::MatrixXd factor = plan.coefficient_matrix();
    for (std::size_t k = 0; k < plan.streams.size(); ++k) {
        const int group = plan.streams[k].group;
        if (holds_a_seed(plan.groups[static_cast<std::size_t>(group)], observer.coalition))
            factor.col(static_cast<Eigen::Index>(k)).setZero();
    }
    for (const int member : observer.coalition) factor.row(member).setZero();
    return plan.scale * plan.scale * (factor * factor.transpose());
}

Eigen::VectorXd observed_precision(const NoisePlan& plan, const Observer& observer) {
    require_supported(plan);
    for (const int member : observer.coalition)
        if (member < 0 || member >= plan.agents)
            throw ConfigError(fmt::format(
                "coalition: agent {} does not exist (allowed: 0 to {})", member, plan.agents - 1));
    const Eigen::MatrixXd unknown = unknown_covariance(plan, observer);
    if (plan.aggregation == Aggregation::trusted_mean) {
        // The observer sees n times the mean: one unit of any agent's gradient under noise 1^T R 1.
        const double variance = unknown.sum();
        Eigen::VectorXd precision =
            Eigen::VectorXd::Constant(plan.agents, variance > 0 ? 1 / variance : infinity);
        for (const int member : observer.coalition) precision(member) = infinity;
        return precision;
    }
    std::vector<Eigen::Index> outside;
    for (int u = 0; u < plan.agents; ++u)
        if (!std::binary_search(observer.coalition.begin(), observer.coalition.end(), u))
            outside.push_back(u);
    const Eigen::VectorXd inner = precision_diagonal(unknown(outside, outside));
    Eigen::VectorXd precision = Eigen::VectorXd::Constant(plan.agents, infinity);
    for (std::size_t i = 0; i < outside.size(); ++i)
        precision(outside[i]) = inner(static_cast<Eigen::Index>(i));
    return precision;
}

Eigen::VectorXd coalition_precision(const NoisePlan& plan, int size) {
    check_coalition_size(plan.agents, size);
    Eigen::VectorXd largest = Eigen::VectorXd::Zero(plan.agents);
    for_each_coalition(plan.agents, size, [&](const std::vector<int>& coalition) {
        const Eigen::VectorXd precision = observed_precision(plan, {coalition});
        for (int u = 0; u < plan.agents; ++u)
            if (!std::binary_search(coalition.begin(), coalition.end(), u))
                largest(u) = std::max(largest(u), precision(u));
    });
    return largest;
}

namespace {

std::vector<Guarantee> guarantees_of(const Eigen::VectorXd& precision,
                                     std::span<const Exposure> exposures,
                                     double delta) {
    std::vector<Guarantee> result(exposures.size());
    for (std::size_t u = 0; u < exposures.size(); ++u) {
        const double squared =
            exposures[u].temporal_sensitivity * precision(static_cast<Eigen::Index>(u));
        result[u].mu = squared == 0 ? 0 : exposures[u].sensitivity * std::sqrt(squared);
        result[u].epsilon = gdp_epsilon(result[u].mu, delta);
    }
    return result;
}

}  // namespace

std::vector<Guarantee> guarantees(const NoisePlan& plan,
                                  const Observer& observer,
                                  std::span<const Exposure> exposures,
                                  double delta) {
    return guarantees_of(observed_precision(plan, observer), exposures, delta);
}

std::vector<Guarantee> coalition_guarantees(const NoisePlan& plan,
                                            int size,
                                            std::span<const Exposure> exposures,
                                            double delta) {
    return guarantees_of(coalition_precision(plan, size), exposures, delta);
}

std::optional<CuriousAgent> worst_curious_agent(const NoisePlan& plan,
                                                std::span<const Exposure> exposures,
                                                double delta) {
    std::optional<CuriousAgent> worst;
    for (int observer = 0; observer < plan.agents; ++observer) {
        const auto against = guarantees(plan, {{observer}}, exposures, delta);
        for (int target = 0; target < plan.agents; ++target) {
            if (target == observer) continue;
            const Guarantee& guarantee = against[static_cast<std::size_t>(target)];
            if (!worst || guarantee.mu > worst->guarantee.mu)
                worst = CuriousAgent{observer, target, guarantee};
            if (std::isinf(guarantee.mu)) return worst;
        }
    }
    return worst;
}

void verify_agents_protected(const NoisePlan& plan,
                             std::span<const int> agents,
                             std::span<const Exposure> exposures,
                             std::span<const PrivacyBudget> budgets,
                             int coalition_size) {
    const Eigen::VectorXd precision = coalition_precision(plan, coalition_size);
    for (const int agent : agents) {
        const auto& exposure = exposures[static_cast<std::size_t>(agent)];
        const auto& budget = budgets[static_cast<std::size_t>(agent)];
        const double mu =
            exposure.sensitivity * std::sqrt(exposure.temporal_sensitivity * precision(agent));
        if (!(mu <= budget.mu * (1 + verification_tolerance)))
            throw PrivacyError(
                fmt::format("the plan ({}) does not protect agent {}: mu = {:.9g}, allowed {:.9g} "
                            "(epsilon {} at "
                            "delta {}, calibration {}); solve a plan for this budget",
                            plan.mechanism,
                            agent,
                            mu,
                            budget.mu,
                            budget.epsilon,
                            budget.delta,
                            name_of(budget.calibration)));
        const double conditional_std = 1 / std::sqrt(precision(agent));
        if (!(plan.grid_step() <= std::ldexp(conditional_std, -20)))
            throw PrivacyError(fmt::format(
                "the plan's grid step {:.3g} is too coarse for agent {}: at most 2^-20 of its "
                "conditional noise standard deviation {:.3g} is allowed",
                plan.grid_step(),
                agent,
                conditional_std));
    }
}

}  // namespace sotto
