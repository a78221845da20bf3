#include "design/spatial_ridge.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "core/test_support.hpp"
#include "design/noise_fixtures.hpp"
#include "sotto/design/spatial_solver.hpp"

// Mixing matrices that are singular: the infimum is not attained and R diverges, so the cap
// decides.

namespace sotto {
namespace {

using namespace test;

constexpr double default_cap = 1e4;

double smallest_modulus(const Graph& graph) {
    const Eigen::MatrixXd w = MixingMatrix::from_rule(graph, MixingRule::metropolis).dense();
    return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(w).eigenvalues().cwiseAbs().minCoeff();
}

/// Complete graphs, rings whose length 3 divides, dense Erdos-Renyi draws.
std::vector<NamedGraph> singular_graphs() {
    std::vector<NamedGraph> graphs;
    for (const int n : {2, 5, 12})
        graphs.push_back({"complete " + std::to_string(n), make_graph(Topology::complete, n)});
    for (const int n : {3, 9, 18})
        graphs.push_back({"ring " + std::to_string(n), make_graph(Topology::ring, n)});
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
        graphs.push_back({"erdos-renyi p=.9 seed " + std::to_string(seed),
                          make_graph(Topology::erdos_renyi, 20, seed, 0.9)});
    return graphs;
}

/// Feasible covariances of many kinds; none may be cheaper than a certified lower bound.
std::vector<Eigen::MatrixXd> feasible_covariances(const Graph& graph,
                                                  const Eigen::MatrixXd& utility,
                                                  const Eigen::VectorXd& kappa) {
    const Eigen::Index n = kappa.size();
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(n, n);
    std::vector<Eigen::MatrixXd> found{kappa.cwiseInverse().asDiagonal().toDenseMatrix()};
    // Private noise with a lot of noise that cancels.
    for (const double ratio : {0.1, 1.0, 10.0, 1e3, 1e6})
        found.push_back(scaled_to_feasible(identity + ratio * laplacian_of(graph), kappa));
    for (const double ratio : {1.0, 1e3, 1e6})
        found.push_back(stretched_to_feasible(identity + ratio * laplacian_of(graph), kappa));
    // Optima of other problems: with a larger cap, or with other ridges.
    for (const double cap : {1e2, 1e6}) {
        SpatialOptions options;
        options.variance_cap = cap;
        found.push_back(solve_spatial_covariance(utility, kappa, options).covariance);
    }
    for (const double ridge : {1e-3, 1e-6}) {
        SpatialOptions options;
        options.variance_cap = 1e9;
        const Eigen::MatrixXd lifted = utility + ridge * utility.trace() * identity;
        found.push_back(
            scaled_to_feasible(solve_spatial_covariance(lifted, kappa, options).covariance, kappa));
    }
    for (const std::uint64_t seed : {1U, 2U})
        found.push_back(scaled_to_feasible(random_positive_definite(n, seed), kappa));
    return found;
}

void expect_capped_and_certified(const Graph& graph,
                                 const Eigen::MatrixXd& utility,
                                 const Eigen::VectorXd& kappa) {
    const SpatialSolution found = solve_spatial_covariance(utility, kappa);
    EXPECT_LE(found.lower_bound, found.value * (1 + 1e-12));
    EXPECT_LE(found.relative_gap(), 1e-2);
    EXPECT_LE(found.covariance.diagonal().cwiseProduct(kappa).maxCoeff(), default_cap * (1 + 1e-9));
    ASSERT_EQ(found.covariance.llt().info(), Eigen::Success);
    EXPECT_LE(precision_of(found.covariance).cwiseQuotient(kappa).maxCoeff(), 1 + 1e-6);
    EXPECT_TRUE(relatively_near(cost(utility, found.covariance), found.value, 1e-8));
    for (const auto& feasible : feasible_covariances(graph, utility, kappa))
        EXPECT_LE(found.lower_bound, cost(utility, feasible) * (1 + 1e-8));
}

TEST(SingularUtility, IsWhatTheseGraphsHave) {
    int singular = 0;
    for (const auto& [name, graph] : singular_graphs())
        if (smallest_modulus(graph) < 1e-12) ++singular;
    // All complete graphs and rings; of dense Erdos-Renyi draws nearly all.
    EXPECT_GE(singular, 6 + 4);
}

TEST(SingularUtility, IsSolvedWithinOnePercentUnderTheCap) {
    for (const auto& [name, graph] : singular_graphs())
        for (const long horizon : {1L, 200L}) {
            SCOPED_TRACE(name + ", horizon " + std::to_string(horizon));
            expect_capped_and_certified(
                graph, horizon_utility(graph, horizon), Eigen::VectorXd::Ones(graph.agents()));
        }
}

TEST(SingularUtility, IsSolvedWithinOnePercentUnderTheCapForUnequalKappa) {
    for (const auto& [name, graph] : singular_graphs())
        for (const long horizon : {1L, 50L}) {
            SCOPED_TRACE(name + ", horizon " + std::to_string(horizon));
            const Eigen::VectorXd kappa =
                (0.3 * random_kappa(graph.agents(), 5).array().log()).exp();
            expect_capped_and_certified(graph, horizon_utility(graph, horizon), kappa);
        }
}

TEST(SingularUtility, OfTheCompleteGraphHasTheInfimumOfCentralNoise) {
    for (const int n : {2, 5, 12, 20})
        for (const long horizon : {1L, 7L, 200L}) {
            SCOPED_TRACE(testing::Message() << n << " agents, horizon " << horizon);
            const double infimum = static_cast<double>(horizon) / n;
            const SpatialSolution found = solve_spatial_covariance(
                horizon_utility(make_graph(Topology::complete, n), horizon),
                Eigen::VectorXd::Ones(n));
            EXPECT_LE(found.lower_bound, infimum * (1 + 1e-12));
            EXPECT_TRUE(relatively_near(found.lower_bound, infimum, 1e-2));
            EXPECT_GE(found.value, infimum * (1 - 1e-12));
            EXPECT_TRUE(relatively_near(found.value, infimum, 1e-2));
            // A larger cap comes nearer.
            SpatialOptions options;
            options.variance_cap = 100;
            EXPECT_GT(solve_spatial_covariance(
                          horizon_utility(make_graph(Topology::complete, n), horizon),
                          Eigen::VectorXd::Ones(n),
                          options)
                          .value,
                      found.value);
        }
}

TEST(AlongTheRidge, ReachesTheOptimumOfARegularProblemToo) {
    const Eigen::MatrixXd random = random_positive_definite(8, 3);
    const Eigen::MatrixXd utility = 8 / random.trace() * random;
    const Eigen::VectorXd kappa = random_kappa(8, 3);
    const SpatialSolution direct = solve_spatial_covariance(utility, kappa);
    SpatialOptions options;
    options.relative_gap = 1e-6;
    const SpatialSolution found = solve_along_ridge(utility, kappa, options, 0);
    EXPECT_TRUE(relatively_near(found.value, direct.value, 2e-6));
    EXPECT_LE(found.lower_bound, direct.value * (1 + 1e-9));
    EXPECT_GE(found.lower_bound, direct.value * (1 - 2e-6));
    EXPECT_GT(found.ridge, 0);
    // A bound that is known already is kept.
    EXPECT_EQ(solve_along_ridge(utility, kappa, options, 2 * direct.value).lower_bound,
              2 * direct.value);
}

TEST(RelativeVariance, IsTheLargestInUnitsOfWhatAnAgentAloneNeeds) {
    EXPECT_EQ(relative_variance(Eigen::Vector3d(1, 2, 3).asDiagonal().toDenseMatrix(),
                                Eigen::Vector3d(5, 4, 1)),
              8);
}

}  // namespace
}  // namespace sotto
