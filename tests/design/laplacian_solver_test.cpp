#include "design/laplacian_solver.hpp"

#include <gtest/gtest.h>

#include "core/numbers.hpp"
#include "core/test_support.hpp"
#include "design/noise_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using namespace test;

constexpr std::uint64_t kappa_seed = 23;

Eigen::MatrixXd covariance_of(const LaplacianSolution& solution, const Eigen::MatrixXd& laplacian) {
    const Eigen::Index n = laplacian.rows();
    return solution.private_variance * Eigen::MatrixXd::Identity(n, n) +
           solution.edge_variance * laplacian;
}

/// Calls f(graph, M, kappa) over graphs, horizons, and equal and unequal kappa.
template <class Function>
void for_each_problem(Function&& f) {
    for (const auto& [name, graph] : sample_graphs({2, 7, 16}))
        for (const long horizon : {1L, 10L, 200L})
            for (const bool equal : {true, false}) {
                SCOPED_TRACE(name + ", horizon " + std::to_string(horizon) +
                             (equal ? ", equal kappa" : ", unequal kappa"));
                const Eigen::Index n = graph.agents();
                f(graph,
                  horizon_utility(graph, horizon),
                  equal ? Eigen::VectorXd::Ones(n).eval() : random_kappa(n, kappa_seed));
            }
}

TEST(SolveLaplacianCovariance, IsFeasibleAndCostsWhatItSays) {
    for_each_problem(
        [](const Graph& graph, const Eigen::MatrixXd& utility, const Eigen::VectorXd& kappa) {
            const Eigen::MatrixXd laplacian = laplacian_of(graph);
            const LaplacianSolution found = solve_laplacian_covariance(utility, laplacian, kappa);
            const Eigen::MatrixXd covariance = covariance_of(found, laplacian);
            EXPECT_GT(found.private_variance, 0);
            EXPECT_GE(found.edge_variance, 0);
            EXPECT_TRUE(relatively_near(found.value, cost(utility, covariance), 1e-9));
            // Some agent uses up its budget, none exceeds it.
            EXPECT_NEAR(precision_of(covariance).cwiseQuotient(kappa).maxCoeff(), 1, 1e-7);
        });
}

TEST(SolveLaplacianCovariance, CertifiesItsOptimumAndHowMuchTheCapCosts) {
    int certified = 0;
    for_each_problem(
        [&](const Graph& graph, const Eigen::MatrixXd& utility, const Eigen::VectorXd& kappa) {
            const LaplacianSolution found =
                solve_laplacian_covariance(utility, laplacian_of(graph), kappa);
            EXPECT_LE(found.lower_bound, found.value * (1 + 1e-12));
            // The bound ignores the cap; more variance would gain less than one percent.
            EXPECT_GE(found.lower_bound, found.value * (1 - (found.capped ? 1e-2 : 1e-6)));
            if (!found.capped) ++certified;
        });
    // All but the complete graphs, which include every graph of two agents.
    EXPECT_EQ(certified, 60);
}

TEST(SolveLaplacianCovariance, IsBelowEveryOtherRatioOnAGrid) {
    for_each_problem(
        [](const Graph& graph, const Eigen::MatrixXd& utility, const Eigen::VectorXd& kappa) {
            const Eigen::Index n = kappa.size();
            const Eigen::MatrixXd laplacian = laplacian_of(graph);
            const LaplacianSolution found = solve_laplacian_covariance(utility, laplacian, kappa);
            for (double log_ratio = -8; log_ratio <= 8; log_ratio += 0.25) {
                const Eigen::MatrixXd other = scaled_to_feasible(
                    Eigen::MatrixXd::Identity(n, n) + std::exp(log_ratio) * laplacian, kappa);
                EXPECT_LE(found.lower_bound, cost(utility, other) * (1 + 1e-9));
                const bool inside = other.diagonal().cwiseProduct(kappa).maxCoeff() <= 1e4;
                if (inside) {
                    EXPECT_LE(found.value, cost(utility, other) * (1 + 1e-9)) << log_ratio;
                }
            }
            // Private noise alone is always allowed.
            EXPECT_LE(found.value, utility.trace() / kappa.minCoeff() * (1 + 1e-12));
        });
}

TEST(SolveLaplacianCovariance, KeepsTheCap) {
    for (const int n : {3, 8}) {
        const Graph graph = make_graph(Topology::complete, n);
        for (const double cap : {2.0, 100.0, 1e4}) {
            const LaplacianSolution found = solve_laplacian_covariance(
                horizon_utility(graph, 1), laplacian_of(graph), Eigen::VectorXd::Ones(n), cap);
            EXPECT_TRUE(found.capped);
            const double largest = covariance_of(found, laplacian_of(graph)).diagonal().maxCoeff();
            EXPECT_LE(largest, cap * (1 + 1e-9));
            EXPECT_GE(largest, cap * 0.99);
        }
    }
}

TEST(SolveLaplacianCovariance, ScalesInverselyWithKappa) {
    const Graph graph = make_graph(Topology::erdos_renyi, 10);
    const Eigen::MatrixXd utility = horizon_utility(graph, 10);
    const Eigen::VectorXd kappa = random_kappa(10, kappa_seed);
    const LaplacianSolution base = solve_laplacian_covariance(utility, laplacian_of(graph), kappa);
    for (const double factor : {1e-6, 1e6})
        EXPECT_TRUE(relatively_near(
            solve_laplacian_covariance(utility, laplacian_of(graph), factor * kappa).value,
            base.value / factor,
            1e-9));
}

TEST(SolveLaplacianCovariance, RefusesAKappaThatIsNotFiniteAndPositiveAndNamesTheAgent) {
    const Graph graph = make_graph(Topology::ring, 4);
    const Eigen::MatrixXd utility = horizon_utility(graph, 1);
    for (const double bad : {0.0, -1.0, not_a_number, infinity}) {
        Eigen::VectorXd kappa = Eigen::VectorXd::Ones(4);
        kappa(3) = bad;
        EXPECT_TRUE(contains(message_of<ConfigError>([&] {
                                 (void)solve_laplacian_covariance(
                                     utility, laplacian_of(graph), kappa);
                             }),
                             "kappa of agent 3"))
            << bad;
    }
    EXPECT_THROW((void)solve_laplacian_covariance(
                     utility, laplacian_of(graph), Eigen::VectorXd::Ones(4), 1.0),
                 ConfigError);
}

}  // namespace
}  // namespace sotto
