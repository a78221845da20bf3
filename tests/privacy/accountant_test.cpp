#include "sotto/privacy/accountant.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>

#include "core/test_support.hpp"
#include "privacy/dropouts.hpp"
#include "privacy/privacy_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {
namespace {

using namespace test;

constexpr std::uint64_t seed = 8;

bool in(const std::vector<int>& set, int value) {
    return std::find(set.begin(), set.end(), value) != set.end();
}

/// R^(I) by its definition, with nothing but loops.
Eigen::MatrixXd brute_force_unknown(const NoisePlan& plan, const Observer& observer) {
    Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(plan.agents, plan.agents);
    const Eigen::MatrixXd coefficients = plan.coefficient_matrix();
    for (std::size_t k = 0; k < plan.streams.size(); ++k) {
        const int group = plan.streams[k].group;
        bool known = false;
        for (const int holder : plan.groups[static_cast<std::size_t>(group)].members)
            known = known || in(observer.coalition, holder);
        if (known) continue;
        for (int u = 0; u < plan.agents; ++u)
            for (int v = 0; v < plan.agents; ++v)
                if (!in(observer.coalition, u) && !in(observer.coalition, v))
                    covariance(u, v) += plan.scale * plan.scale *
                                        coefficients(u, static_cast<Eigen::Index>(k)) *
                                        coefficients(v, static_cast<Eigen::Index>(k));
    }
    return covariance;
}

/// Its rows and columns of the coalition are zero: its own noise is known to it.
Eigen::MatrixXd unknown_covariance(const NoisePlan& plan, const Observer& observer) {
    return outer_product(unknown_coefficients(plan, observer.coalition));
}

std::vector<Observer> sample_observers(const NoisePlan& plan) {
    const int last = plan.agents - 1;
    return {{}, {{0}}, {{last}}, {{0, last}}, {{1, 2}}, {{0, 1, last}}};
}

TEST(SpatialCovariance, OfAHandMadePlanIsWhatItSays) {
    // v0 = 2 (a + c), v1 = 2 (3 b - c), v2 = 2 * 0.5 d.
    NoisePlan plan = blank_plan(3, 2);
    add_stream(plan, {0}, {1.0});
    add_stream(plan, {1}, {3.0});
    add_stream(plan, {0, 1}, {1.0, -1.0});
    add_stream(plan, {2}, {0.5});
    Eigen::MatrixXd expected(3, 3);
    expected << 8, -4, 0, -4, 40, 0, 0, 0, 1;
    EXPECT_TRUE(spatial_covariance(plan).isApprox(expected, 1e-15));
    EXPECT_TRUE(unknown_covariance(plan, {}).isApprox(expected, 1e-15));

    // Agent 0 knows its own noise and the shared stream; 3 b is left of agent 1.
    Eigen::MatrixXd against_zero = Eigen::MatrixXd::Zero(3, 3);
    against_zero(1, 1) = 36;
    against_zero(2, 2) = 1;
    EXPECT_TRUE(unknown_covariance(plan, {{0}}).isApprox(against_zero, 1e-15));
    // Agent 2 holds no seed of the others.
    expected(2, 2) = 0;
    EXPECT_TRUE(unknown_covariance(plan, {{2}}).isApprox(expected, 1e-15));
    const Eigen::VectorXd precision = observed_precision(plan, {{0}});
    EXPECT_EQ(precision(0), infinity);
    EXPECT_DOUBLE_EQ(precision(1), 1.0 / 36);
    EXPECT_DOUBLE_EQ(precision(2), 1.0);
}

TEST(UnknownCovariance, IsItsDefinitionForEveryGraphAndObserver) {
    for (const Graph& graph : sample_graphs({4, 9})) {
        const NoisePlan plan = random_plan(graph, seed);
        EXPECT_TRUE(spatial_covariance(plan).isApprox(brute_force_unknown(plan, {}), 1e-13));
        for (const Observer& observer : sample_observers(plan))
            EXPECT_LE((unknown_covariance(plan, observer) - brute_force_unknown(plan, observer))
                          .cwiseAbs()
                          .maxCoeff(),
                      1e-13);
    }
}

TEST(ObservedPrecision, IsTheDiagonalOfTheInverseForEveryGraphAndObserver) {
    for (const Graph& graph : sample_graphs({4, 9, 16})) {
        const NoisePlan plan = random_plan(graph, seed);
        for (const Observer& observer : sample_observers(plan)) {
            std::vector<Eigen::Index> outside;
            for (int u = 0; u < plan.agents; ++u)
                if (!in(observer.coalition, u)) outside.push_back(u);
            const Eigen::MatrixXd unknown = brute_force_unknown(plan, observer)(outside, outside);
            const Eigen::VectorXd expected =
                Eigen::FullPivLU<Eigen::MatrixXd>(unknown).inverse().diagonal();
            const Eigen::VectorXd precision = observed_precision(plan, observer);
            for (std::size_t i = 0; i < outside.size(); ++i)
                EXPECT_TRUE(relatively_near(
                    precision(outside[i]), expected(static_cast<Eigen::Index>(i)), 1e-9))
                    << "seed " << seed;
            for (const int member : observer.coalition) EXPECT_EQ(precision(member), infinity);
        }
    }
}

TEST(ObservedPrecision, IsInfiniteForEveryoneWhenTheObserverHoldsTheSeedAllShare) {
    for (const int agents : {2, 5, 12}) {
        const NoisePlan plan = shared_seed_plan(agents);
        EXPECT_TRUE(observed_precision(plan, {}).allFinite());
        for (int observer = 0; observer < agents; ++observer) {
            const Eigen::VectorXd precision = observed_precision(plan, {{observer}});
            EXPECT_TRUE((precision.array() == infinity).all()) << "agent " << observer;
        }
    }
}

TEST(ObservedPrecision, IsInfiniteForEveryoneWhenAllNoiseCancelsInTheSum) {
    // R is the Laplacian: not zero, but the sum of all messages is free of noise. A pseudo-inverse
    // would report a finite figure.
    for (const Graph& graph : sample_graphs({3, 8}))
        EXPECT_TRUE((observed_precision(pair_plan(graph), {}).array() == infinity).all());
}

TEST(ObservedPrecision, IsInfiniteExactlyForTheAgentsThatTheNoiseDoesNotCover) {
    // 0 and 1 share one stream only; 2 and 3 have their own.
    NoisePlan plan = blank_plan(4);
    add_stream(plan, {0, 1}, {1.0, -1.0});
    add_stream(plan, {2}, {2.0});
    add_stream(plan, {3}, {0.5});
    const Eigen::VectorXd precision = observed_precision(plan, {});
    EXPECT_EQ(precision(0), infinity);
    EXPECT_EQ(precision(1), infinity);
    EXPECT_DOUBLE_EQ(precision(2), 0.25);
    EXPECT_DOUBLE_EQ(precision(3), 4.0);
    // One agent without any noise.
    EXPECT_EQ(observed_precision(private_plan({1, 1e-13, 1}), {})(1), infinity);
    EXPECT_DOUBLE_EQ(observed_precision(private_plan({1, 1e-13, 1}), {})(0), 1.0);
}

TEST(ObservedPrecision, OfAPlanWithoutNoiseIsInfinite) {
    NoisePlan plan;
    plan.mechanism = "none";
    plan.agents = 3;
    EXPECT_TRUE((observed_precision(plan, {}).array() == infinity).all());
}

TEST(ObservedPrecision, IsInfiniteForThoseWhoseNoiseACoalitionKnowsOrSeesCancel) {
    // Ring 0-1-2-3-4-5 with pair noise, private noise for 2 and 3 only. Agents 1 and 4 collude: 0
    // and 5 keep one stream that cancels in their sum; 2 and 3 are covered.
    NoisePlan plan = pair_plan(make_graph(Topology::ring, 6));
    add_stream(plan, {2}, {1.0});
    add_stream(plan, {3}, {1.0});
    const Eigen::VectorXd precision = observed_precision(plan, {{1, 4}});
    for (const int u : {0, 1, 4, 5}) EXPECT_EQ(precision(u), infinity) << u;
    // R over (2, 3) is [[2, -1], [-1, 2]].
    for (const int u : {2, 3}) EXPECT_DOUBLE_EQ(precision(u), 2.0 / 3) << u;
}

/// Private noise and pair noise along a ring with chords, or shared by larger groups.
NoisePlan plan_of_many(int agents, int group_size, double private_std) {
    NoisePlan plan = blank_plan(agents, 1.5);
    for (int u = 0; u < agents; ++u) add_stream(plan, {u}, {private_std + 0.01 * u});
    for (int u = 0; u < agents; ++u)
        for (const int step : {1, 5}) {
            std::vector<int> members;
            for (int i = 0; i < group_size; ++i) members.push_back((u + i * step) % agents);
            std::ranges::sort(members);
            std::vector<double> coefficients;
            for (const int member : members)
                coefficients.push_back(member == u ? group_size - 1.0 : -1.0);
            add_stream(plan, members, coefficients);
        }
    return plan;
}

TEST(ObservedPrecisions, AreThoseOfEveryObserverAlone) {
    for (const int group_size : {2, 4})
        for (const double private_std : {1.0, 0.02}) {
            const NoisePlan plan = plan_of_many(70, group_size, private_std);
            const ObservedPrecisions precisions(plan);
            for (const Observer& observer : sample_observers(plan)) {
                const Eigen::VectorXd alone = observed_precision(plan, observer);
                const Eigen::VectorXd found = precisions.of(observer);
                for (int u = 0; u < plan.agents; ++u) {
                    if (in(observer.coalition, u))
                        EXPECT_EQ(found(u), infinity);
                    else
                        EXPECT_NEAR(found(u), alone(u), 1e-8 * alone(u)) << u;
                }
            }
            Eigen::VectorXd largest = Eigen::VectorXd::Zero(plan.agents);
            for (int i = 0; i < plan.agents; ++i) {
                Eigen::VectorXd seen = observed_precision(plan, {{i}});
                seen(i) = 0;
                largest = largest.cwiseMax(seen);
            }
            EXPECT_LT((coalition_precision(plan, 1) - largest).cwiseQuotient(largest).norm(), 1e-7);
        }
}

TEST(ObservedPrecisions, SeeWhereACoalitionLeavesNothing) {
    // Agent 0 has no noise of its own, and all that it shares is known to 1 and 69, or to 5 and 65.
    NoisePlan plan = plan_of_many(70, 2, 1);
    plan.rows[0].coefficients[0] = 0;
    const ObservedPrecisions precisions(plan);
    const Observer all{{1, 5, 65, 69}};
    EXPECT_EQ(precisions.of(all)(0), infinity);
    EXPECT_EQ(observed_precision(plan, all)(0), infinity);
    EXPECT_TRUE(std::isfinite(precisions.of({{1, 5, 65}})(0)));
    EXPECT_THROW((void)precisions.of({{70}}), ConfigError);
}

TEST(ObservedPrecision, NeverFallsWhenMoreAgentsCollude) {
    for (const Graph& graph : sample_graphs({5, 10})) {
        const NoisePlan plan = random_plan(graph, seed);
        Eigen::VectorXd before = observed_precision(plan, {});
        std::vector<int> coalition;
        for (const int member : {1, 2, 4}) {
            coalition.push_back(member);
            const Eigen::VectorXd now = observed_precision(plan, {coalition});
            for (int u = 0; u < plan.agents; ++u)
                EXPECT_GE(now(u), before(u) * (1 - 1e-12)) << "agent " << u << ", seed " << seed;
            before = now;
        }
    }
}

TEST(ObservedPrecision, WithATrustedMeanIsThatOfTheSumOfAllNoise) {
    NoisePlan plan = blank_plan(4, 3);
    plan.aggregation = Aggregation::trusted_mean;
    add_stream(plan, {0}, {2.0});
    for (int u = 0; u < 4; ++u) EXPECT_DOUBLE_EQ(observed_precision(plan, {})(u), 1.0 / 36);
    const Eigen::VectorXd against_two = observed_precision(plan, {{2}});
    EXPECT_EQ(against_two(2), infinity);
    EXPECT_DOUBLE_EQ(against_two(1), 1.0 / 36);
    // The aggregator, or whoever has its seed, sees through the mean.
    EXPECT_TRUE((observed_precision(plan, {{0}}).array() == infinity).all());
    for (const Graph& graph : sample_graphs({6})) {
        NoisePlan random = random_plan(graph, seed);
        random.aggregation = Aggregation::trusted_mean;
        EXPECT_TRUE(relatively_near(
            observed_precision(random, {})(3), 1 / spatial_covariance(random).sum(), 1e-12));
    }
}

TEST(ObservedPrecision, RefusesPlansItCannotBound) {
    // Noise that several agents know, and that depends on the receiver or is Laplace.
    NoisePlan plan = shared_seed_plan(3);
    for (auto& stream : plan.streams) stream.distribution = StreamDistribution::laplace;
    EXPECT_TRUE(contains(message_of<PrivacyError>([&] { (void)observed_precision(plan, {}); }),
                         "shared by agents"));
    plan = shared_seed_plan(3);
    plan.rows[0].receiver = 1;
    EXPECT_TRUE(contains(message_of<PrivacyError>([&] { (void)observed_precision(plan, {}); }),
                         "receiver"));
    // Two Laplace variables in one message.
    plan = private_plan({1, 1});
    add_stream(plan, {0}, {1});
    for (auto& stream : plan.streams) stream.distribution = StreamDistribution::laplace;
    EXPECT_TRUE(contains(message_of<PrivacyError>([&] { (void)observed_precision(plan, {}); }),
                         "not one stream"));
}

TEST(ObservedPrecision, IsThatOfOneRoundWhateverTheTemporalFactor) {
    NoisePlan plan = private_plan({1, 2, 4});
    const Eigen::VectorXd independent = observed_precision(plan, {});
    plan.temporal = {TemporalFactor::Kind::dense, Eigen::MatrixXd::Identity(4, 4)};
    plan.temporal.lower(3, 1) = -0.5;
    EXPECT_EQ(observed_precision(plan, {}), independent);
}

TEST(ObservedPrecision, RefusesACoalitionOfAgentsThatDoNotExist) {
    for (const int member : {-1, 3})
        EXPECT_TRUE(contains(message_of<ConfigError>([&] {
                                 (void)observed_precision(private_plan({1, 1, 1}), {{member}});
                             }),
                             "coalition"));
}

TEST(Guarantees, AreSensitivityTimesTheRootOfRoundsTimesPrecision) {
    const NoisePlan plan = private_plan({1, 2, 4}, 0.5);
    const std::vector<Exposure> exposures{{0.2, 100, 1}, {0.3, 50, 1}, {0.1, 0, 1}};
    const auto found = guarantees(plan, {}, exposures, 1e-5);
    EXPECT_DOUBLE_EQ(found[0].loss.mu().value(), 0.2 * 10 / 0.5);
    EXPECT_DOUBLE_EQ(found[1].loss.mu().value(), 0.3 * std::sqrt(50.0) / 1.0);
    EXPECT_EQ(found[2].loss.mu(), 0.0);
    for (const auto& guarantee : found)
        EXPECT_DOUBLE_EQ(guarantee.epsilon, gdp_epsilon(guarantee.loss.mu().value(), 1e-5));
    const auto against_one = guarantees(plan, {{1}}, exposures, 1e-5);
    EXPECT_EQ(against_one[1].loss.mu(), infinity);
    EXPECT_EQ(against_one[1].epsilon, infinity);
}

TEST(WorstCuriousAgent, IsTheLargestOverAllPairs) {
    for (const Graph& graph : sample_graphs({3, 7})) {
        const NoisePlan plan = random_plan(graph, seed);
        std::vector<Exposure> exposures;
        for (int u = 0; u < plan.agents; ++u) exposures.push_back({0.1 + 0.01 * u, 10.0 + u, 1});
        const auto worst = worst_curious_agent(plan, exposures, 1e-5);
        ASSERT_TRUE(worst.has_value());
        double largest = 0;
        for (int observer = 0; observer < plan.agents; ++observer) {
            const auto against = guarantees(plan, {{observer}}, exposures, 1e-5);
            for (int target = 0; target < plan.agents; ++target) {
                if (target == observer) continue;
                const double mu = against[static_cast<std::size_t>(target)].loss.mu().value();
                largest = std::max(largest, mu);
                if (observer == worst->observer && target == worst->target) {
                    EXPECT_EQ(mu, worst->guarantee.loss.mu());
                }
            }
        }
        EXPECT_EQ(worst->guarantee.loss.mu(), largest) << "seed " << seed;
        EXPECT_DOUBLE_EQ(worst->guarantee.epsilon, gdp_epsilon(largest, 1e-5));
        EXPECT_NE(worst->observer, worst->target);
    }
}

TEST(WorstCuriousAgent, FindsAnUnprotectedTargetAndNeedsTwoAgents) {
    const std::vector<Exposure> exposures(4, Exposure{0.1, 10, 1});
    const auto worst = worst_curious_agent(shared_seed_plan(4), exposures, 1e-5);
    ASSERT_TRUE(worst.has_value());
    EXPECT_EQ(worst->guarantee.loss.mu(), infinity);
    EXPECT_EQ(worst->guarantee.epsilon, infinity);
    EXPECT_NE(worst->observer, worst->target);
    EXPECT_FALSE(
        worst_curious_agent(private_plan({1}), std::span(exposures).first(1), 1e-5).has_value());
}

}  // namespace
}  // namespace sotto
