#include "design/pair_prices.hpp"

#include <gtest/gtest.h>

#include "design/coalition_solver.hpp"
#include "design/noise_fixtures.hpp"
#include "design/seed_group_design.hpp"
#include "design/seed_groups.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

/// A graph, exact costs of its noise and unequal limits.
struct PriceProblem {
    explicit PriceProblem(int agents, double edge_probability)
        : graph(make_graph(Topology::erdos_renyi, agents, 5, edge_probability)),
          utility(horizon_utility(graph, 50)),
          pairs(graph.edges().begin(), graph.edges().end()),
          kappa(Eigen::VectorXd::LinSpaced(agents, 1, 2)) {
        costs.agents = utility.diagonal();
        costs.pairs.resize(std::ssize(pairs));
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            const auto [u, v] = pairs[k];
            costs.pairs(static_cast<Eigen::Index>(k)) =
                utility(u, u) + utility(v, v) - 2 * utility(u, v);
        }
    }
    [[nodiscard]] PairProblem input(int coalition_size) const {
        PairProblem problem;
        problem.pairs = pairs;
        problem.costs = &costs;
        problem.kappa = &kappa;
        problem.coalition_size = coalition_size;
        return problem;
    }
    [[nodiscard]] NoisePlan plan(const PairSolution& solution) const {
        std::vector<Eigen::MatrixXd> factors;
        for (Eigen::Index k = 0; k < solution.pair_variance.size(); ++k)
            factors.push_back(difference_factor(solution.pair_variance(k)));
        NoisePlan made = make_group_plan(
            "test", solution.private_variance, make_seed_groups("edges", graph), factors);
        made.scale = 1;
        return made;
    }

    Graph graph;
    Eigen::MatrixXd utility;
    std::vector<std::pair<int, int>> pairs;
    Eigen::VectorXd kappa;
    NoiseCosts costs;
};

TEST(PairPrices, KeepEveryLimitAndAreNearTheOptimum) {
    const PriceProblem problem(120, 0.06);
    for (const int size : {0, 1}) {
        const PairSolution found = solve_pair_prices(problem.input(size));
        const Eigen::VectorXd precision = coalition_precision(problem.plan(found), size);
        EXPECT_LE(precision.cwiseQuotient(problem.kappa).maxCoeff(), 1 + 1e-6);
        CoalitionOptions options;
        options.coalition_size = size;
        options.relative_gap = 0.02;
        const CoalitionSolution best =
            solve_coalition_covariance(problem.utility,
                                       problem.kappa,
                                       make_seed_groups("edges", problem.graph),
                                       GroupNoise::difference,
                                       options);
        EXPECT_LE(found.lower_bound, best.value * (1 + 1e-6)) << "coalitions of " << size;
        EXPECT_GE(found.value, best.lower_bound * (1 - 1e-6)) << "coalitions of " << size;
        EXPECT_LE(found.value, 1.1 * best.value) << "coalitions of " << size;
        EXPECT_GE(found.lower_bound, 0.8 * best.value) << "coalitions of " << size;
    }
}

TEST(PairPrices, KeepLimitsByNoiseOfTheAgentsOwn) {
    const PriceProblem problem(40, 0.15);
    PairSolution noise;
    noise.private_variance = Eigen::VectorXd::Constant(40, 0.2);
    noise.pair_variance = Eigen::VectorXd::Constant(std::ssize(problem.pairs), 0.1);
    const Eigen::VectorXd before = coalition_precision(problem.plan(noise), 1);
    const double cost =
        keep_limits(before, problem.input(1), noise.private_variance, noise.pair_variance);
    EXPECT_NEAR(cost,
                problem.costs.agents.dot(noise.private_variance) +
                    problem.costs.pairs.dot(noise.pair_variance),
                1e-9 * cost);
    const Eigen::VectorXd after = coalition_precision(problem.plan(noise), 1);
    EXPECT_LE(after.cwiseQuotient(problem.kappa).maxCoeff(), 1 + 1e-9);
}

}  // namespace
}  // namespace sotto
