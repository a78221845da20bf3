#include "sums/learnt_sums.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "core/seeded_random.hpp"
#include "sotto/graph/gossip.hpp"
#include "sums/secure_sum.hpp"
#include "sums/sum_graphs.hpp"
#include "trust/pair_fixtures.hpp"

namespace sotto {
namespace {

using test::complete_without;
using test::made_of;

constexpr int mask_partners_used = 16;

LearntSums learnt_by(const std::vector<int>& coalition,
                     const Graph& graph,
                     SumRules rules = {1, mask_partners_used},
                     MixingRule rule = MixingRule::metropolis) {
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, rule);
    return RoundSums(graph, mixing, rules).learnt_by(coalition);
}

/// What a receiver decodes of its neighbours' shares.
std::vector<double> sum_for(int receiver,
                            const Graph& graph,
                            const std::vector<SecureSum>& sums,
                            std::size_t dimension) {
    std::vector<std::uint64_t> total(dimension, 0);
    for (const int v : graph.neighbours(receiver)) {
        const auto around = graph.neighbours(v);
        const auto place = std::ranges::lower_bound(around, receiver) - around.begin();
        std::vector<std::uint64_t> words(dimension);
        sums[static_cast<std::size_t>(v)].share(static_cast<std::size_t>(place), 0, words);
        for (std::size_t i = 0; i < dimension; ++i) total[i] += words[i];
    }
    std::vector<double> decoded(dimension);
    SecureSum::decode(total, decoded);
    return decoded;
}

/// Five agents, all joined but 0 and 1: agents 0 and 2 subtract what real shares come to.
TEST(LearntSums, OfTwoWhoseNeighboursDifferByOneAreItsMessage) {
    constexpr std::size_t dimension = 1000;
    const Graph graph = complete_without(5, {{0, 1}});
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    auto secrets = test::pair_secrets(5);
    SeededRandom random(3, "test.learnt-sums");
    std::vector<std::vector<double>> messages(5, std::vector<double>(dimension));
    std::vector<SecureSum> sums;
    for (int v = 0; v < 5; ++v) {
        for (double& value : messages[static_cast<std::size_t>(v)]) value = random.normal();
        std::vector<double> weights;
        for (const int a : graph.neighbours(v)) weights.push_back(mixing.weight(a, v));
        sums.emplace_back(graph, secrets[static_cast<std::size_t>(v)], 0, mask_partners_used)
            .begin(0, 0, messages[static_cast<std::size_t>(v)], weights);
    }
    const auto of_0 = sum_for(0, graph, sums, dimension);  // of 2, 3, 4
    const auto of_2 = sum_for(2, graph, sums, dimension);  // of 0, 1, 3, 4
    double error = 0;
    for (std::size_t i = 0; i < dimension; ++i) {
        const double of_others = of_0[i] - mixing.weight(0, 2) * messages[2][i];
        const double found =
            (of_2[i] - mixing.weight(2, 0) * messages[0][i] - of_others) / mixing.weight(2, 1);
        error = std::max(error, std::abs(found - messages[1][i]));
    }
    EXPECT_LT(error, 1e-11);

    const LearntSums learnt = learnt_by({0, 2}, graph);
    EXPECT_EQ(learnt.exposed(), std::vector<int>{1});
    EXPECT_EQ(learnt.agents, (std::vector<int>{1, 3, 4}));
    EXPECT_LT(learnt.hidden[0], 1e-7);
    EXPECT_NEAR(learnt.hidden[1], std::sqrt(0.5), 1e-12);
    EXPECT_EQ(learnt.sums, 2);
    EXPECT_EQ(learnt.smallest_sum, 1);
    EXPECT_EQ(learnt_by({0, 1}, graph).exposed(), std::vector<int>{});
    EXPECT_EQ(learnt_by({3, 4}, graph).exposed(), std::vector<int>{});
}

TEST(LearntSums, OfOneReceiverHideItsNeighboursAmongEachOther) {
    const LearntSums star = learnt_by({0}, made_of(Topology::star, 6));
    EXPECT_EQ(star.sums, 1);
    EXPECT_EQ(star.smallest_sum, 5);
    for (const double hidden : star.hidden) EXPECT_NEAR(hidden, std::sqrt(0.8), 1e-12);
    EXPECT_EQ(learnt_by({3}, made_of(Topology::star, 6)).exposed(), std::vector<int>{0});
    EXPECT_EQ(learnt_by({0}, made_of(Topology::path, 1)).sums, 0);
}

TEST(LearntSums, OfTwoReceiversAreCountedInTheSmallestCombination) {
    // A ring of six: agent 0 hears 1 and 5, agent 3 hears 2 and 4.
    EXPECT_EQ(learnt_by({0, 3}, made_of(Topology::ring, 6)).smallest_sum, 2);
    // Agents 0 and 2 of eight differ by what 1 and 3 send to each of them.
    const Graph graph = complete_without(8, {{0, 1}, {0, 3}});
    const LearntSums learnt = learnt_by({0, 2}, graph, {1, 16}, MixingRule::max_degree);
    EXPECT_EQ(learnt.sums, 2);
    EXPECT_EQ(learnt.smallest_sum, 2);
}

/// An end of a path learns one message more in every gossip step.
TEST(LearntSums, OfGossipStepsAreMoreEquationsAboutTheSameMessages) {
    const Graph path = made_of(Topology::path, 6);
    EXPECT_EQ(learnt_by({0}, path, {1, 16}).exposed(), (std::vector<int>{1}));
    EXPECT_EQ(learnt_by({0}, path, {2, 16}).exposed(), (std::vector<int>{1, 2}));
    EXPECT_EQ(learnt_by({0}, path, {9, 16}).exposed(), (std::vector<int>{1, 2, 3, 4, 5}));
    // A ring looks the same from both sides: no number of steps tells them apart.
    EXPECT_EQ(learnt_by({0}, made_of(Topology::ring, 7), {50, 16}).exposed(), std::vector<int>{});
}

/// As the shares themselves show (SecureSum.WithFewPartnersWithstandsOneColluderLessThanPartners).
TEST(LearntSums, FallApartWhereMaskPartnersCollude) {
    const Graph star = made_of(Topology::star, 12);
    EXPECT_EQ(learnt_by({0, 4, 5, 7, 8}, star, {1, 2}).exposed(), std::vector<int>{6});
    EXPECT_EQ(learnt_by({0, 4, 5, 7, 8}, star, {1, 2}).sums, 2);
    EXPECT_EQ(learnt_by({0, 4, 5, 7}, star, {1, 2}).sums, 1);
    EXPECT_EQ(learnt_by({0, 4, 5, 7, 8}, star, {1, 5}).sums, 1);
    // Neighbours that hear only the centre do not learn what it hears.
    EXPECT_EQ(learnt_by({4, 5, 7, 8}, star, {1, 2}).exposed(), std::vector<int>{0});
}

/// Of every agent outside the coalition, sqrt(1 - |P e_v|^2) by the messages m_k that Chebyshev
/// exchanges make of the first ones, where masks join all neighbours.
Eigen::VectorXd hidden_by_chebyshev(const std::vector<int>& coalition,
                                    const MixingMatrix& mixing,
                                    const GossipPolynomial& gossip) {
    const Eigen::MatrixXd w = mixing.dense();
    std::vector<int> outside;
    for (int u = 0; u < mixing.agents(); ++u)
        if (!std::ranges::binary_search(coalition, u)) outside.push_back(u);
    const auto hidden = std::ssize(outside), rows = std::ssize(coalition);
    Eigen::MatrixXd message = Eigen::MatrixXd::Identity(hidden, hidden), before = message;
    Eigen::MatrixXd learnt(rows * gossip.steps(), hidden);
    for (int k = 0; k < gossip.steps(); ++k) {
        learnt.middleRows(k * rows, rows) = w(coalition, outside) * message;
        const Eigen::MatrixXd next =
            gossip.here(k) * w(outside, outside) * message - gossip.before(k) * before;
        before = message;
        message = next;
    }
    const Eigen::JacobiSVD<Eigen::MatrixXd> decomposed(learnt, Eigen::ComputeThinV);
    Eigen::VectorXd known = Eigen::VectorXd::Zero(hidden);
    for (Eigen::Index i = 0; i < decomposed.singularValues().size(); ++i)
        if (decomposed.singularValues()(i) > 1e-10 * decomposed.singularValues()(0))
            known += decomposed.matrixV().col(i).cwiseAbs2();
    return (1 - known.array()).cwiseMax(0).sqrt();
}

/// Polynomials of degree 0 to K - 1 of one matrix have the span of its powers.
TEST(LearntSums, AreTheSameWithChebyshevGossip) {
    for (const Graph& graph : {made_of(Topology::ring, 9), made_of(Topology::path, 7)}) {
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
        for (const int steps : {2, 3, 4})
            for (const std::vector<int>& coalition : {std::vector<int>{0}, {1, 2}, {0, 4}}) {
                const LearntSums learnt = learnt_by(coalition, graph, {steps, mask_partners_used});
                const auto gossip = gossip_polynomial(mixing, GossipRule::chebyshev, steps);
                ASSERT_FALSE(gossip.plain());
                const Eigen::VectorXd expected = hidden_by_chebyshev(coalition, mixing, gossip);
                ASSERT_EQ(std::ssize(learnt.hidden), expected.size());
                for (Eigen::Index i = 0; i < expected.size(); ++i)
                    EXPECT_NEAR(learnt.hidden[static_cast<std::size_t>(i)], expected(i), 1e-6);
            }
    }
}

TEST(LearntSums, CountWeightsThatDifferByLittle) {
    const Graph graph = made_of(Topology::complete, 5);
    const auto exposed = [&](double more) {
        Eigen::MatrixXd weights = Eigen::MatrixXd::Constant(5, 5, 0.2);
        weights(1, 4) += more;
        weights(1, 1) -= more;
        const MixingMatrix mixing = MixingMatrix::from_dense(graph, weights);
        return RoundSums(graph, mixing, {1, 16}).learnt_by(std::vector<int>{0, 1}).exposed();
    };
    EXPECT_EQ(exposed(0), std::vector<int>{});
    EXPECT_EQ(exposed(1e-15), std::vector<int>{});  // in the rounding of products
    EXPECT_EQ(exposed(1e-11), std::vector<int>{4});
    EXPECT_EQ(exposed(1e-3), std::vector<int>{4});
}

TEST(LearntSums, OfWhichOneMessageIsNearlyAllCountAsIt) {
    const Graph path = made_of(Topology::path, 3);
    const auto exposed = [&](double weight) {
        Eigen::MatrixXd weights(3, 3);
        weights << 0.5, 0.5, 0, 0.9 - weight, 0.1, weight, 0, 0.5, 0.5;
        const MixingMatrix mixing = MixingMatrix::from_dense(path, weights);
        return RoundSums(path, mixing, {1, 16}).learnt_by(std::vector<int>{1}).exposed();
    };
    EXPECT_EQ(exposed(0.1), std::vector<int>{});
    EXPECT_EQ(exposed(0.001), std::vector<int>{0});
    EXPECT_EQ(exposed(0), std::vector<int>{0});
}

}  // namespace
}  // namespace sotto
