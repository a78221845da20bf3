#include "privacy/person_loss.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/numbers.hpp"
#include "core/seeded_random.hpp"
#include "core/test_support.hpp"
#include "privacy/privacy_fixtures.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

std::vector<int> everybody(int agents) {
    std::vector<int> all(static_cast<std::size_t>(agents));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

/// A ring with random chords.
Graph graph_of(int agents, double probability, std::uint64_t seed) {
    SeededRandom random(seed, "person graph");
    std::vector<std::pair<int, int>> edges;
    for (int u = 0; u < agents; ++u)
        for (int v = u + 1; v < agents; ++v)
            if (v == u + 1 || (u == 0 && v == agents - 1) || random.uniform() < probability)
                edges.emplace_back(u, v);
    return Graph::from_edges(agents, std::move(edges));
}
Graph ring_of(int agents) { return graph_of(agents, 0, 1); }

/// A random positive definite matrix whose off-diagonal entries have both signs.
Eigen::MatrixXd random_precision(int agents, std::uint64_t seed) {
    SeededRandom random(seed, "person precision");
    Eigen::MatrixXd factor(agents, agents);
    for (double& value : factor.reshaped()) value = random.normal();
    return factor * factor.transpose() / agents + 0.1 * Eigen::MatrixXd::Identity(agents, agents);
}

Eigen::VectorXd random_reach(int agents, std::uint64_t seed) {
    SeededRandom random(seed, "person reach");
    Eigen::VectorXd reach(agents);
    for (double& value : reach) value = 0.2 + random.uniform();
    return reach;
}

/// sum of precision_uv <g_u, g_v> for vectors in the columns.
double form_of(const Eigen::MatrixXd& precision, const Eigen::MatrixXd& vectors) {
    return (vectors.transpose() * vectors).cwiseProduct(precision).sum();
}

TEST(WorstPerson, OfOneAgentIsTheAgentWithTheLargestLoss) {
    const Eigen::MatrixXd precision = random_precision(7, 1);
    const Eigen::VectorXd reach = random_reach(7, 1);
    const WorstPerson worst = worst_person(precision, everybody(7), {1, reach, {}});
    const Eigen::VectorXd single = precision.diagonal().cwiseProduct(reach.cwiseAbs2());
    EXPECT_NEAR(worst.upper, single.maxCoeff(), 1e-11);
    EXPECT_DOUBLE_EQ(worst.reached, single.maxCoeff());
    ASSERT_EQ(worst.agents.size(), 1u);
    EXPECT_EQ(single(worst.agents[0]), single.maxCoeff());
}

TEST(WorstPerson, OfTwoAgentsIsAttainedBySigns) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const Eigen::MatrixXd precision = random_precision(6, seed);
        const Eigen::VectorXd reach = random_reach(6, seed);
        const WorstPerson worst = worst_person(precision, everybody(6), {2, reach, {}});
        double attained = 0;
        for (int u = 0; u < 6; ++u)
            for (int v = 0; v < u; ++v)
                for (const double sign : {1.0, -1.0}) {
                    Eigen::VectorXd g = Eigen::VectorXd::Zero(6);
                    g(u) = reach(u);
                    g(v) = sign * reach(v);
                    attained = std::max(attained, g.dot(precision * g));
                }
        EXPECT_NEAR(worst.upper, attained, 1e-10 * attained);
        EXPECT_NEAR(worst.reached, attained, 1e-10 * attained);
        EXPECT_TRUE(worst.exhaustive);
    }
}

TEST(WorstPerson, IsNeverExceededByVectorsInAnyDirection) {
    for (const int agents : {2, 3, 4, 6})
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
            const int n = 6;
            const Eigen::MatrixXd precision = random_precision(n, seed);
            const Eigen::VectorXd reach = random_reach(n, seed);
            const WorstPerson worst = worst_person(precision, everybody(n), {agents, reach, {}});
            EXPECT_LE(worst.reached, worst.upper);
            EXPECT_GE(worst.reached, worst.upper * (1 - 1e-5));
            SeededRandom random(seed, "person directions");
            for (int trial = 0; trial < 300; ++trial) {
                std::vector<int> chosen = everybody(n);
                for (std::size_t i = chosen.size() - 1; i > 0; --i)
                    std::swap(chosen[i], chosen[random.below(i + 1)]);
                Eigen::MatrixXd vectors = Eigen::MatrixXd::Zero(4, n);
                for (int i = 0; i < agents; ++i) {
                    const int u = chosen[static_cast<std::size_t>(i)];
                    for (double& value : vectors.col(u)) value = random.normal();
                    vectors.col(u) *= reach(u) / vectors.col(u).norm();
                }
                // Each vector towards what the others pull, which increases the form.
                for (int sweep = 0; sweep < 20; ++sweep)
                    for (int i = 0; i < agents; ++i) {
                        const int u = chosen[static_cast<std::size_t>(i)];
                        const Eigen::VectorXd pull =
                            vectors * precision.col(u) - precision(u, u) * vectors.col(u);
                        if (pull.norm() > 0) vectors.col(u) = reach(u) * pull / pull.norm();
                    }
                EXPECT_LE(form_of(precision, vectors), worst.upper * (1 + 1e-11));
            }
        }
}

TEST(WorstPerson, OfThreeOpposedAgentsIsBelowTheSumOfAbsoluteValues) {
    // Unit vectors at 120 degrees: 3 (1 + 0.5 / 2 * 2), where absolute values give 6.
    Eigen::MatrixXd precision = Eigen::MatrixXd::Constant(3, 3, -0.5);
    precision.diagonal().setOnes();
    const WorstPerson worst =
        worst_person(precision, everybody(3), {3, Eigen::VectorXd::Ones(3), {}});
    EXPECT_NEAR(worst.upper, 4.5, 1e-4);
    EXPECT_NEAR(worst.reached, 4.5, 1e-4);
}

TEST(WorstPerson, OfMoreSetsThanAreTriedIsBoundedFromBothSides) {
    const int n = 60;  // 50 million sets of six
    const Eigen::MatrixXd precision = random_precision(n, 3);
    const Eigen::VectorXd reach = random_reach(n, 3);
    const WorstPerson worst = worst_person(precision, everybody(n), {6, reach, {}});
    EXPECT_FALSE(worst.exhaustive);
    ASSERT_EQ(worst.agents.size(), 6u);
    EXPECT_GT(worst.reached, 0);
    EXPECT_LT(worst.reached, worst.upper);
    SeededRandom random(3, "person sets");
    for (int trial = 0; trial < 2000; ++trial) {
        std::vector<int> chosen = everybody(n);
        double sum = 0;
        for (std::size_t i = 0; i < 6; ++i)
            std::swap(chosen[i], chosen[i + random.below(chosen.size() - i)]);
        for (std::size_t i = 0; i < 6; ++i)
            for (std::size_t j = 0; j < 6; ++j)
                sum +=
                    std::abs(precision(chosen[i], chosen[j])) * reach(chosen[i]) * reach(chosen[j]);
        EXPECT_LE(sum, worst.upper);
    }
}

TEST(WorstPerson, CountsTheSmallestLimitOfItsAgents) {
    const Eigen::MatrixXd precision = Eigen::MatrixXd::Identity(3, 3);
    const Eigen::VectorXd reach = Eigen::VectorXd::Ones(3);
    Eigen::VectorXd allowed(3);
    allowed << 1, 4, infinity;
    EXPECT_NEAR(worst_person(precision, everybody(3), {2, reach, allowed}).upper, 2, 1e-11);
    allowed << infinity, 4, infinity;  // only persons at agent 1 count
    const WorstPerson second = worst_person(precision, everybody(3), {2, reach, allowed});
    EXPECT_NEAR(second.upper, 0.5, 1e-11);
    EXPECT_TRUE(std::ranges::binary_search(second.agents, 1));
    allowed.setConstant(infinity);
    EXPECT_EQ(worst_person(precision, everybody(3), {2, reach, allowed}).upper, 0);
}

TEST(WorstPerson, AtAnAgentWithoutNoiseIsNotProtected) {
    Eigen::MatrixXd precision = Eigen::MatrixXd::Identity(3, 3);
    precision(2, 2) = infinity;
    const WorstPerson worst =
        worst_person(precision, everybody(3), {2, Eigen::VectorXd::Ones(3), {}});
    EXPECT_EQ(worst.upper, infinity);
    Eigen::VectorXd reach = Eigen::VectorXd::Ones(3);
    reach(2) = 0;  // nothing of a person is there
    EXPECT_NEAR(worst_person(precision, everybody(3), {2, reach, {}}).upper, 2, 1e-11);
}

TEST(PrecisionMatrix, HasTheDiagonalOfSingleAgents) {
    const Graph graph = graph_of(9, 0.5, 4);
    const NoisePlan plan = test::random_plan(graph, 5);
    for (const std::vector<int>& coalition :
         {std::vector<int>{}, std::vector<int>{3}, std::vector<int>{0, 7}}) {
        const Eigen::VectorXd single = observed_precision(plan, {coalition});
        const Eigen::MatrixXd matrix = observed_precision_matrix(plan, coalition);
        Eigen::Index place = 0;
        for (int u = 0; u < plan.agents; ++u)
            if (!std::ranges::binary_search(coalition, u)) {
                EXPECT_NEAR(matrix(place, place), single(u), 1e-9 * single(u));
                ++place;
            }
        EXPECT_EQ(matrix.rows(), place);
        EXPECT_LT((matrix - matrix.transpose()).norm(), 1e-9 * matrix.norm());
    }
}

TEST(PrecisionMatrix, OfACoalitionIsTheInverseOfWhatItDoesNotKnow) {
    const NoisePlan plan = test::random_plan(graph_of(80, 0.1, 2), 6);
    const Eigen::MatrixXd matrix = observed_precision_matrix(plan, {});
    const Eigen::MatrixXd product = matrix * spatial_covariance(plan);
    EXPECT_LT((product - Eigen::MatrixXd::Identity(80, 80)).norm(), 1e-6);
}

TEST(PrecisionMatrix, OfNoiseThatCancelsIsInfinite) {
    const NoisePlan plan = test::pair_plan(ring_of(5));
    const Eigen::MatrixXd matrix = observed_precision_matrix(plan, {});
    EXPECT_EQ(matrix.diagonal(), Eigen::VectorXd::Constant(5, infinity));
    EXPECT_EQ(worst_person(plan, 0, {2, Eigen::VectorXd::Ones(5), {}}).upper, infinity);
}

TEST(PrecisionMatrix, OfATrustedMeanShowsTheSumOfWhatAgentsContribute) {
    NoisePlan plan = test::private_plan({1, 1, 1, 1});
    plan.aggregation = Aggregation::trusted_mean;
    const double single = observed_precision(plan, {})(0);
    const WorstPerson worst = worst_person(plan, 0, {3, Eigen::VectorXd::Ones(4), {}});
    EXPECT_NEAR(worst.upper, 9 * single, 1e-9);
    EXPECT_NEAR(worst.reached, 9 * single, 1e-9);
}

TEST(WorstPerson, OfAPlanIsTheWorstOverAllCoalitionsAndSets) {
    const NoisePlan plan = test::random_plan(graph_of(7, 0.6, 3), 8);
    const Eigen::VectorXd reach = random_reach(7, 8);
    const WorstPerson worst = worst_person(plan, 1, {2, reach, {}});
    double largest = 0;
    for (int member = 0; member < 7; ++member) {
        const Eigen::MatrixXd matrix = observed_precision_matrix(plan, std::vector<int>{member});
        std::vector<int> outside = everybody(7);
        std::erase(outside, member);
        for (std::size_t i = 0; i < 6; ++i)
            for (std::size_t j = 0; j < i; ++j) {
                const auto a = static_cast<Eigen::Index>(i), b = static_cast<Eigen::Index>(j);
                const double su = reach(outside[i]), sv = reach(outside[j]);
                largest = std::max(largest,
                                   matrix(a, a) * su * su + matrix(b, b) * sv * sv +
                                       2 * std::abs(matrix(a, b)) * su * sv);
            }
    }
    EXPECT_NEAR(worst.upper, largest, 1e-9 * largest);
    ASSERT_EQ(worst.coalition.size(), 1u);
    EXPECT_FALSE(std::ranges::binary_search(worst.agents, worst.coalition[0]));
    const WorstPerson single = worst_person(plan, 1, {1, reach, {}});
    EXPECT_NEAR(single.upper,
                coalition_precision(plan, 1).cwiseProduct(reach.cwiseAbs2()).maxCoeff(),
                1e-9 * single.upper);
}

/// With one colluder there is no set of all agents, but an outsider sees that set too.
TEST(WorstPerson, AtAllAgentsIsLookedForAgainstSmallerCoalitions) {
    const int n = 5;
    const NoisePlan plan = test::random_plan(graph_of(n, 0.7, 3), 8);
    const PersonQuery everywhere{n, VectorXd::Ones(n), {}};
    const std::vector<std::vector<int>> outsider{{}};
    const WorstPerson outside = worst_person(plan, outsider, everywhere);
    const WorstPerson worst = worst_person(plan, 1, everywhere);
    EXPECT_GE(worst.upper, outside.upper);
    const PersonQuery fewer{n - 1, VectorXd::Ones(n), {}};
    EXPECT_GE(worst.upper, worst_person(plan, 1, fewer).upper);
    EXPECT_GE(worst_person(plan, 2, fewer).upper, worst_person(plan, 1, fewer).upper);
    EXPECT_EQ(outside.agents.size(), static_cast<std::size_t>(n));
}

TEST(WorstPerson, OfPrivateNoiseAddsUpSquares) {
    const NoisePlan plan = test::private_plan({1, 2, 1, 1});
    const WorstPerson worst = worst_person(plan, 2, {2, Eigen::VectorXd::Ones(4), {}});
    EXPECT_NEAR(worst.upper, 2, 1e-11);
}

TEST(WorstPerson, OfALargePlanIsBoundedBySumsOfSingleAgents) {
    const int n = 2100;  // above most_dense_agents
    NoisePlan plan = test::private_plan(std::vector<double>(n, 1));
    Eigen::VectorXd reach = Eigen::VectorXd::Ones(n);
    reach(17) = 3;
    const WorstPerson worst = worst_person(plan, 0, {2, reach, {}});
    EXPECT_FALSE(worst.exhaustive);
    EXPECT_NEAR(worst.upper, 16, 1e-9);  // (3 + 1)^2, where independent noise has 10
    EXPECT_NEAR(worst.reached, 9, 1e-9);
    EXPECT_TRUE(std::ranges::binary_search(worst.agents, 17));
}

Exposure exposure(double sensitivity, double rounds, double probability = 1) {
    Exposure one;
    one.sensitivity = sensitivity;
    one.sensitivity_squared_over_rounds = rounds;
    one.sampling_probability = probability;
    return one;
}

TEST(JointProbability, IsThatOfAtLeastOneOfTheAgentsSampledMostOften) {
    const std::vector<Exposure> exposures{
        exposure(1, 9, 0.1), exposure(1, 9, 0.3), exposure(1, 9, 0.2)};
    EXPECT_DOUBLE_EQ(joint_probability(exposures, 1), 0.3);
    EXPECT_NEAR(joint_probability(exposures, 2), 1 - 0.7 * 0.8, 1e-12);
    EXPECT_GE(joint_probability(exposures, 2), 1 - 0.7 * 0.8);
    EXPECT_NEAR(joint_probability(exposures, 3), 1 - 0.7 * 0.8 * 0.9, 1e-12);
    EXPECT_EQ(joint_probability({{exposure(1, 9)}}, 1), 1);
}

TEST(LossOfPerson, OfOneAgentIsThatOfTheAgent) {
    const NoisePlan plan = test::private_plan({2, 2});
    for (const double probability : {1.0, 0.05}) {
        const std::vector<Exposure> exposures(2, exposure(0.5, 40, probability));
        const WorstPerson worst = worst_person(plan, 0, {1, reach_of(exposures), {}});
        const Guarantee person = guarantee_of_person(plan, exposures, 1, worst.upper, 1e-5);
        const Guarantee single = guarantees(plan, {}, exposures, 1e-5)[0];
        EXPECT_NEAR(person.epsilon, single.epsilon, 1e-9 * single.epsilon);
    }
}

/// P(X > x) for a standard normal X.
double upper_tail(double x) { return std::erfc(x / std::sqrt(2.0)) / 2; }

TEST(LossOfPerson, OfSampledRoundsCoversAgentsThatSampleApart) {
    // One round, two agents whose noise is independent: the observer sees (x, y), each shifted by 1
    // with probability q. Of the region x + y > t the difference at epsilon is at most
    // delta(epsilon).
    const NoisePlan plan = test::private_plan({1, 1});
    const double q = 0.3;
    const std::vector<Exposure> exposures(2, exposure(1, 1, q));
    const WorstPerson worst = worst_person(plan, 0, {2, reach_of(exposures), {}});
    EXPECT_NEAR(worst.upper, 2, 1e-9);
    const PrivacyLoss loss = loss_of_person(plan, exposures, 2, worst.upper);
    double most = 0;
    for (double epsilon = 0; epsilon < 2; epsilon += 0.25) {
        const double delta = loss.delta(epsilon).upper;
        for (double t = -4; t < 6; t += 0.05) {
            const auto beyond = [&](double shift) {
                return upper_tail((t - shift) / std::sqrt(2.0));
            };
            const double sampled =
                (1 - q) * (1 - q) * beyond(0) + 2 * q * (1 - q) * beyond(1) + q * q * beyond(2);
            EXPECT_LE(sampled - std::exp(epsilon) * beyond(0), delta + 1e-12);
            EXPECT_LE((1 - beyond(0)) - std::exp(epsilon) * (1 - sampled), delta + 1e-12);
            most = std::max(most, (sampled - std::exp(epsilon) * beyond(0)) / delta);
        }
    }
    EXPECT_GT(most, 0.5);  // the bound is not empty
}

std::vector<PrivacyBudget> budgets_of(std::size_t agents, double epsilon) {
    return std::vector<PrivacyBudget>(agents, make_budget(epsilon, 1e-5, Calibration::exact));
}

TEST(ShareOfPersons, MakesTheNoiseWithWhichTheBudgetHolds) {
    const std::vector<Exposure> exposures(5, exposure(1, 20));
    const std::vector<PrivacyBudget> budgets = budgets_of(5, 2);
    NoisePlan plan = test::random_plan(ring_of(5), 4);
    const double share = share_of_persons(plan, exposures, budgets, 1, 3).upper;
    plan.scale *= std::sqrt(share);
    const WorstPerson worst = worst_person(plan, 1, {3, reach_of(exposures), {}});
    EXPECT_NEAR(guarantee_of_person(plan, exposures, 3, worst.upper, 1e-5).epsilon, 2, 1e-6);
    const std::vector<int> local{1, 4};
    EXPECT_NO_THROW(verify_persons_protected(plan, local, exposures, budgets, 1, 3));
    plan.scale *= 0.5;
    EXPECT_TRUE(test::contains(test::message_of<PrivacyError>([&] {
                                   verify_persons_protected(plan, local, exposures, budgets, 1, 3);
                               }),
                               "--unit-agents 3"));
}

TEST(ShareOfPersons, OfSampledRoundsCountsTheJointProbability) {
    std::vector<PrivacyBudget> budgets;
    const std::vector<Exposure> exposures(4, exposure(1, 50, 0.1));
    for (int u = 0; u < 4; ++u)
        budgets.push_back(sampled_budget(make_budget(1, 1e-5, Calibration::exact), 0.1, 50));
    NoisePlan plan = test::private_plan({1, 1, 1, 1});
    const double share = share_of_persons(plan, exposures, budgets, 0, 2).upper;
    plan.scale *= std::sqrt(share);
    const WorstPerson worst = worst_person(plan, 0, {2, reach_of(exposures), {}});
    const double epsilon = guarantee_of_person(plan, exposures, 2, worst.upper, 1e-5).epsilon;
    EXPECT_LE(epsilon, 1 + 1e-9);
    EXPECT_GT(epsilon, 0.99);
}

TEST(ShareOfPersons, OfAgentsOfWhichOneUsesAllItsRecordsCountsEveryRound) {
    std::vector<PrivacyBudget> budgets;
    std::vector<Exposure> exposures;
    for (const double probability : {1.0, 0.6, 0.7}) {
        exposures.push_back(exposure(1, 50, probability));
        budgets.push_back(
            sampled_budget(make_budget(4, 1e-5, Calibration::exact), probability, 50));
    }
    NoisePlan plan = test::private_plan({1, 1, 1});
    plan.scale *= std::sqrt(share_of_persons(plan, exposures, budgets, 0, 2).upper);
    const WorstPerson worst = worst_person(plan, 0, {2, reach_of(exposures), {}});
    const Guarantee reached = guarantee_of_person(plan, exposures, 2, worst.upper, 1e-5);
    EXPECT_NEAR(reached.epsilon, 4, 1e-4);
    EXPECT_TRUE(reached.loss.mu().has_value());
}

TEST(ShareOfPersons, LooksOnlyAtPersonsOfOnesOwnAgents) {
    const std::vector<Exposure> exposures(3, exposure(1, 1));
    const NoisePlan plan = test::private_plan({4, 4, 0.01});
    std::vector<PrivacyBudget> budgets = budgets_of(3, 1);
    budgets[2] = make_budget(1000, 1e-5, Calibration::exact);
    const std::vector<int> first{0};
    // A person at agents 0 and 2 has the budget of agent 0, which agent 2 does not keep.
    EXPECT_THROW(verify_persons_protected(plan, first, exposures, budgets, 0, 2), PrivacyError);
    EXPECT_NO_THROW(verify_persons_protected(
        test::private_plan({40, 40, 40}), first, exposures, budgets, 0, 2));
}

TEST(PossiblePersons, AreRefusedWhereNothingIsProved) {
    const auto gaussian = StreamDistribution::gaussian;
    EXPECT_NO_THROW(require_possible_persons("--unit-agents", 2, 2, gaussian, {}));
    EXPECT_NO_THROW(
        require_possible_persons("--unit-agents", 2, 9, gaussian, {.cycle = 1, .poisson = true}));
    EXPECT_NO_THROW(require_possible_persons("--unit-agents", 2, 9, gaussian, {.cycle = 4}));
    EXPECT_TRUE(test::contains(test::message_of<ConfigError>([&] {
                                   require_possible_persons("--unit-agents", 3, 2, gaussian, {});
                               }),
                               "--unit-agents: 3 is not possible with 2 agents (allowed: 1 to 2)"));
    EXPECT_TRUE(
        test::contains(test::message_of<ConfigError>([&] {
                           require_possible_persons(
                               "--unit-agents", 2, 9, gaussian, {.cycle = 4, .poisson = true});
                       }),
                       "cyclic-poisson:4"));
    EXPECT_TRUE(test::contains(test::message_of<ConfigError>([&] {
                                   require_possible_persons(
                                       "--unit-agents",
                                       2,
                                       9,
                                       gaussian,
                                       {.cycle = 1, .poisson = false, .rounds_an_epoch = 5});
                               }),
                               "allocation:5"));
    EXPECT_TRUE(test::contains(test::message_of<ConfigError>([&] {
                                   require_possible_persons(
                                       "--unit-agents", 2, 9, StreamDistribution::laplace, {});
                               }),
                               "Laplace"));
    EXPECT_NO_THROW(require_possible_persons(
        "--unit-agents", 1, 1, StreamDistribution::laplace, {.cycle = 4, .poisson = true}));
}

}  // namespace
}  // namespace sotto
