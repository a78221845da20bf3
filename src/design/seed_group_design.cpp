#include "design/seed_group_design.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "core/linear_algebra.hpp"
#include "core/recent.hpp"
#include "design/message_plan.hpp"
#include "design/seed_groups.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/design/mechanism.hpp"

namespace sotto {

namespace {

Digest digest_of(const Eigen::MatrixXd& utility,
                 const Eigen::VectorXd& kappa,
                 std::span<const SeedGroup> groups,
                 GroupNoise shape,
                 const CoalitionOptions& options) {
    Hasher hasher("sotto.coalition-problem.v1");
    hasher.add(values_of(utility)).add(values_of(kappa));
    add_to(hasher, groups);
    hasher.add(static_cast<std::int64_t>(shape)).add(std::int64_t{options.coalition_size});
    hasher.add(std::int64_t{options.common_variance}).add(options.variance_cap);
    hasher.add(options.relative_gap).add(std::int64_t{options.max_iterations});
    hasher.add(options.extra_noise);
    return hasher.finish();
}

std::size_t bytes_of_solution(const CoalitionSolution& solution) {
    Eigen::Index values = solution.private_variance.size();
    for (const Eigen::MatrixXd& block : solution.group_covariance) values += block.size();
    return sizeof(double) * static_cast<std::size_t>(values);
}

/// A mechanism that also protects against coalitions and is fast to solve.
std::string quick_mechanism() {
    return recommended_mechanisms([](const Mechanism& mechanism) {
               return mechanism.spatial_part && mechanism.coalitions && !mechanism.seed_groups();
           })
        .front();
}

CoalitionSolution solve_for_free_groups(const DesignInput& input) {
    CoalitionSolution solution = solve_for_seed_groups(input, GroupNoise::free);
    // Differences of pairs are among the free blocks, and may be better if rounding kept those from
    // their optimum.
    const bool pairs = std::ranges::all_of(
        input.seed_groups, [](const SeedGroup& group) { return group.members.size() == 2; });
    if (pairs && solution.relative_gap() > 1e-4) {
        CoalitionSolution differences = solve_for_seed_groups(input, GroupNoise::difference);
        if (differences.value < solution.value) {
            differences.lower_bound = solution.lower_bound;
            solution = std::move(differences);
        }
    }
    return solution;
}

}  // namespace

CoalitionSolution solve_for_seed_groups(const DesignInput& input, GroupNoise shape) {
    static Recent<CoalitionSolution> recent;
    const RelativeLimits limits = relative_limits(input.kappa);
    CoalitionOptions options;
    options.coalition_size = input.coalition_size;
    options.common_variance = input.common_variance;
    options.variance_cap = input.variance_cap;
    options.relative_gap = input.gap;
    options.extra_noise = input.extra_noise;
    options.instead = ", or --mechanism " + quick_mechanism();
    const Eigen::MatrixXd utility = design_utility(input);
    return recent.get(
        digest_of(utility, limits.kappa, input.seed_groups, shape, options),
        [&] {
            return solve_coalition_covariance(
                utility, limits.kappa, input.seed_groups, shape, options);
        },
        bytes_of_solution);
}

Design make_seed_group_design(std::string mechanism,
                              const DesignInput& input,
                              const CoalitionSolution& solution,
                              const std::vector<Eigen::MatrixXd>& factors) {
    NoisePlan plan = make_group_plan(
        std::move(mechanism), solution.private_variance, input.seed_groups, factors);
    plan.scale = 1 / std::sqrt(relative_limits(input.kappa).unit);
    plan.coalition_size = input.coalition_size;
    return {finish_plan(std::move(plan), input.kappa),
            solution.value,
            solution.lower_bound,
            0,
            solution.capped};
}

Design design_free_groups(std::string mechanism, const DesignInput& input) {
    const CoalitionSolution solution = solve_for_free_groups(input);
    // What is left out is compensated by a larger scale.
    const double negligible = 1e-7 * solution.private_variance.minCoeff();
    std::vector<Eigen::MatrixXd> factors;
    for (const auto& block : solution.group_covariance)
        factors.push_back(block_factor(block, negligible));
    return make_seed_group_design(std::move(mechanism), input, solution, factors);
}

NoisePlan make_group_plan(std::string mechanism,
                          const Eigen::VectorXd& private_variance,
                          std::span<const SeedGroup> groups,
                          const std::vector<Eigen::MatrixXd>& factors) {
    NoisePlan plan;
    plan.mechanism = std::move(mechanism);
    plan.agents = static_cast<int>(private_variance.size());
    for (int u = 0; u < plan.agents; ++u) {
        plan.groups.push_back({{u}});
        plan.streams.push_back({u, 0, StreamDistribution::gaussian});
        plan.rows.push_back({u, NoiseRow::all_receivers, {u}, {std::sqrt(private_variance(u))}});
    }
    for (std::size_t k = 0; k < groups.size(); ++k) {
        const Eigen::MatrixXd& factor = factors[k];
        if (factor.cols() == 0) continue;
        const auto group = static_cast<int>(plan.groups.size());
        plan.groups.push_back(groups[k]);
        for (Eigen::Index j = 0; j < factor.cols(); ++j) {
            const auto stream = static_cast<int>(plan.streams.size());
            plan.streams.push_back(
                {group, static_cast<std::uint64_t>(j), StreamDistribution::gaussian});
            for (std::size_t i = 0; i < groups[k].members.size(); ++i) {
                const double coefficient = factor(static_cast<Eigen::Index>(i), j);
                if (coefficient == 0) continue;
                auto& row = plan.rows[static_cast<std::size_t>(groups[k].members[i])];
                row.streams.push_back(stream);
                row.coefficients.push_back(coefficient);
            }
        }
    }
    return plan;
}

NoisePlan one_seed_plan(std::string mechanism, const Eigen::MatrixXd& lower, double scale) {
    NoisePlan plan;
    plan.mechanism = std::move(mechanism);
    plan.agents = static_cast<int>(lower.rows());
    plan.scale = scale;
    std::vector<int> everybody(static_cast<std::size_t>(plan.agents));
    std::iota(everybody.begin(), everybody.end(), 0);
    plan.groups.push_back({everybody});
    for (int u = 0; u < plan.agents; ++u) {
        plan.streams.push_back({0, static_cast<std::uint64_t>(u), StreamDistribution::gaussian});
        NoiseRow row;
        row.sender = u;
        row.streams.assign(everybody.begin(), everybody.begin() + u + 1);
        for (int k = 0; k <= u; ++k) row.coefficients.push_back(lower(u, k));
        plan.rows.push_back(std::move(row));
    }
    return plan;
}

Eigen::MatrixXd block_factor(const Eigen::MatrixXd& block, double negligible) {
    const SymmetricEigen eigen = symmetric_eigen(block);
    Eigen::Index first = 0;
    while (first < block.rows() && !(eigen.values(first) > negligible)) ++first;
    const Eigen::Index kept = block.rows() - first;
    return eigen.vectors.rightCols(kept) * eigen.values.tail(kept).cwiseSqrt().asDiagonal();
}

Eigen::MatrixXd difference_factor(double variance) {
    if (!(variance > 0)) return Eigen::MatrixXd(2, 0);
    Eigen::MatrixXd factor(2, 1);
    factor << std::sqrt(variance), -std::sqrt(variance);
    return factor;
}

using Eigen::Index;
using Eigen::VectorXd;

namespace {

/// Largest change of a price in one step.
constexpr double most_change = 10;
/// Initial price of a new limit, in units of a negligible one: small, or the others would
/// oscillate.
constexpr double beginning = 30;

}  // namespace

LimitPrices::Far::Far(int agents)
    : excess(VectorXd::Zero(agents)), coalition(static_cast<std::size_t>(agents), -1) {}

void LimitPrices::Far::merge(const Far& other) {
    for (Index u = 0; u < excess.size(); ++u) {
        if (!(other.excess(u) > excess(u))) continue;
        excess(u) = other.excess(u);
        coalition[static_cast<std::size_t>(u)] = other.coalition[static_cast<std::size_t>(u)];
    }
}

LimitPrices::LimitPrices(const GroupLayout& layout, VectorXd kappa)
    : layout_(&layout), kappa_(std::move(kappa)) {}

void LimitPrices::add(const std::vector<int>& coalition, double typical) {
    std::vector<int> agents;
    for (const int member : coalition)
        for (const int k : layout_->groups_of(member))
            std::ranges::copy(layout_->groups()[static_cast<std::size_t>(k)].members,
                              std::back_inserter(agents));
    for (int u = 0; u < layout_->agents(); ++u)
        if (coalition.empty() || layout_->groups_of(u).empty()) agents.push_back(u);
    std::ranges::sort(agents);
    agents.erase(std::ranges::unique(agents).begin(), agents.end());
    std::erase_if(agents, [&](int u) { return std::ranges::binary_search(coalition, u); });
    Limits limits;
    for (const int u : agents)
        limits.prices.push_back(typical / (kappa_(u) * static_cast<double>(std::max<std::size_t>(
                                                           1, layout_->groups_of(u).size()))));
    limits.agents = std::move(agents);
    limits_.push_back(std::move(limits));
}

LimitPrices::Priced LimitPrices::follow(std::size_t c,
                                        const VectorXd& excess,
                                        const Step& step,
                                        Far& far) {
    Limits& limits = limits_[c];
    Priced priced;
    std::vector<double> prices;
    std::size_t next = 0;
    for (int u = 0; u < layout_->agents(); ++u) {
        if (next == limits.agents.size() || limits.agents[next] != u) {
            if (!(excess(u) > far.excess(u))) continue;
            far.excess(u) = excess(u);
            far.coalition[static_cast<std::size_t>(u)] = static_cast<int>(c);
            continue;
        }
        double& price = limits.prices[next++];
        price *=
            std::clamp(std::pow(excess(u) / step.mean, step.power), 1 / most_change, most_change);
        if (!(price * kappa_(u) > step.negligible)) continue;
        priced.agents.push_back(u);
        prices.push_back(price);
    }
    priced.prices = Eigen::Map<const VectorXd>(prices.data(), std::ssize(prices));
    return priced;
}

void LimitPrices::settle(const Far& far, const Step& step) {
    for (int u = 0; u < layout_->agents(); ++u) {
        if (!(far.excess(u) > step.mean)) continue;
        Limits& limits =
            limits_[static_cast<std::size_t>(far.coalition[static_cast<std::size_t>(u)])];
        const auto place = std::ranges::lower_bound(limits.agents, u) - limits.agents.begin();
        limits.agents.insert(limits.agents.begin() + place, u);
        limits.prices.insert(limits.prices.begin() + place,
                             beginning * step.negligible / kappa_(u));
    }
}

}  // namespace sotto
