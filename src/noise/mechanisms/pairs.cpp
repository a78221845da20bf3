#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "noise/group_plan.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/noise/coalition_solver.hpp"

namespace sotto {

namespace {

std::span<const double> values_of(const auto& dense) {
    return {dense.data(), static_cast<std::size_t>(dense.size())};
}

Digest digest_of(const Eigen::MatrixXd& utility,
                 const Eigen::VectorXd& kappa,
                 std::span<const SeedGroup> groups,
                 GroupNoise shape,
                 const CoalitionOptions& options) {
    Hasher hasher("sotto.coalition-problem.v1");
    hasher.add(values_of(utility)).add(values_of(kappa));
    for (const SeedGroup& group : groups) {
        hasher.add(std::int64_t{std::ssize(group.members)});
        for (const int member : group.members) hasher.add(std::int64_t{member});
    }
    hasher.add(static_cast<std::int64_t>(shape)).add(std::int64_t{options.coalition_size});
    hasher.add(std::int64_t{options.common_variance}).add(options.variance_cap);
    hasher.add(options.relative_gap).add(std::int64_t{options.max_iterations});
    return hasher.finish();
}

/// The last solutions of this process. One for 100 agents takes seconds, and trainings of a sweep
/// often share it: relative to the smallest kappa it depends neither on epsilon nor on the clip
/// norm, step size, task or seeds.
class RecentSolutions {
  public:
    [[nodiscard]] std::optional<CoalitionSolution> find(const Digest& problem) {
        const std::scoped_lock lock(mutex_);
        const auto found = std::ranges::find(entries_, problem, &Entry::problem);
        if (found == entries_.end()) return std::nullopt;
        return found->solution;
    }
    void keep(const Digest& problem, const CoalitionSolution& solution) {
        const std::scoped_lock lock(mutex_);
        entries_.push_front({problem, solution});
        if (entries_.size() > most) entries_.pop_back();
    }

  private:
    static constexpr std::size_t most = 16;
    struct Entry {
        Digest problem;
        CoalitionSolution solution;
    };
    std::mutex mutex_;
    std::deque<Entry> entries_;
};

CoalitionSolution solve(const DesignInput& input, const RelativeLimits& limits, GroupNoise shape) {
    static RecentSolutions recent;
    CoalitionOptions options;
    options.coalition_size = input.coalition_size;
    options.common_variance = input.common_variance;
    options.variance_cap = input.variance_cap;
    const Eigen::MatrixXd utility = design_utility(input);
    const Digest problem = digest_of(utility, limits.kappa, input.seed_groups, shape, options);
    if (auto known = recent.find(problem)) return *std::move(known);
    const CoalitionSolution solution =
        solve_coalition_covariance(utility, limits.kappa, input.seed_groups, shape, options);
    recent.keep(problem, solution);
    return solution;
}

Design finish(const DesignInput& input,
              const RelativeLimits& limits,
              const CoalitionSolution& solution,
              NoisePlan plan) {
    Design design;
    design.plan = std::move(plan);
    design.plan.scale = 1 / std::sqrt(limits.unit);
    design.plan.coalition_size = input.coalition_size;
    finish_plan(design.plan, input.kappa);
    design.objective = solution.value;
    design.lower_bound = solution.lower_bound;
    design.capped = solution.capped;
    return design;
}

}  // namespace

/// R = diag(s2_u) + sum over pairs of c_e (e_u - e_v)(e_u - e_v)^T: every pair its own weight,
/// every agent its own private variance. Pair noise cancels in the mean of the network.
Design design_pairs(const DesignInput& input) {
    for (const auto& group : input.seed_groups)
        if (group.members.size() != 2)
            throw ConfigError(
                "seed-groups: mechanism pairs needs groups of two agents (allowed: edges, "
                "all-pairs, "
                "circulant:K, or a FILE of pairs); corn-hbc takes larger groups");
    const RelativeLimits limits = relative_limits(input.kappa);
    const CoalitionSolution solution = solve(input, limits, GroupNoise::difference);
    std::vector<Eigen::MatrixXd> factors;
    for (const auto& block : solution.group_covariance)
        factors.push_back(difference_factor(block(0, 0)));
    return finish(input,
                  limits,
                  solution,
                  make_group_plan("pairs", solution.private_variance, input.seed_groups, factors));
}

/// R = diag(s2_u) + sum over seed groups of R_k, any covariance of its members. [C] section V-D.
Design design_corn_hbc(const DesignInput& input) {
    const RelativeLimits limits = relative_limits(input.kappa);
    CoalitionSolution solution = solve(input, limits, GroupNoise::free);
    // Differences of pairs are among the free blocks: where rounding kept those from their optimum,
    // they may be better.
    const bool pairs = std::ranges::all_of(
        input.seed_groups, [](const SeedGroup& group) { return group.members.size() == 2; });
    if (pairs && solution.relative_gap() > 1e-4) {
        CoalitionSolution differences = solve(input, limits, GroupNoise::difference);
        if (differences.value < solution.value) {
            differences.lower_bound = solution.lower_bound;
            solution = std::move(differences);
        }
    }
    // What is left out is added again by raising the scale.
    const double negligible = 1e-7 * solution.private_variance.minCoeff();
    std::vector<Eigen::MatrixXd> factors;
    for (const auto& block : solution.group_covariance)
        factors.push_back(block_factor(block, negligible));
    return finish(
        input,
        limits,
        solution,
        make_group_plan("corn-hbc", solution.private_variance, input.seed_groups, factors));
}

}  // namespace sotto
