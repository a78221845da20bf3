#include "views/gossip_bounds.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <algorithm>
#include <vector>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/graph/mixing_schedule.hpp"
#include "sotto/views/view_sensitivity.hpp"
#include "views/view_comparison.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

using namespace test;

/// |B^+ a|^2 from all of B: products of the mixing matrices, a singular value decomposition.
double dense_bound(GossipTheorem theorem,
                   const std::vector<MatrixXd>& mixing,
                   const std::vector<double>& steps,
                   const std::vector<int>& observers,
                   int target) {
    const bool sums = theorem == GossipTheorem::sums;
    const auto rounds = static_cast<Eigen::Index>(mixing.size());
    const Eigen::Index n = mixing[0].rows();
    MatrixXd b(0, rounds * n);
    VectorXd a(0);
    for (Eigen::Index t = 0; t < rounds; ++t) {
        const MatrixXd& now = mixing[static_cast<std::size_t>(t)];
        for (Eigen::Index seen = 0; seen < n; ++seen) {
            if (seen != target && !(sums && now(seen, target) != 0)) continue;
            MatrixXd row = MatrixXd::Zero(1, rounds * n);
            // What seen's model (its message) owes to round s: W_t ... W_s (W_(t-1) ... W_s).
            MatrixXd product = MatrixXd::Identity(n, n);
            if (sums) product = now;
            for (Eigen::Index s = t; s >= 0; --s) {
                row.middleCols(s * n, n) = steps[static_cast<std::size_t>(s)] * product.row(seen);
                if (s > 0) product *= mixing[static_cast<std::size_t>(s - 1)];
            }
            b.conservativeResize(b.rows() + 1, Eigen::NoChange);
            b.bottomRows(1) = row;
            a.conservativeResize(a.size() + 1);
            a(a.size() - 1) = 0;
            for (Eigen::Index s = 0; s < rounds; ++s) a(a.size() - 1) += row(0, s * n + target);
        }
    }
    for (const int observer : observers)
        for (Eigen::Index s = 0; s < rounds; ++s) b.col(s * n + observer).setZero();
    Eigen::JacobiSVD<MatrixXd> svd(b, Eigen::ComputeThinU | Eigen::ComputeThinV);
    svd.setThreshold(1e-9);
    return svd.solve(a).squaredNorm();
}

std::vector<MatrixXd> repeated(const MatrixXd& mixing, std::size_t rounds) {
    return std::vector<MatrixXd>(rounds, mixing);
}

TEST(GossipBound, IsTheSquaredLengthOfTheShortestNoiseThatLooksLikeTheContributions) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const Graph graph = make_graph(Topology::erdos_renyi, 7, seed);
        const MixingMatrix mixing = metropolis(graph);
        const NoisePlan plan = unit_plan(7);
        const MessageProcess process = process_of(graph, plan, {fixed_phase(mixing, 6)});
        for (const auto theorem : {GossipTheorem::sums, GossipTheorem::messages})
            for (const std::vector<int>& observers :
                 {std::vector<int>{}, std::vector<int>{2}, std::vector<int>{0, 5}})
                for (const int target : {1, 3}) {
                    const double dense = dense_bound(theorem,
                                                     repeated(mixing.dense(), 6),
                                                     std::vector<double>(6, 1.0),
                                                     observers,
                                                     target);
                    EXPECT_TRUE(relatively_near(
                        gossip_bound(theorem, process, observers, target), dense, 1e-8));
                }
    }
}

TEST(GossipBound, FollowsMixingAndStepsThatChange) {
    const Graph graph = make_graph(Topology::exponential, 8);
    const auto matrices = one_peer_schedule(graph);
    const NoisePlan plan = unit_plan(8);
    MessageProcess process = process_of(graph, plan, {{7, MixingSchedule(matrices), {}}});
    process.step_sizes = {1, 0.5, 2, 1, 0.25, 1, 3};
    std::vector<MatrixXd> mixing;
    for (std::size_t t = 0; t < 7; ++t) mixing.push_back(matrices[t % matrices.size()].dense());
    for (const auto theorem : {GossipTheorem::sums, GossipTheorem::messages})
        for (const int target : {0, 5}) {
            const std::vector<int> observers{3};
            EXPECT_TRUE(
                relatively_near(gossip_bound(theorem, process, observers, target),
                                dense_bound(theorem, mixing, process.step_sizes, observers, target),
                                1e-8));
        }
}

TEST(GossipBound, OfSumsOnACompleteGraphIsThatOfTheMean) {
    // All sums are the mean of n contributions, under noise of the n - 1 whom nobody observes.
    const Graph graph = make_graph(Topology::complete, 6);
    const NoisePlan plan = unit_plan(6);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::uniform);
    const MessageProcess process = process_of(graph, plan, {fixed_phase(mixing, 9)});
    const std::vector<int> nobody, one{4};
    EXPECT_NEAR(gossip_bound(GossipTheorem::sums, process, nobody, 0), 9.0 / 6, 1e-9);
    EXPECT_NEAR(gossip_bound(GossipTheorem::sums, process, one, 0), 9.0 / 5, 1e-9);
}

TEST(GossipBound, IsAtMostThatOfLocalPrivacyAndOfMessagesAllOfItInOneRound) {
    for (const Graph& graph : sample_graphs({5, 9})) {
        const NoisePlan plan = unit_plan(graph.agents());
        for (const long rounds : {1L, 12L}) {
            const MessageProcess process =
                process_of(graph, plan, {fixed_phase(metropolis(graph), rounds)});
            const std::vector<int> observers{1};
            for (const auto theorem : {GossipTheorem::sums, GossipTheorem::messages})
                EXPECT_LE(gossip_bound(theorem, process, observers, 0),
                          static_cast<double>(rounds) * (1 + 1e-9));
            if (rounds == 1) {
                EXPECT_NEAR(gossip_bound(GossipTheorem::messages, process, observers, 0), 1, 1e-12);
            }
        }
    }
}

TEST(GossipBound, OfSumsIsNeverBelowWhatOneNodeSeesOfContributionsFixedInAdvance) {
    // The node's own sums are among those of the target's neighbourhood, if it is a neighbour.
    const Graph graph = make_graph(Topology::erdos_renyi, 8, 3);
    const MixingMatrix mixing = metropolis(graph);
    const NoisePlan plan = unit_plan(8);
    const MessageProcess process = process_of(graph, plan, {fixed_phase(mixing, 5)});
    for (const int observer : {0, 4}) {
        const std::vector<int> observers{observer};
        const auto seen =
            view_sensitivity(process, {View::Kind::secure_sum, observers}, everybody(8), {}, {});
        for (const int target : graph.neighbours(observer))
            EXPECT_GE(gossip_bound(GossipTheorem::sums, process, observers, target) * (1 + 1e-9),
                      seen[static_cast<std::size_t>(target)].constant_sign);
    }
}

TEST(GossipBound, CountsWhatADepartedAgentSentBeforeItLeft) {
    const Graph graph = make_graph(Topology::ring, 6);
    const MixingMatrix mixing = metropolis(graph);
    const NoisePlan plan = unit_plan(6);
    const MixingMatrix without = mixing_without(graph, {0});
    const MessageProcess both =
        process_of(graph, plan, {fixed_phase(mixing, 4), fixed_phase(without, 5, {0})});
    const MessageProcess first = process_of(graph, plan, {fixed_phase(mixing, 4)});
    for (const auto theorem : {GossipTheorem::sums, GossipTheorem::messages}) {
        const std::vector<int> observers{3};
        EXPECT_EQ(gossip_bound(theorem, both, observers, 0),
                  gossip_bound(theorem, first, observers, 0));
        EXPECT_GT(gossip_bound(theorem, both, observers, 2),
                  gossip_bound(theorem, first, observers, 2));
    }
}

TEST(GossipBound, RefusesWhatTheTheoremsDoNotSpeakOf) {
    const Graph graph = make_graph(Topology::ring, 5);
    const NoisePlan plan = unit_plan(5);
    const MessageProcess plain = process_of(graph, plan, {fixed_phase(metropolis(graph), 4)});
    EXPECT_TRUE(has_gossip_bound(plain));
    MessageProcess momentum = plain, further = plain, steps = plain, again = plain,
                   corrected = plain;
    momentum.momentum = 0.5;
    corrected.correction = Correction::exact_diffusion;
    further.final_gossip = 1;
    steps.gossip = 2;
    again.phases.push_back(again.phases.front());
    again.phases.back().repeated = 1;
    const std::vector<int> observers{2};
    for (const MessageProcess& process : {momentum, further, steps, again, corrected}) {
        EXPECT_FALSE(has_gossip_bound(process));
        EXPECT_THROW((void)gossip_bound(GossipTheorem::sums, process, observers, 0), ConfigError);
    }
    const auto refusal = [&](const std::vector<int>& who, int target) {
        return message_of<ConfigError>(
            [&] { (void)gossip_bound(GossipTheorem::messages, plain, who, target); });
    };
    EXPECT_TRUE(contains(refusal({2}, 2), "target: agent 2 is an observer"));
    EXPECT_TRUE(contains(refusal({2}, 5), "target: agent 5"));
    EXPECT_TRUE(contains(refusal({-1}, 0), "observer: agent -1"));
}

TEST(GossipBoundWork, GrowsWithRoundsAndAgents) {
    const Graph small = make_graph(Topology::ring, 5), large = make_graph(Topology::ring, 50);
    const NoisePlan five = unit_plan(5), fifty = unit_plan(50);
    const auto work = [](const Graph& graph, const NoisePlan& plan, long rounds) {
        return gossip_bound_work(process_of(graph, plan, {fixed_phase(metropolis(graph), rounds)}));
    };
    EXPECT_DOUBLE_EQ(work(small, five, 20), 2 * work(small, five, 10));
    EXPECT_GT(work(large, fifty, 10), 50 * work(small, five, 10));
}

using namespace test;

TEST(MuffliatoBound, IsItsDefinitionAndNeverBelowTheExactFigure) {
    const Graph graph = make_graph(Topology::erdos_renyi, 9, 6);
    const MixingMatrix mixing = metropolis(graph);
    const NoisePlan plan = unit_plan(9);
    const long rounds = 6;
    const auto exact = view_sensitivity(process_of(graph, plan, {fixed_phase(mixing, rounds)}),
                                        {View::Kind::neighbours, {2}},
                                        everybody(9),
                                        {},
                                        {});
    const Eigen::VectorXd bound = muffliato_bound(graph, mixing, 2, rounds);
    for (int u = 0; u < 9; ++u) {
        double sum = 0;
        for (long s = 1; s <= rounds; ++s) {
            Eigen::MatrixXd power = Eigen::MatrixXd::Identity(9, 9);
            for (long k = 0; k <= rounds - s; ++k) {
                for (const int w : graph.neighbours(2))
                    sum += power(w, u) * power(w, u) / power.row(w).squaredNorm();
                power = power * mixing.dense();
            }
        }
        EXPECT_TRUE(relatively_near(bound(u), std::min(sum, 6.0), 1e-12));
        if (u != 2) {
            EXPECT_GE(bound(u) * (1 + 1e-9), exact[static_cast<std::size_t>(u)].certified());
        }
    }
}

}  // namespace
}  // namespace sotto
