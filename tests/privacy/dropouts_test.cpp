#include "privacy/dropouts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/test_support.hpp"
#include "privacy/privacy_fixtures.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

using namespace test;

bool is_among(const std::vector<int>& agents, int agent) {
    return std::ranges::find(agents, agent) != agents.end();
}

/// diag of the inverse of what is left of cov(v_seen) given the published streams (Schur).
VectorXd precision_given(const NoisePlan& plan,
                         const std::vector<int>& seen,
                         const std::vector<int>& published) {
    const MatrixXd factor = plan.scale * plan.coefficient_matrix();
    const MatrixXd shown = factor(seen, Eigen::all);
    const MatrixXd with_published = shown(Eigen::all, published);
    const MatrixXd left = shown * shown.transpose() - with_published * with_published.transpose();
    const VectorXd inverse = left.inverse().diagonal();
    VectorXd precision = VectorXd::Zero(plan.agents);
    for (std::size_t i = 0; i < seen.size(); ++i)
        precision(seen[i]) = inverse(static_cast<Eigen::Index>(i));
    return precision;
}

/// Streams of groups with a missing agent, and, if asked, with one that is there too.
std::vector<int> streams_of(const NoisePlan& plan,
                            const std::vector<int>& missing,
                            bool shared_only) {
    std::vector<int> result;
    for (std::size_t k = 0; k < plan.streams.size(); ++k) {
        const auto& members = plan.groups[static_cast<std::size_t>(plan.streams[k].group)].members;
        const auto lost =
            std::ranges::count_if(members, [&](int member) { return is_among(missing, member); });
        if (lost > 0 && (!shared_only || lost < std::ssize(members)))
            result.push_back(static_cast<int>(k));
    }
    return result;
}

std::vector<int> all_but(int agents, const std::vector<int>& missing) {
    std::vector<int> result;
    for (int u = 0; u < agents; ++u)
        if (!is_among(missing, u)) result.push_back(u);
    return result;
}

TEST(DropoutPrecision, IsWhatTheGaussianOfThoseWhoAreThereSays) {
    for (const Graph& graph : sample_graphs({5, 7})) {
        const NoisePlan plan = random_plan(graph, 3);
        const std::vector<int> missing{1, 4}, there = all_but(plan.agents, missing);
        const DropoutPrecision precision = dropout_precision(plan, {}, missing);
        const VectorXd nobody_missing = observed_precision(plan, {});
        const VectorXd silent = precision_given(plan, there, {});
        const VectorXd revealed = precision_given(plan, there, streams_of(plan, missing, false));
        const VectorXd late =
            precision_given(plan, all_but(plan.agents, {}), streams_of(plan, missing, true));
        for (const int u : there) {
            EXPECT_NEAR(precision.silent(u), silent(u), 1e-9 * silent(u));
            EXPECT_LE(precision.silent(u), nobody_missing(u) * (1 + 1e-12));
            EXPECT_NEAR(precision.revealed(u), revealed(u), 1e-9 * revealed(u));
            EXPECT_GE(precision.revealed(u), precision.silent(u) * (1 - 1e-12));
            EXPECT_EQ(precision.late(u), 0);
        }
        for (const int u : missing) {
            EXPECT_EQ(precision.silent(u), 0);
            EXPECT_EQ(precision.revealed(u), 0);
            EXPECT_NEAR(precision.late(u), late(u), 1e-9 * late(u));
        }
    }
}

TEST(DropoutPrecision, OfRevealedStreamsIsThatOfACoalitionOfTheMissing) {
    const NoisePlan plan = random_plan(make_graph(Topology::erdos_renyi, 8), 5);
    const VectorXd revealed = dropout_precision(plan, {{2}}, {0, 5}).revealed;
    const VectorXd coalition = observed_precision(plan, {{0, 2, 5}});
    for (const int u : {1, 3, 4, 6, 7}) EXPECT_EQ(revealed(u), coalition(u));
}

TEST(DropoutPrecision, IsWorstOverAllSetsOfMissingAgents) {
    const NoisePlan plan = random_plan(make_graph(Topology::ring, 6), 7);
    for (const int dropouts : {1, 2, 3}) {
        const DropoutPrecision worst = worst_dropout_precision(plan, Observer{{0}}, dropouts);
        DropoutPrecision largest = dropout_precision(plan, {{0}}, {});
        for (int size = 1; size <= dropouts; ++size)
            for_each_coalition(5, size, [&](std::vector<int> missing) {
                for (int& agent : missing) ++agent;
                const DropoutPrecision one = dropout_precision(plan, {{0}}, missing);
                largest.silent = largest.silent.cwiseMax(one.silent);
                largest.revealed = largest.revealed.cwiseMax(one.revealed);
                largest.late = largest.late.cwiseMax(one.late);
            });
        for (int u = 1; u < 6; ++u) {
            EXPECT_NEAR(worst.silent(u), largest.silent(u), 1e-9 * largest.silent(u));
            EXPECT_NEAR(worst.revealed(u), largest.revealed(u), 1e-9 * largest.revealed(u));
            EXPECT_NEAR(worst.late(u), largest.late(u), 1e-9 * largest.late(u));
        }
    }
}

TEST(DropoutPrecision, OfAnyCoalitionIsTheLargestOverThem) {
    const NoisePlan plan = random_plan(make_graph(Topology::path, 5), 2);
    const DropoutPrecision any = worst_dropout_precision(plan, 1, 2);
    VectorXd revealed = VectorXd::Zero(5);
    for (int member = 0; member < 5; ++member) {
        VectorXd of_one = worst_dropout_precision(plan, Observer{{member}}, 2).revealed;
        of_one(member) = 0;
        revealed = revealed.cwiseMax(of_one);
    }
    EXPECT_LT((any.revealed - revealed).norm(), 1e-9 * revealed.norm());
}

TEST(DropoutPrecision, CostsIndependentNoiseNothingAndASharedSeedAll) {
    const NoisePlan independent = private_plan({1, 2, 0.5, 1});
    const DropoutPrecision same = worst_dropout_precision(independent, Observer{}, 2);
    EXPECT_LT((same.revealed - observed_precision(independent, {})).norm(), 1e-12);
    EXPECT_LT((same.late - observed_precision(independent, {})).norm(), 1e-12);
    const DropoutPrecision all = worst_dropout_precision(shared_seed_plan(4), Observer{}, 1);
    EXPECT_TRUE(all.silent.allFinite());
    EXPECT_EQ(all.revealed.minCoeff(), infinity);
    EXPECT_EQ(all.late.minCoeff(), infinity);
}

TEST(DropoutPrecision, RefusesWhatItDoesNotCover) {
    NoisePlan plan = private_plan({1, 1, 1});
    EXPECT_TRUE(contains(
        message_of<ConfigError>([&] { (void)worst_dropout_precision(plan, Observer{{0}}, 2); }),
        "dropouts: 2 of 2 agents"));
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)dropout_precision(plan, {}, {3}); }),
                         "agent 3 does not exist"));
    plan.entry = NoiseEntry::message;
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)dropout_precision(plan, {}, {0}); }),
                         "noise on gradients"));
}

using namespace test;

/// Agents 0 and 1 share a stream; all three have one of their own.
NoisePlan small_plan() {
    NoisePlan plan = blank_plan(3, 2);
    add_stream(plan, {0}, {1.0});
    add_stream(plan, {1}, {3.0});
    add_stream(plan, {2}, {0.5});
    add_stream(plan, {0, 1}, {1.0, -1.0});
    return plan;
}

TEST(UnknownStreams, AreThoseOfWhichNoMemberHoldsTheSeed) {
    const NoisePlan plan = small_plan();
    EXPECT_EQ(unknown_streams(plan, {}), (std::vector<bool>{true, true, true, true}));
    EXPECT_EQ(unknown_streams(plan, std::vector<int>{0}),
              (std::vector<bool>{false, true, true, false}));
    EXPECT_EQ(unknown_streams(plan, std::vector<int>{1, 2}),
              (std::vector<bool>{true, false, false, false}));
}

TEST(UnknownCoefficients, LeaveOutMembersAndTheirStreams) {
    const NoisePlan plan = small_plan();
    Eigen::MatrixXd expected(3, 4);
    expected << 2, 0, 0, 2, 0, 6, 0, -2, 0, 0, 1, 0;
    EXPECT_EQ(Eigen::MatrixXd(unknown_coefficients(plan, {})), expected);
    expected.col(0).setZero();
    expected.col(3).setZero();
    EXPECT_EQ(Eigen::MatrixXd(unknown_coefficients(plan, std::vector<int>{0})), expected);
}

TEST(OuterProduct, IsTheSameOfFewAndOfManyCoefficients) {
    SeededRandom random(3, "outer product");
    for (const double share : {0.01, 0.5}) {
        Eigen::MatrixXd dense = Eigen::MatrixXd::NullaryExpr(
            30, 40, [&] { return random.uniform() < share ? random.normal() : 0.0; });
        EXPECT_TRUE(outer_product(dense.sparseView()).isApprox(dense * dense.transpose(), 1e-14));
    }
}

TEST(UnknownPrecision, IsThatOfWhatTheCoalitionLeaves) {
    const NoisePlan plan = small_plan();
    // Between agents 0 and 1 the covariance is [[8, -4], [-4, 40]].
    const Eigen::VectorXd outside = unknown_precision(plan, {});
    EXPECT_TRUE(relatively_near(outside(0), 40.0 / 304, 1e-14));
    EXPECT_TRUE(relatively_near(outside(1), 8.0 / 304, 1e-14));
    EXPECT_DOUBLE_EQ(outside(2), 1);
    const Eigen::VectorXd against_zero = unknown_precision(plan, std::vector<int>{0});
    EXPECT_EQ(against_zero(0), infinity);
    EXPECT_DOUBLE_EQ(against_zero(1), 1.0 / 36);
}

}  // namespace
}  // namespace sotto
