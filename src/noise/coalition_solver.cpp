#include "sotto/noise/coalition_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "coalition_problem.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/privacy/coalitions.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Up to this many coalitions all take part from the start.
constexpr double few_coalitions = 300;
/// Numbers kept in a step; 2.4 GB.
constexpr double most_slopes = 3e8;
/// Least mean complementarity that a step aims at, as a share of the present one. Where it proves
/// too bold, because few of the step's length could be taken, the next ones aim at more.
constexpr double centring = 0.15;
constexpr double most_cautious = 0.8;

void check_input(const MatrixXd& utility,
                 const VectorXd& kappa,
                 std::span<const SeedGroup> groups,
                 GroupNoise shape,
                 const CoalitionOptions& options) {
    const auto agents = static_cast<int>(kappa.size());
    for (Index u = 0; u < kappa.size(); ++u)
        if (!(kappa(u) > 0 && std::isfinite(kappa(u))))
            throw ConfigError(fmt::format(
                "kappa of agent {}: {} is not allowed (must be finite and above 0)", u, kappa(u)));
    if (utility.rows() != agents || utility.cols() != agents)
        throw ConfigError(fmt::format("utility matrix: {} x {} does not fit {} agents",
                                      utility.rows(),
                                      utility.cols(),
                                      agents));
    check_coalition_size(agents, options.coalition_size);
    if (!(options.variance_cap > 1))
        throw ConfigError(
            fmt::format("variance-cap: {} is not allowed (must be above 1)", options.variance_cap));
    for (const auto& group : groups) {
        const auto& members = group.members;
        const bool pair = members.size() == 2;
        if (members.size() < 2 || (shape == GroupNoise::difference && !pair))
            throw ConfigError(
                fmt::format("seed group of {} agents: {} are needed",
                            members.size(),
                            shape == GroupNoise::difference ? "exactly two" : "at least two"));
        if (!std::is_sorted(members.begin(), members.end(), std::less_equal<>()) ||
            members.front() < 0 || members.back() >= agents)
            throw ConfigError(fmt::format(
                "seed group: its members must be different agents from 0 to {}, ascending",
                agents - 1));
    }
}

/// The worst of all coalitions of a size, and how much [R^-1]_uu / kappa_u it reaches.
double worst_excess(const CoalitionProblem& problem, const VectorXd& phi, int agents, int size) {
    double worst = 0;
    for_each_coalition(agents, size, [&](const std::vector<int>& coalition) {
        worst = std::max(worst, problem.excess(phi, coalition));
    });
    return worst;
}

/// Adds the coalitions that are violated most. @return the largest excess over all coalitions.
double add_violated(CoalitionProblem& problem, const VectorXd& phi, int agents, int size) {
    constexpr std::size_t most_at_once = 60;
    std::vector<std::pair<double, std::vector<int>>> violated;
    double worst = 0;
    for_each_coalition(agents, size, [&](const std::vector<int>& coalition) {
        const double excess = problem.excess(phi, coalition);
        worst = std::max(worst, excess);
        if (excess > 1 + 1e-9) violated.emplace_back(excess, coalition);
    });
    std::sort(violated.begin(), violated.end(), std::greater<>());
    if (violated.size() > most_at_once) violated.resize(most_at_once);
    for (auto& entry : violated) problem.add(std::move(entry.second));
    return worst;
}

/// Pair noise that hardly helps costs its two agents a stream each: drop as much of it as leaves
/// the cost where it is.
VectorXd without_negligible(const CoalitionProblem& problem,
                            const VectorXd& phi,
                            int agents,
                            int size,
                            double tolerance,
                            Index first,
                            Index last) {
    const double before = problem.cost().dot(phi);
    VectorXd best = phi;
    for (double share = 1e-9; share < 1; share *= 10) {
        VectorXd trial = phi;
        const double limit = share * before / static_cast<double>(std::max<Index>(1, last - first));
        for (Index p = first; p < last; ++p)
            if (problem.cost()(p) * phi(p) < limit) trial(p) = 0;
        const double excess = worst_excess(problem, trial, agents, size);
        if (!std::isfinite(excess)) break;
        if (excess > 1) trial *= excess;
        if (problem.cost().dot(trial) > before * (1 + tolerance)) break;
        best = std::move(trial);
    }
    return best;
}

}  // namespace

CoalitionSolution solve_coalition_covariance(const MatrixXd& utility,
                                             const VectorXd& kappa,
                                             std::span<const SeedGroup> groups,
                                             GroupNoise shape,
                                             const CoalitionOptions& options) {
    check_input(utility, kappa, groups, shape, options);
    const auto agents = static_cast<int>(kappa.size());
    const int size = options.coalition_size;
    const double unit = utility.trace() / agents;
    const MatrixXd scaled = utility / unit;
    CoalitionProblem problem(scaled, kappa, groups, shape, options);
    const bool all = count_coalitions(agents, size) <= few_coalitions;
    const double slopes = (all ? count_coalitions(agents, size) : agents) * agents *
                          static_cast<double>(problem.unknowns());
    if (slopes > most_slopes)
        throw ConfigError(
            fmt::format("coalition-size: {} of {} agents with {} unknowns are too much to optimise "
                        "({:.0f} GB); choose fewer seed groups (--seed-groups circulant:2), or "
                        "--mechanism decor",
                        size,
                        agents,
                        problem.unknowns(),
                        8e-9 * slopes));
    if (all) {
        for_each_coalition(
            agents, size, [&](const std::vector<int>& coalition) { problem.add(coalition); });
    } else {
        for (int u = 0; u < agents; ++u) {
            std::set<int> members;
            for (int i = 0; i < size; ++i) members.insert((u + i) % agents);
            problem.add({members.begin(), members.end()});
        }
    }

    CoalitionSolution solution;
    CoalitionProblem::Point point;
    VectorXd best;
    double best_value = infinity, best_bound = 0;
    // Where M is singular rounding ends the progress before the gap is met.
    constexpr int patience = 25;
    double last_gap = infinity, last_present = infinity;
    int last_progress = 0;
    const auto restart = [&](VectorXd phi, double share) {
        point.phi = std::move(phi);
        if (!problem.complete(point))
            throw ConfigError(fmt::format(
                "variance-cap: {} is too small for noise that protects every agent (choose a "
                "larger one{})",
                options.variance_cap,
                options.common_variance ? ", or no common-variance" : ""));
        problem.balance(point, share * problem.cost().dot(point.phi));
        last_gap = last_present = infinity;
    };
    restart(problem.start(), 1e-2);
    const auto check_all = [&] {
        const double worst =
            all ? problem.excess(point) : add_violated(problem, point.phi, agents, size);
        const double value = worst * problem.cost().dot(point.phi);
        if (value < best_value) {
            best = worst * point.phi;
            best_value = value;
        }
        return worst;
    };
    double target = problem.complementarity(point), aim = centring;
    while (solution.iterations < options.max_iterations) {
        ++solution.iterations;
        const double length = problem.step(point, target);
        best_bound = std::max(best_bound, problem.lower_bound(point));
        const double value = problem.excess(point) * problem.cost().dot(point.phi);
        const bool solved = value - best_bound <= 0.5 * options.relative_gap * value;
        if (all || solved || length == 0) {
            const double worst = check_all();
            if (best_value - best_bound <= options.relative_gap * best_value || length == 0) break;
            if (!all && solved) restart(1.02 * std::max(1.0, worst) * point.phi, 1e-4);
        }
        const double gap = std::min(best_value, value) - best_bound;
        const double present = problem.complementarity(point);
        if (gap < 0.9 * last_gap || present < 0.9 * last_present) {
            last_gap = std::min(last_gap, gap);
            last_present = present;
            last_progress = solution.iterations;
        }
        if (solution.iterations - last_progress > patience) break;
        // A short step means that the point is off the path: come back to it first.
        if (present < 1e-13 * problem.cost().dot(point.phi)) break;  // rounding decides from here
        if (length < 0.5) aim = std::min(most_cautious, std::sqrt(aim));
        if (length > 0.8) aim = std::max(centring, aim * aim);
        target = (length > 0.2 ? aim : 1.0) * present;
    }
    if (best.size() == 0) (void)check_all();
    const Index first_pair = options.common_variance ? 1 : agents;
    if (shape == GroupNoise::difference)
        best = without_negligible(
            problem, best, agents, size, options.relative_gap, first_pair, problem.unknowns());
    solution.coalitions = static_cast<long>(problem.coalitions().size());
    solution.private_variance =
        options.common_variance ? VectorXd::Constant(agents, best(0)) : VectorXd(best.head(agents));
    for (std::size_t k = 0; k < groups.size(); ++k)
        solution.group_covariance.push_back(problem.group_matrix(best, k));
    solution.capped =
        problem.variances(best).cwiseProduct(kappa).maxCoeff() > 0.5 * options.variance_cap;
    solution.value = unit * problem.cost().dot(best);
    solution.lower_bound = unit * best_bound;
    return solution;
}

}  // namespace sotto
