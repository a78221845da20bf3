#include "design/spatial_solver.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "core/numbers.hpp"
#include "core/test_support.hpp"
#include "design/noise_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using namespace test;

constexpr std::uint64_t spatial_problem_seed = 17;

struct Problem {
    std::string name;
    Eigen::MatrixXd utility;
    Eigen::VectorXd kappa;
};

/// Problems whose M is positive definite: random ones, and graphs whose W is not singular; with
/// equal and unequal kappa.
std::vector<Problem> regular_problems() {
    std::vector<Problem> problems;
    const auto add = [&](const std::string& name, const Eigen::MatrixXd& utility) {
        const Eigen::Index n = utility.rows();
        problems.push_back({name + ", equal kappa", utility, Eigen::VectorXd::Ones(n)});
        problems.push_back(
            {name + ", unequal kappa", utility, random_kappa(n, spatial_problem_seed)});
    };
    for (const Eigen::Index n : {1, 2, 3, 8, 15})
        for (const std::uint64_t s : {1U, 2U, 3U})
            add("random " + std::to_string(n) + " seed " + std::to_string(s),
                random_positive_definite(n, s));
    for (const int n : {4, 11})
        for (const Topology topology : {Topology::ring, Topology::path, Topology::star})
            for (const long horizon : {1L, 10L, 200L})
                add(name_of(topology) + " " + std::to_string(n) + " horizon " +
                        std::to_string(horizon),
                    horizon_utility(make_graph(topology, n), horizon, MixingRule::lazy_metropolis));
    return problems;
}

TEST(SolveSpatialCovariance, CertifiesItsOptimum) {
    for (const auto& [name, utility, kappa] : regular_problems()) {
        SCOPED_TRACE(name);
        const SpatialSolution found = solve_spatial_covariance(utility, kappa);
        EXPECT_EQ(found.status, SpatialStatus::optimal);
        // Rounding of small eigenvalues shows in both; it stays far below the gap asked for.
        EXPECT_GE(found.relative_gap(), -1e-10);
        EXPECT_LE(found.relative_gap(), 1e-9);
        EXPECT_EQ(found.ridge, 0.0);
        EXPECT_TRUE(relatively_near(found.value, cost(utility, found.covariance), 1e-12));
    }
}

TEST(SolveSpatialCovariance, GivesEveryAgentExactlyItsPrecision) {
    for (const auto& [name, utility, kappa] : regular_problems()) {
        SCOPED_TRACE(name);
        const SpatialSolution found = solve_spatial_covariance(utility, kappa);
        EXPECT_EQ(found.covariance, found.covariance.transpose());
        ASSERT_EQ(found.covariance.llt().info(), Eigen::Success);
        EXPECT_LE(
            (precision_of(found.covariance).cwiseQuotient(kappa).array() - 1).abs().maxCoeff(),
            1e-9);
    }
}

TEST(SolveSpatialCovariance, IsStationaryUpToTheRootOfItsGap) {
    // M = R^-1 Lambda R^-1, hence R M R is diagonal and positive.
    for (const auto& [name, utility, kappa] : regular_problems()) {
        SCOPED_TRACE(name);
        SpatialOptions options;
        options.relative_gap = 1e-12;
        const Eigen::MatrixXd r = solve_spatial_covariance(utility, kappa, options).covariance;
        Eigen::MatrixXd lambda = r * utility * r;
        EXPECT_GT(lambda.diagonal().minCoeff(), 0);
        // In units of each agent's own entry.
        const Eigen::VectorXd unit = lambda.diagonal().cwiseSqrt().cwiseInverse();
        lambda = unit.asDiagonal() * lambda * unit.asDiagonal();
        lambda.diagonal().setZero();
        EXPECT_LE(lambda.cwiseAbs().maxCoeff(), 1e-4);
    }
}

TEST(SolveSpatialCovariance, CannotBeImprovedByAnyFeasiblePerturbation) {
    for (const auto& [name, utility, kappa] : regular_problems()) {
        SCOPED_TRACE(name);
        const SpatialSolution found = solve_spatial_covariance(utility, kappa);
        const Eigen::Index n = kappa.size();
        SeededRandom random(spatial_problem_seed, "perturbation", static_cast<std::uint64_t>(n));
        const Eigen::MatrixXd root = found.covariance.llt().matrixL();
        for (const double size : {1e-4, 1e-2, 0.3})
            for (int repetition = 0; repetition < 20; ++repetition) {
                Eigen::MatrixXd change(n, n);
                for (double& value : change.reshaped()) value = random.normal();
                const Eigen::MatrixXd factor =
                    root * (Eigen::MatrixXd::Identity(n, n) + size * change);
                const Eigen::MatrixXd covariance =
                    factor * factor.transpose() + 1e-12 * found.covariance;
                for (const auto& feasible : {scaled_to_feasible(covariance, kappa),
                                             stretched_to_feasible(covariance, kappa)})
                    EXPECT_GE(cost(utility, feasible), found.lower_bound * (1 - 1e-9))
                        << "seed " << spatial_problem_seed;
            }
    }
}

TEST(SolveSpatialCovariance, ScalesInverselyWithKappaAndLinearlyWithTheUtility) {
    for (const Eigen::Index n : {3, 9}) {
        const Eigen::MatrixXd utility = random_positive_definite(n, spatial_problem_seed);
        const Eigen::VectorXd kappa = random_kappa(n, spatial_problem_seed);
        const SpatialSolution base = solve_spatial_covariance(utility, kappa);
        for (const double factor : {1e-6, 0.3, 1e6}) {
            const SpatialSolution tighter = solve_spatial_covariance(utility, factor * kappa);
            EXPECT_TRUE(relatively_near(tighter.value, base.value / factor, 2e-9));
            EXPECT_LE((tighter.covariance * factor - base.covariance).norm(),
                      1e-3 * base.covariance.norm());
            const SpatialSolution dearer = solve_spatial_covariance(factor * utility, kappa);
            EXPECT_TRUE(relatively_near(dearer.value, base.value * factor, 2e-9));
        }
    }
}

TEST(SolveSpatialCovariance, IsKnownInClosedFormForDiagonalAndUniformUtilities) {
    const Eigen::VectorXd kappa = random_kappa(6, spatial_problem_seed);
    const Eigen::VectorXd weight = random_kappa(6, spatial_problem_seed + 1);
    // Independent agents: R = diag(1/kappa).
    const SpatialSolution diagonal =
        solve_spatial_covariance(weight.asDiagonal().toDenseMatrix(), kappa);
    EXPECT_TRUE(relatively_near(diagonal.value, weight.cwiseQuotient(kappa).sum(), 1e-9));
    // M = a I + b 11^T with kappa = 1: lambda is constant by symmetry, so X is a multiple of
    // M^1/2 with unit diagonal and the value is (Tr M^1/2)^2 / n.
    const double a = 0.3, b = 2;
    const int n = 7;
    const Eigen::MatrixXd utility =
        a * Eigen::MatrixXd::Identity(n, n) + b * Eigen::MatrixXd::Ones(n, n);
    const double trace = (n - 1) * std::sqrt(a) + std::sqrt(a + n * b);
    EXPECT_TRUE(relatively_near(solve_spatial_covariance(utility, Eigen::VectorXd::Ones(n)).value,
                                trace * trace / n,
                                1e-9));
    // One agent: noise of variance 1/kappa.
    EXPECT_TRUE(relatively_near(solve_spatial_covariance(Eigen::MatrixXd::Constant(1, 1, 5.0),
                                                         Eigen::VectorXd::Constant(1, 0.25))
                                    .value,
                                20.0,
                                1e-12));
}

TEST(SolveSpatialCovariance, NumbersItsAgentsArbitrarily) {
    const Eigen::MatrixXd utility = random_positive_definite(8, spatial_problem_seed);
    const Eigen::VectorXd kappa = random_kappa(8, spatial_problem_seed);
    Eigen::PermutationMatrix<Eigen::Dynamic> permutation(8);
    permutation.indices() << 3, 7, 0, 1, 6, 2, 5, 4;
    const SpatialSolution a = solve_spatial_covariance(utility, kappa);
    const SpatialSolution b = solve_spatial_covariance(
        permutation * utility * permutation.transpose(), permutation * kappa);
    EXPECT_TRUE(relatively_near(a.value, b.value, 2e-9));
    EXPECT_LE((permutation * a.covariance * permutation.transpose() - b.covariance).norm(),
              1e-3 * b.covariance.norm());
}

TEST(SolveSpatialCovariance, KeepsTheCapAlsoWhereTheUtilityIsRegular) {
    for (const std::uint64_t s : {1U, 2U, 3U}) {
        const Eigen::MatrixXd utility = random_positive_definite(8, s, 1e-6);
        const Eigen::VectorXd kappa = random_kappa(8, s);
        const SpatialSolution free = solve_spatial_covariance(utility, kappa);
        const double free_variance = free.covariance.diagonal().cwiseProduct(kappa).maxCoeff();
        ASSERT_GT(free_variance, 1.2);
        for (const double share : {0.1, 0.5, 0.9, 1.1}) {
            const double cap = 1 + share * (free_variance - 1);
            SpatialOptions options;
            options.variance_cap = cap;
            const SpatialSolution found = solve_spatial_covariance(utility, kappa, options);
            EXPECT_LE(found.covariance.diagonal().cwiseProduct(kappa).maxCoeff(),
                      cap * (1 + 1e-12));
            EXPECT_LE((precision_of(found.covariance).cwiseQuotient(kappa)).maxCoeff(), 1 + 1e-9);
            EXPECT_GE(found.value, free.value * (1 - 1e-9));
            EXPECT_LE(found.lower_bound, free.value * (1 + 1e-9));
            const bool binds = share < 1;
            EXPECT_EQ(found.status, binds ? SpatialStatus::capped : SpatialStatus::optimal);
            EXPECT_EQ(found.ridge > 0, binds) << "cap " << cap;
        }
    }
}

TEST(SolveSpatialCovariance, RefusesAKappaThatIsNotFiniteAndPositiveAndNamesTheAgent) {
    for (const double bad : {0.0, -0.0, -1.0, not_a_number, infinity, -infinity}) {
        Eigen::VectorXd kappa = Eigen::VectorXd::Ones(4);
        kappa(2) = bad;
        EXPECT_TRUE(contains(message_of<ConfigError>([&] {
                                 (void)solve_spatial_covariance(Eigen::MatrixXd::Identity(4, 4),
                                                                kappa);
                             }),
                             "kappa of agent 2"))
            << bad;
    }
}

TEST(SolveSpatialCovariance, RefusesACapOrUtilityThatMakesNoSense) {
    const Eigen::MatrixXd utility = Eigen::MatrixXd::Identity(3, 3);
    const Eigen::VectorXd kappa = Eigen::VectorXd::Ones(3);
    for (const double cap : {1.0, 0.5, -1.0, not_a_number}) {
        SpatialOptions options;
        options.variance_cap = cap;
        EXPECT_TRUE(contains(message_of<ConfigError>(
                                 [&] { (void)solve_spatial_covariance(utility, kappa, options); }),
                             "variance-cap"));
    }
    EXPECT_THROW((void)solve_spatial_covariance(Eigen::MatrixXd::Zero(3, 3), kappa), ConfigError);
    EXPECT_THROW((void)solve_spatial_covariance(Eigen::MatrixXd::Identity(4, 4), kappa),
                 ConfigError);
    EXPECT_THROW((void)solve_spatial_covariance(Eigen::MatrixXd::Identity(3, 4), kappa),
                 ConfigError);
    Eigen::MatrixXd damaged = utility;
    damaged(2, 1) = damaged(1, 2) = not_a_number;
    EXPECT_THROW((void)solve_spatial_covariance(damaged, kappa), Error);
}

constexpr std::uint64_t dual_problem_seed = 5;

/// S = (Lambda^1/2 M Lambda^1/2)^1/2.
MatrixXd root_of(const MatrixXd& utility, const VectorXd& lambda) {
    const VectorXd weight = lambda.cwiseSqrt();
    return Eigen::SelfAdjointEigenSolver<MatrixXd>(weight.asDiagonal() * utility *
                                                   weight.asDiagonal())
        .operatorSqrt();
}

TEST(DualPoint, IsScaledToTheBestBoundOfItsDirection) {
    for (const Eigen::Index n : {2, 7}) {
        const MatrixXd utility = random_positive_definite(n, dual_problem_seed);
        const VectorXd kappa = random_kappa(n, dual_problem_seed),
                       lambda = random_kappa(n, dual_problem_seed + 1);
        DualProblem problem(utility, kappa);
        const DualPoint point = problem.evaluate(lambda);
        // Proportional to lambda, with Tr S = kappa.lambda.
        EXPECT_TRUE(point.lambda.cwiseQuotient(lambda).isConstant(point.lambda(0) / lambda(0)));
        const MatrixXd s = root_of(utility, point.lambda);
        EXPECT_TRUE(relatively_near(s.trace(), kappa.dot(point.lambda), 1e-10));
        EXPECT_TRUE(relatively_near(
            point.bound, std::pow(root_of(utility, lambda).trace(), 2) / kappa.dot(lambda), 1e-10));
        EXPECT_TRUE(point.diagonal.isApprox(s.diagonal(), 1e-9));
        EXPECT_EQ(problem.evaluations(), 1);
    }
}

TEST(NewtonDirection, SolvesTheSystemThatTheSumOverAllPairsOfEigenvaluesGives) {
    constexpr Eigen::Index n = 6;
    const MatrixXd utility = random_positive_definite(n, dual_problem_seed);
    const VectorXd kappa = random_kappa(n, dual_problem_seed);
    DualProblem problem(utility, kappa);
    const DualPoint point = problem.evaluate(kappa.cwiseInverse());
    MatrixXd k = MatrixXd::Zero(n, n);
    for (Eigen::Index i = 0; i < n; ++i)
        for (Eigen::Index j = 0; j < n; ++j) {
            const VectorXd q = point.basis.col(i).cwiseProduct(point.basis.col(j));
            k +=
                point.root(i) * point.root(j) / (point.root(i) + point.root(j)) * q * q.transpose();
        }
    const VectorXd expected = k.llt().solve(point.diagonal - kappa.cwiseProduct(point.lambda));
    // The trapezoidal rule has a step of 1 in log t.
    EXPECT_LT((problem.newton_direction(point) - expected).norm(), 0.02 * expected.norm());
}

TEST(FeasibleCovariance, GivesEveryAgentExactlyItsPrecisionAtAnyPoint) {
    const MatrixXd utility = random_positive_definite(7, dual_problem_seed);
    const VectorXd kappa = random_kappa(7, dual_problem_seed);
    DualProblem problem(utility, kappa);
    const DualPoint point = problem.evaluate(random_kappa(7, dual_problem_seed + 1));
    const MatrixXd covariance = problem.feasible_covariance(point);
    EXPECT_TRUE(precision_of(covariance).isApprox(kappa, 1e-9));
    EXPECT_GE(cost(utility, covariance), point.bound);
    // X scaled down by 1 + gap is feasible: a bound on how far the value is from the optimum.
    EXPECT_GT(problem.gap(point), 0);
}

TEST(Maximise, EndsWhereTheBoundIsTheCostOfAFeasibleCovariance) {
    for (const std::uint64_t s : {1U, 2U, 3U}) {
        const MatrixXd utility = random_positive_definite(9, s);
        const VectorXd kappa = random_kappa(9, s);
        DualProblem problem(utility, kappa);
        SpatialOptions options;
        const DualPoint point = problem.maximise(kappa.cwiseInverse(), options);
        EXPECT_LE(problem.gap(point), options.relative_gap);
        EXPECT_TRUE(
            relatively_near(cost(utility, problem.feasible_covariance(point)), point.bound, 1e-8));
        EXPECT_LE(problem.evaluations(), 40);
        options.max_iterations = 1;
        DualProblem hurried(utility, kappa);
        EXPECT_LE(hurried.maximise(kappa.cwiseInverse(), options).bound, point.bound);
    }
}

// Mixing matrices that are singular: the infimum is not attained and R diverges, so the cap
// decides.

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
