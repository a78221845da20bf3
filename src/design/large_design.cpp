#include "design/large_design.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "core/numbers.hpp"
#include "design/message_plan.hpp"
#include "design/pair_prices.hpp"
#include "design/seed_group_design.hpp"
#include "privacy/large_plans.hpp"

namespace sotto {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

using Pairs = std::vector<std::pair<int, int>>;

/// Of the costs that a plan is made for, and of its objective; their probes differ. Every probe
/// is a mean over all agents: fewer are as exact for more agents.
constexpr int cost_probes = 128;
int objective_probes(int agents) { return agents <= 20'000 ? 64 : 32; }
constexpr std::uint64_t cost_seed = 1, objective_seed = 2;

ProbePolynomial polynomial_of(const DesignInput& input) {
    return probe_polynomial(
        UtilityGain(input.utility, input.rounds, input.gossip, input.smoothing));
}

NoiseCosts costs_of(const DesignInput& input, const Pairs& pairs) {
    return estimate_costs(*input.mixing, polynomial_of(input), pairs, cost_probes, cost_seed);
}

Pairs pairs_of(const std::vector<SeedGroup>& groups) {
    Pairs pairs;
    for (const SeedGroup& group : groups) pairs.emplace_back(group.members[0], group.members[1]);
    return pairs;
}

/// The largest precision of every agent, with scale 1.
VectorXd certified(const Pairs& pairs,
                   const VectorXd& private_variance,
                   const VectorXd& pair_variance,
                   int coalition_size,
                   const LocalFlow::Options& options) {
    PairwiseNoise noise(static_cast<int>(private_variance.size()), pairs);
    noise.set_values(private_variance, pair_variance);
    std::vector<int> all(static_cast<std::size_t>(noise.agents()));
    std::iota(all.begin(), all.end(), 0);
    const auto found = local_precisions(noise, all, coalition_size, options);
    VectorXd precision(noise.agents());
    for (std::size_t u = 0; u < all.size(); ++u) precision(static_cast<Index>(u)) = found[u].upper;
    return precision;
}

/// The finished plan, with its objective estimated.
Design finished(std::string mechanism,
                const DesignInput& input,
                const std::vector<SeedGroup>& groups,
                const VectorXd& private_variance,
                const VectorXd& pair_variance,
                double lower_bound) {
    const RelativeLimits limits = relative_limits(input.kappa);
    std::vector<Eigen::MatrixXd> factors;
    for (Index k = 0; k < pair_variance.size(); ++k)
        factors.push_back(difference_factor(pair_variance(k)));
    NoisePlan plan = make_group_plan(std::move(mechanism), private_variance, groups, factors);
    plan.scale = 1 / std::sqrt(limits.unit);
    plan.coalition_size = input.coalition_size;
    Design design;
    design.plan = finish_plan(std::move(plan), input.kappa);
    const double louder = design.plan.scale * design.plan.scale * limits.unit;
    const int probes = objective_probes(input.graph->agents());
    const Estimate objective = estimate_objective(*input.mixing,
                                                  polynomial_of(input),
                                                  pairs_of(groups),
                                                  private_variance,
                                                  pair_variance,
                                                  probes,
                                                  objective_seed);
    design.objective = louder * objective.value;
    design.lower_bound = lower_bound;
    const double both = 1 + static_cast<double>(probes) / cost_probes;
    design.objective_error = louder * objective.standard_error * std::sqrt(both);
    return design;
}

}  // namespace

bool designs_locally(const DesignInput& input) {
    return input.graph->agents() > most_dense_agents && input.mixing->symmetric() &&
           !input.schedule && !input.given_utility &&
           std::ranges::all_of(input.seed_groups,
                               [](const SeedGroup& group) { return group.members.size() == 2; });
}

Estimate large_independent_objective(const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    const VectorXd variance = limits.kappa.cwiseInverse();
    return estimate_objective(*input.mixing,
                              polynomial_of(input),
                              {},
                              variance,
                              VectorXd(),
                              objective_probes(input.graph->agents()),
                              objective_seed);
}

Design design_large_pairs(std::string mechanism, const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    const Pairs pairs = pairs_of(input.seed_groups);
    const NoiseCosts costs = costs_of(input, pairs);
    PairProblem problem;
    problem.pairs = pairs;
    problem.costs = &costs;
    problem.kappa = &limits.kappa;
    problem.coalition_size = input.coalition_size;
    problem.variance_cap = input.variance_cap;
    PairSolution solution = solve_pair_prices(problem);
    // Prices follow looser bounds, and coalitions of one: make up for both.
    const int repairs = input.coalition_size > 1 ? 3 : 1;
    for (int repair = 0; repair < repairs; ++repair)
        keep_limits(certified(pairs,
                              solution.private_variance,
                              solution.pair_variance,
                              input.coalition_size,
                              local_options(input.graph->agents())),
                    problem,
                    solution.private_variance,
                    solution.pair_variance);
    return finished(std::move(mechanism),
                    input,
                    input.seed_groups,
                    solution.private_variance,
                    solution.pair_variance,
                    solution.lower_bound);
}

Design design_large_alike_edges(std::string mechanism, const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    const Pairs pairs(input.graph->edges().begin(), input.graph->edges().end());
    std::vector<SeedGroup> groups;
    for (const auto& [u, v] : pairs) groups.push_back({{u, v}});
    const NoiseCosts costs = costs_of(input, pairs);
    const int agents = input.graph->agents();
    LocalFlow::Options options = local_options(agents);
    options.tolerance = 0.03;
    const auto noise = [&](double ratio) {
        return std::pair{VectorXd(VectorXd::Constant(agents, 1)),
                         VectorXd(VectorXd::Constant(std::ssize(pairs), ratio))};
    };
    const auto value = [&](double logarithm) {
        const double ratio = std::exp(logarithm);
        const auto [own, shared] = noise(ratio);
        const VectorXd precision = certified(pairs, own, shared, input.coalition_size, options);
        return precision.cwiseQuotient(limits.kappa).maxCoeff() *
               (costs.agents.sum() + ratio * costs.pairs.sum());
    };
    // From almost none to almost nothing else, then halving around the best.
    double best = -8, step = 3, least = value(best);
    const auto take = [&](double at) {
        const double found = value(at);
        if (!(found < least)) return;
        least = found;
        best = at;
    };
    for (double at = best + step; at < 8; at += step) take(at);
    for (; step > 0.3; step /= 2)
        for (const double at : {best - step / 2, best + step / 2}) take(at);
    auto [own, shared] = noise(std::exp(best));
    const double excess = certified(pairs, own, shared, input.coalition_size, local_options(agents))
                              .cwiseQuotient(limits.kappa)
                              .maxCoeff();
    return finished(
        std::move(mechanism), input, groups, excess * own, excess * shared, not_a_number);
}

}  // namespace sotto
