#include "sums/learnt_sums.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/seeded_random.hpp"
#include "privacy/protection.hpp"
#include "sotto/graph/gossip.hpp"
#include "sotto/graph/mixing_schedule.hpp"
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

/// One label for every part of the mask graph; -1 for colluders.
std::vector<int> parts_of(const std::vector<char>& honest, int per_side) {
    const auto n = static_cast<int>(honest.size());
    std::vector<int> label(honest.size(), -1);
    for (int i = 0; i < n; ++i)
        if (honest[static_cast<std::size_t>(i)] != 0) label[static_cast<std::size_t>(i)] = i;
    for (int pass = 0; pass < n; ++pass)
        for (int i = 0; i < n; ++i)
            for (const int j : mask_partners(n, i, per_side)) {
                int& one = label[static_cast<std::size_t>(i)];
                int& other = label[static_cast<std::size_t>(j)];
                if (one >= 0 && other >= 0) one = other = std::min(one, other);
            }
    return label;
}

/// Everything a coalition learns in one round, written out over all agents: slow and plain.
Eigen::MatrixXd everything_learnt(const Graph& graph,
                                  const Eigen::MatrixXd& w,
                                  SumRules rules,
                                  const std::vector<int>& coalition) {
    const auto in = [&](int u) { return std::ranges::binary_search(coalition, u); };
    const int n = graph.agents();
    Eigen::MatrixXd outside = w;
    for (const int c : coalition) {
        outside.row(c).setZero();
        outside.col(c).setZero();
    }
    std::vector<Eigen::RowVectorXd> rows;
    for (const int a : coalition) {
        const auto around = graph.neighbours(a);
        std::vector<char> honest;
        for (const int v : around) honest.push_back(in(v) ? 0 : 1);
        const std::vector<int> labels = parts_of(honest, rules.mask_partners);
        for (int label = 0; label < static_cast<int>(labels.size()); ++label) {
            Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(n);
            for (std::size_t i = 0; i < labels.size(); ++i)
                if (labels[i] == label) row(around[i]) = w(a, around[i]);
            for (int step = 0; step < rules.gossip_steps; ++step) {
                if (row.norm() > 0) rows.emplace_back(row / row.norm());
                row = row * outside;
            }
        }
    }
    Eigen::MatrixXd all(static_cast<Eigen::Index>(rows.size()), n);
    for (std::size_t i = 0; i < rows.size(); ++i) all.row(static_cast<Eigen::Index>(i)) = rows[i];
    return all;
}

/// Of every agent, how much stays hidden from the coalition.
Eigen::VectorXd hidden_from(const Eigen::MatrixXd& learnt, int agents) {
    Eigen::VectorXd hidden = Eigen::VectorXd::Ones(agents);
    if (learnt.rows() == 0) return hidden;
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(learnt, Eigen::ComputeThinV);
    for (Eigen::Index i = 0; i < svd.singularValues().size(); ++i)
        if (svd.singularValues()(i) > 1e-10) hidden -= svd.matrixV().col(i).cwiseAbs2();
    return hidden.cwiseMax(0).cwiseSqrt();
}

/// All coalitions of every size, one by one.
void expect_equal_to_all(const Graph& graph,
                         const MixingSchedule& schedule,
                         SumRules rules,
                         const std::string& what) {
    const int n = graph.agents();
    const int most = std::min(4, n - 1);
    const SumHiding hiding = what_sums_hide(graph, schedule, rules, 1, 4);
    ASSERT_EQ(std::ssize(hiding.against), std::max(1, most)) << what;
    std::vector<std::vector<char>> exposed(static_cast<std::size_t>(schedule.period()),
                                           std::vector<char>(static_cast<std::size_t>(n), 0));
    double least = 1;
    for (int q = 1; q <= most; ++q) {
        for_each_coalition(n, q, [&](const std::vector<int>& coalition) {
            for (long t = 0; t < schedule.period(); ++t) {
                const Eigen::VectorXd hidden = hidden_from(
                    everything_learnt(graph, schedule.at(t).dense(), rules, coalition), n);
                for (int v = 0; v < n; ++v) {
                    if (std::ranges::binary_search(coalition, v)) continue;
                    least = std::min(least, hidden(v));
                    if (hidden(v) <= exposed_share)
                        exposed[static_cast<std::size_t>(t)][static_cast<std::size_t>(v)] = 1;
                }
            }
        });
        std::vector<long> rounds(static_cast<std::size_t>(n), 0);
        for (const auto& of_round : exposed)
            for (std::size_t v = 0; v < of_round.size(); ++v) rounds[v] += of_round[v];
        const SumsAgainst& found = hiding.against[static_cast<std::size_t>(q - 1)];
        EXPECT_TRUE(found.computed) << what;
        EXPECT_EQ(found.rounds_exposed, rounds) << what << ", " << q;
        EXPECT_NEAR(found.least_hidden, least, 1e-6) << what << ", " << q;
    }
}

TEST(SumColluders, AreFoundAsByLookingAtEveryCoalition) {
    for (const int n : {2, 3, 5, 8})
        for (const Topology topology : {Topology::ring,
                                        Topology::path,
                                        Topology::star,
                                        Topology::complete,
                                        Topology::erdos_renyi})
            for (const MixingRule rule : {MixingRule::metropolis, MixingRule::row_stochastic})
                for (const SumRules rules : {SumRules{1, 16}, {1, 1}, {3, 16}}) {
                    const Graph graph = made_of(topology, n);
                    expect_equal_to_all(graph,
                                        MixingSchedule({MixingMatrix::from_rule(graph, rule)}),
                                        rules,
                                        name_of(topology) + " " + std::to_string(n));
                }
}

TEST(SumColluders, OfSchedulesAreFoundInEveryRound) {
    TopologySpec spec;
    spec.agents = 7;
    spec.edge_probability = 0.5;
    const ScheduledMixing random = random_schedule(spec, "metropolis", 5);
    expect_equal_to_all(random.graph, MixingSchedule(random.matrices), {1, 16}, "random");
    const Graph exponential = made_of(Topology::exponential, 8);
    expect_equal_to_all(
        exponential, MixingSchedule(one_peer_schedule(exponential)), {1, 16}, "one-peer");
}

SumHiding of_graph(const Graph& graph, int asked = 1, SumRules rules = {1, 16}, int further = 4) {
    return what_sums_hide(graph,
                          MixingSchedule({MixingMatrix::from_rule(graph, MixingRule::metropolis)}),
                          rules,
                          asked,
                          further);
}

TEST(SumColluders, WhoseNeighboursDifferByOneAreNamed) {
    const SumHiding hiding = of_graph(complete_without(5, {{0, 1}}));
    EXPECT_FALSE(hiding.against[0].worst);
    EXPECT_EQ(hiding.against[0].smallest_sum, 3);
    EXPECT_EQ(hiding.against[1].exposed_in(1), (std::vector<int>{0, 1}));
    EXPECT_EQ(hiding.against[1].worst->colluders, (std::vector<int>{0, 2}));
    EXPECT_EQ(hiding.against[1].worst->exposed, (std::vector<int>{1}));
    EXPECT_FALSE(hiding.known);
    EXPECT_FALSE(hiding.nothing());
}

TEST(SumColluders, HideNothingWithOnePeerOrTwoAgents) {
    const Graph exponential = made_of(Topology::exponential, 8);
    const auto one_peer =
        what_sums_hide(exponential, MixingSchedule(one_peer_schedule(exponential)), {1, 16}, 1, 1);
    EXPECT_TRUE(one_peer.nothing());
    EXPECT_TRUE(of_graph(made_of(Topology::path, 2)).nothing());
    EXPECT_FALSE(of_graph(made_of(Topology::path, 3)).nothing());
    EXPECT_FALSE(of_graph(made_of(Topology::path, 1)).nothing());
    EXPECT_FALSE(of_graph(made_of(Topology::ring, 9)).nothing());
    EXPECT_TRUE(of_graph(made_of(Topology::ring, 9), 2).nothing());
    EXPECT_FALSE(of_graph(made_of(Topology::complete, 4), 2).nothing());
    EXPECT_TRUE(of_graph(made_of(Topology::complete, 4), 3).nothing());
}

TEST(SumColluders, AreMadeWhereNoneOfThoseLookedAtIsEnough) {
    const SumHiding all = of_graph(made_of(Topology::complete, 12));
    EXPECT_EQ(all.known->colluders.size(), 11U);
    const SumHiding two_sides = of_graph(made_of(Topology::complete, 12), 1, {1, 3});
    EXPECT_EQ(two_sides.known->colluders.size(), 7U);
    for (const SumHiding& hiding : {all, two_sides})
        for (const SumsAgainst& against : hiding.against) EXPECT_FALSE(against.worst);
    // Everybody hears six on either side of a ring: two next to each other differ by two.
    std::vector<Edge> edges;
    for (int u = 0; u < 24; ++u)
        for (int hop = 1; hop <= 6; ++hop)
            edges.emplace_back(std::min(u, (u + hop) % 24), std::max(u, (u + hop) % 24));
    const SumHiding pair = of_graph(Graph::from_edges(24, edges), 1, {1, 16}, 1);
    EXPECT_EQ(pair.known->colluders, (std::vector<int>{0, 1, 18}));
    EXPECT_EQ(pair.known->exposed, std::vector<int>{7});
}

TEST(SumColluders, OfAThousandAgentsTakeSeconds) {
    TopologySpec spec;
    spec.agents = 1000;
    spec.edge_probability = 0.01;
    const Graph graph = make_topology(spec).graph;
    const SumHiding hiding = of_graph(graph);
    EXPECT_TRUE(hiding.against[0].computed);
    EXPECT_TRUE(hiding.against[1].computed);
    EXPECT_FALSE(hiding.against[3].computed);
    EXPECT_TRUE(hiding.against[3].rounds_exposed.empty());
    EXPECT_FALSE(hiding.nothing());
}

using Groups = std::multiset<std::vector<int>>;

Groups all_groups(const NearGroups& groups, int size) {
    Groups found;
    EXPECT_TRUE(groups.visit(size, [&](std::span<const int> group) {
        found.emplace(group.begin(), group.end());
        return true;
    }));
    return found;
}

/// Groups that hang together, out of all.
Groups expected_groups(const Graph& graph, int reach, int size) {
    Groups expected;
    for_each_coalition(graph.agents(), size, [&](const std::vector<int>& group) {
        std::vector<int> reached{group.front()};
        for (std::size_t i = 0; i < reached.size(); ++i) {
            const std::vector<int> distances = graph.distances_from(reached[i]);
            for (const int v : group)
                if (distances[static_cast<std::size_t>(v)] <= reach &&
                    std::ranges::find(reached, v) == reached.end())
                    reached.push_back(v);
        }
        if (std::ssize(reached) == size) expected.insert(group);
    });
    return expected;
}

TEST(NearGroups, AreAllThatHangTogetherOnceEach) {
    for (const Graph& graph : {test::made_of(Topology::ring, 11),
                               test::made_of(Topology::star, 7),
                               test::made_of(Topology::path, 9),
                               test::made_of(Topology::erdos_renyi, 10)})
        for (const int reach : {1, 2, 4})
            for (int size = 1; size <= 4; ++size)
                EXPECT_EQ(all_groups(NearGroups(graph, reach, 1000), size),
                          expected_groups(graph, reach, size))
                    << reach << ", " << size;
}

TEST(NearGroups, EndWhereTheVisitorDoes) {
    const NearGroups groups(test::made_of(Topology::complete, 9), 2, 1000);
    int visited = 0;
    EXPECT_FALSE(groups.visit(3, [&](std::span<const int>) { return ++visited < 5; }));
    EXPECT_EQ(visited, 5);
    EXPECT_EQ(all_groups(groups, 3).size(), 84U);
    EXPECT_EQ(all_groups(groups, 10).size(), 0U);
}

TEST(NearGroups, BeyondTheLimitAreOnlyThoseOfOne) {
    const NearGroups groups(test::made_of(Topology::complete, 9), 2, 35);
    EXPECT_EQ(all_groups(groups, 1).size(), 9U);
    EXPECT_FALSE(groups.visit(2, [](std::span<const int>) { return true; }));
    EXPECT_TRUE(groups.near(0).empty());
    const NearGroups fits(test::made_of(Topology::complete, 9), 2, 36);
    EXPECT_EQ(all_groups(fits, 2).size(), 36U);
    EXPECT_EQ(fits.near(3).size(), 8U);
}

}  // namespace
}  // namespace sotto
