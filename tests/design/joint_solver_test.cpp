#include "design/joint_solver.hpp"

#include <gtest/gtest.h>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "design/noise_fixtures.hpp"
#include "design/spatial_solver.hpp"
#include "design/temporal_fixtures.hpp"
#include "design/temporal_solver.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using namespace test;
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

using namespace test;

TEST(TimeDesign, HasNothingToChooseWhereEveryRoundMeetsEveryOther) {
    DesignInput input;
    EXPECT_TRUE(
        contains(message_of<ConfigError>([&] { require_choice_of_rounds(input, "example"); }),
                 "participation: every leaves mechanism example nothing to choose"));
    input.participation = {2};
    EXPECT_NO_THROW(require_choice_of_rounds(input, "example"));
}

TEST(TimeDesign, TakesCovariancesInUnitsOfTheSmallestKappa) {
    for (const auto& setting : settings({5})) {
        const Eigen::VectorXd kappa = random_kappa(5, 31);
        const DesignInput input = setting.input(10, kappa);
        const Eigen::MatrixXd found = relative_covariance(design_of("ldp", input).plan, input);
        const Eigen::VectorXd expected = kappa.minCoeff() * kappa.cwiseInverse();
        EXPECT_TRUE(found.isApprox(expected.asDiagonal().toDenseMatrix(), 1e-12));
    }
}

TEST(TimeDesign, SolvesForTheInputsStepsGossipAndShape) {
    const Setting setting = settings({5}).back();
    DesignInput input = setting.input(10);
    input.rounds = 12;
    input.participation = {4};
    input.gossip = 2;
    input.steps = {StepSchedule::Kind::inverse_sqrt, 0.3, {}};
    input.temporal = {TemporalShape::Kind::banded, 2, 0};
    const Eigen::MatrixXd covariance = random_positive_definite(5, 3);
    const ShapedFactor found = time_given_space(input, covariance);
    const ShapedFactor expected =
        solve_shaped_factor(setting.mixing, covariance, design_steps(input), 2, 4, input.temporal);
    EXPECT_EQ(found.value, expected.value);
    EXPECT_EQ(found.factor.lower, expected.factor.lower);
    EXPECT_EQ(found.factor.lower.cols(), 3);
}

TEST(TimeDesign, KeepsSolutionsApart) {
    const Setting setting = settings({5}).back();
    DesignInput input = setting.input(10);
    input.rounds = 12;
    input.participation = {4};
    const Eigen::MatrixXd covariance = random_positive_definite(5, 3);
    const ShapedFactor first = time_given_space(input, covariance);
    const ShapedFactor of_others = time_given_space(input, random_positive_definite(5, 4));
    EXPECT_NE(of_others.value, first.value);
    const ShapedFactor one_lag = time_given_space(
        input, covariance, {TemporalShape::Kind::one_lag, 0, 0}, Certificate::wanted);
    EXPECT_EQ(one_lag.factor.kind, TemporalFactor::Kind::one_lag);
    const ShapedFactor again = time_given_space(input, covariance);
    EXPECT_EQ(again.value, first.value);
    EXPECT_EQ(again.lower_bound, first.lower_bound);
    EXPECT_EQ(again.factor.lower, first.factor.lower);
    input.participation = {3};
    EXPECT_NE(time_given_space(input, covariance).value, first.value);
}

TEST(TimeDesign, HasTheSameFactorsForEveryBudget) {
    const Setting setting = settings({5}).back();
    for (const std::string mechanism : {"mafalda", "space-time"}) {
        std::vector<Eigen::MatrixXd> factors;
        for (const double kappa : {0.3, 0.7, 1.9}) {
            DesignInput input = setting.input(10, Eigen::VectorXd::Constant(5, kappa));
            input.rounds = 12;
            input.participation = {4};
            input.spatial = &find_mechanism("spatial-mechanism", "corn");
            const Design design = design_of(mechanism, input);
            factors.push_back(design.plan.temporal.lower);
            EXPECT_EQ(factors.back(), factors.front()) << mechanism << ", kappa " << kappa;
            EXPECT_LE(coalition_precision(design.plan, 0).maxCoeff(), kappa * (1 + 1e-9));
        }
    }
}

TEST(TimeDesign, RefusesShapesThatMakeSampledRoundsOfARecordMeet) {
    DesignInput input;
    input.rounds = 40;
    input.participation = {.cycle = 4, .poisson = true};
    const auto refusal = [&](const TemporalShape& shape) {
        input.temporal = shape;
        return message_of<ConfigError>([&] { require_choice_of_rounds(input, "example"); });
    };
    const auto dense = TemporalShape::Kind::dense;
    const auto banded = TemporalShape::Kind::banded;
    EXPECT_TRUE(contains(refusal({}), "banded:B with B up to 3"));
    EXPECT_TRUE(contains(refusal({banded, 4, 0}), "with participation cyclic-poisson:4"));
    EXPECT_TRUE(contains(refusal({dense, 0, 5}), "--temporal-restart up to 4"));
    EXPECT_TRUE(contains(refusal({TemporalShape::Kind::one_lag, 0, 4}), "makes each count more"));
    for (const TemporalShape& shape :
         {TemporalShape{banded, 3, 0}, TemporalShape{banded, 9, 4}, TemporalShape{dense, 0, 4}}) {
        input.temporal = shape;
        EXPECT_NO_THROW(require_choice_of_rounds(input, "example")) << name_of(shape);
    }
    input.participation.cycle = 1;
    EXPECT_TRUE(contains(refusal({banded, 3, 0}), "poisson leaves mechanism example nothing"));
    input.temporal = {banded, 0, 0};
    EXPECT_NO_THROW(require_choice_of_rounds(input, "example")) << "it asks for no choice";
}

}  // namespace
}  // namespace sotto
