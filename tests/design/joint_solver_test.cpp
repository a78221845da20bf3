#include "sotto/design/joint_solver.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/noise_fixtures.hpp"
#include "design/temporal_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/design/spatial_solver.hpp"
#include "sotto/design/temporal_solver.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Columns = JointOptions::Columns;

JointSolution solved_jointly(const MatrixXd& utility,
                             const VectorXd& kappa,
                             long cycle,
                             Columns columns = Columns::any) {
    JointOptions options;
    options.columns = columns;
    return solve_joint_gram(utility, kappa, cycle, options);
}

std::vector<double> equal_steps(Index rounds) {
    return std::vector<double>(static_cast<std::size_t>(rounds), 1.0);
}

/// X of the rounds j, j + cycle, ... of agent u.
MatrixXd pattern_of(const MatrixXd& gram, Index agents, Index u, Index j, long cycle) {
    std::vector<Index> rows;
    for (Index t = j; t * agents < gram.rows(); t += cycle) rows.push_back(t * agents + u);
    return gram(rows, rows);
}

/// The largest share of its limit that any pattern takes, by sums of absolute values.
double share_of_limits(const MatrixXd& gram, const VectorXd& kappa, long cycle, Columns columns) {
    const Index agents = kappa.size(), rounds = gram.rows() / agents;
    double largest = 0;
    for (Index u = 0; u < agents; ++u)
        for (Index j = 0; j < std::min<Index>(cycle, rounds); ++j) {
            const MatrixXd block = pattern_of(gram, agents, u, j, cycle);
            const double most = std::ceil(static_cast<double>(rounds) / static_cast<double>(cycle));
            largest = std::max(largest,
                               columns == Columns::any
                                   ? block.cwiseAbs().sum() / (most * kappa(u))
                                   : symmetric_eigenvalues(block).maxCoeff() / kappa(u));
        }
    return largest;
}

TEST(SolveJointGram, OfOneRoundIsTheSpatialOptimum) {
    for (const Index n : {1, 4, 7})
        for (const Columns columns : {Columns::any, Columns::equal}) {
            const MatrixXd utility = random_positive_definite(n, 5);
            const VectorXd kappa = random_kappa(n, 6);
            const double expected = solve_spatial_covariance(utility, kappa).value;
            const JointSolution found = solved_jointly(utility, kappa, 1, columns);
            EXPECT_NEAR(found.value, expected, 2e-6 * expected) << n;
            EXPECT_NEAR(found.lower_bound, expected, 2e-6 * expected) << n;
        }
}

TEST(SolveJointGram, OfOneAgentAndEqualColumnsIsTheTemporalOptimum) {
    const MixingMatrix alone = MixingMatrix::average(1);
    for (const long cycle : {1, 3, 5, 14}) {
        const MatrixXd utility = joint_utility(alone, equal_steps(14));
        const double expected = solve_temporal_gram(utility, cycle).value;
        const JointSolution found =
            solved_jointly(utility, VectorXd::Ones(1), cycle, Columns::equal);
        EXPECT_NEAR(found.value, expected, 5e-6 * expected) << cycle;
        EXPECT_LE(solved_jointly(utility, VectorXd::Ones(1), cycle).lower_bound, found.value)
            << cycle;
    }
}

TEST(SolveJointGram, OfOneAgentInEveryRoundHasColumnsByTheRootsOfTheUtility) {
    const MatrixXd utility = random_positive_definite(6, 8);
    const double roots = utility.diagonal().cwiseSqrt().sum();
    const double expected = roots * roots / 6;
    EXPECT_NEAR(solved_jointly(utility, VectorXd::Ones(1), 1).value, expected, 2e-6 * expected);
    EXPECT_NEAR(solved_jointly(utility, VectorXd::Ones(1), 1, Columns::equal).value,
                utility.trace(),
                2e-6 * utility.trace());
}

TEST(SolveJointGram, GivesAGramWithinTheLimitsItsValueAndABoundBelowIt) {
    const MixingMatrix mixing = mixing_of(MixingRule::row_stochastic);
    const VectorXd kappa = random_kappa(few_agents, 3);
    const MatrixXd utility = joint_utility(mixing, falling_steps(7));
    for (const long cycle : {1, 3, 9})
        for (const Columns columns : {Columns::any, Columns::equal}) {
            const JointSolution found = solved_jointly(utility, kappa, cycle, columns);
            EXPECT_LE(share_of_limits(found.gram, kappa, cycle, columns), 1 + 1e-12);
            const double value = utility.cwiseProduct(found.gram.inverse()).sum();
            EXPECT_NEAR(found.value, value, 1e-6 * value);
            EXPECT_LE(found.relative_gap(), 1e-6);
            EXPECT_GE(found.relative_gap(), 0);
        }
}

TEST(SolveJointGram, OfSingularUtilitiesIsTheInfimum) {
    // On complete graphs all noise but that of the mean is mixed away, and can cancel.
    const JointSolution complete = solved_jointly(
        joint_utility(MixingMatrix::average(4), equal_steps(1)), VectorXd::Ones(4), 1);
    EXPECT_NEAR(complete.value, 0.25, 1e-6);
    EXPECT_NEAR(complete.lower_bound, 0.25, 1e-6);
    for (const auto& [name, graph] : sample_graphs({6})) {
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
        const JointSolution found =
            solved_jointly(joint_utility(mixing, equal_steps(6)), VectorXd::Ones(6), 3);
        EXPECT_LE(found.relative_gap(), 1e-6) << name;
        EXPECT_GT(found.lower_bound, 0) << name;
    }
}

TEST(SolveJointGram, LeavesNoMoreThanAnyProductOfTimeAndSpace) {
    const MixingMatrix mixing = mixing_of(MixingRule::metropolis);
    const std::vector<double> steps = falling_steps(8);
    const JointSolution found =
        solved_jointly(joint_utility(mixing, steps), VectorXd::Ones(few_agents), 4, Columns::equal);
    MatrixXd covariance = MatrixXd::Identity(few_agents, few_agents);
    for (int turn = 0; turn < 4; ++turn) {
        const TemporalSolution time =
            solve_temporal_gram(temporal_utility(mixing, covariance, steps), 4);
        EXPECT_LE(found.lower_bound, time.value);
        const SpatialSolution space = solve_spatial_covariance(
            spatial_utility(mixing, time.gram.inverse(), steps), VectorXd::Ones(few_agents));
        EXPECT_LE(found.lower_bound, space.value);
        covariance = space.covariance;
    }
}

/// Tr(H X^-1) times the largest sens2 / 2 over agents, X = A A^T, of two agents in two rounds that
/// both count: sens2 of [[a, c], [c, b]] is a + b + 2 |c|, for changes of length 1.
double two_by_two(const MatrixXd& utility, const VectorXd& entries) {
    const Eigen::Map<const MatrixXd> factor(entries.data(), 4, 4);
    const MatrixXd gram = factor * factor.transpose();
    double largest = 0;
    for (Index u = 0; u < 2; ++u) {
        const MatrixXd block = pattern_of(gram, 2, u, 0, 1);
        largest = std::max(largest, block.cwiseAbs().sum() / 2);
    }
    return utility.cwiseProduct(gram.inverse()).sum() * largest;
}

TEST(SolveJointGram, IsWhatRandomSearchAmongAllGramsComesTo) {
    const MatrixXd utility = random_positive_definite(4, 11);
    const JointSolution found = solved_jointly(utility, VectorXd::Ones(2), 1);
    SeededRandom random(12, "search", 0);
    double best = infinity;
    for (int start = 0; start < 4; ++start) {
        VectorXd point = MatrixXd::Identity(4, 4).reshaped();
        double value = two_by_two(utility, point), length = 0.3;
        for (int step = 0; step < 30000; ++step) {
            VectorXd next = point;
            for (double& entry : next) entry += length * random.normal();
            const double reached = two_by_two(utility, next);
            const bool better = reached < value;
            if (better) {
                value = reached;
                point = next;
            }
            length = std::clamp(length * (better ? 1.5 : 0.98), 1e-4, 1.0);
        }
        best = std::min(best, value);
    }
    EXPECT_GE(best, found.lower_bound);
    EXPECT_LE(best, 1.01 * found.value);
}

TEST(SolveJointGram, RefusesWhatIsNoUtilityOfAgentsAndRounds) {
    const MatrixXd utility = MatrixXd::Identity(6, 6);
    const auto message = [](auto&& call) { return message_of<ConfigError>(call); };
    EXPECT_TRUE(
        contains(message([&] { (void)solved_jointly(utility, VectorXd::Ones(4), 1); }), "6 x 6"));
    EXPECT_TRUE(
        contains(message([&] { (void)solved_jointly(utility, VectorXd::Ones(3), 0); }), "cycle"));
    EXPECT_TRUE(
        contains(message([&] { (void)solved_jointly(utility, VectorXd::Zero(3), 1); }), "kappa"));
    EXPECT_TRUE(contains(message([&] { (void)solved_jointly(0 * utility, VectorXd::Ones(3), 1); }),
                         "must not be zero"));
}

}  // namespace
}  // namespace sotto
