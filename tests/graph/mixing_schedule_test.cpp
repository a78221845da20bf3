#include "sotto/graph/mixing_schedule.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <vector>

#include "core/test_support.hpp"
#include "graph/spectrum.hpp"
#include "graph_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using namespace test;

TopologySpec spec_of(Topology topology, int agents) {
    TopologySpec spec;
    spec.topology = topology;
    spec.agents = agents;
    spec.edge_probability = 0.4;
    spec.graph_seed = 3;
    return spec;
}

TEST(RandomSchedule, MixesOnAFreshConnectedGraphEveryRound) {
    for (const Topology topology : {Topology::erdos_renyi, Topology::ring, Topology::star}) {
        const TopologySpec spec = spec_of(topology, 8);
        const ScheduledMixing drawn = random_schedule(spec, "metropolis", 12);
        ASSERT_EQ(drawn.matrices.size(), 12u);
        std::size_t different = 0;
        for (std::size_t t = 0; t < drawn.matrices.size(); ++t) {
            const MixingMatrix& mixing = drawn.matrices[t];
            EXPECT_TRUE(mixing.doubly_stochastic());
            EXPECT_LT(second_eigenvalue_modulus(mixing), 1 - 1e-6) << "round " << t;
            if (t > 0) different += mixing.hash() != drawn.matrices[t - 1].hash() ? 1 : 0;
        }
        // A star keeps its middle once in eight rounds.
        EXPECT_GE(different, 6u) << name_of(topology);
        if (topology == Topology::ring) {
            for (const MixingMatrix& mixing : drawn.matrices)
                for (int u = 0; u < 8; ++u)
                    EXPECT_EQ((mixing.dense().row(u).array() > 0).count(), 3);
        }
        // Every edge of the union joins two agents in some round.
        for (const auto& [u, v] : drawn.graph.edges()) {
            double weight = 0;
            for (const MixingMatrix& mixing : drawn.matrices) weight += mixing.weight(u, v);
            EXPECT_GT(weight, 0);
        }
    }
}

TEST(RandomSchedule, DependsOnTheGraphSeedAlone) {
    TopologySpec spec = spec_of(Topology::erdos_renyi, 7);
    const MixingSchedule first(random_schedule(spec, "metropolis", 5).matrices);
    EXPECT_EQ(first.hash(), MixingSchedule(random_schedule(spec, "metropolis", 5).matrices).hash());
    spec.graph_seed = 4;
    EXPECT_NE(first.hash(), MixingSchedule(random_schedule(spec, "metropolis", 5).matrices).hash());
}

TEST(RandomSchedule, RefusesAFileOfMixingAndMoreThanItCanKeep) {
    const TopologySpec spec = spec_of(Topology::ring, 100);
    EXPECT_TRUE(
        contains(message_of<ConfigError>([&] { (void)random_schedule(spec, "weights.npy", 5); }),
                 "needs a rule of mixing, not 'weights.npy'"));
    EXPECT_TRUE(contains(
        message_of<ConfigError>([&] { (void)random_schedule(spec, "metropolis", 1000000); }),
        "use fewer rounds"));
}

TEST(OnePeerSchedule, AveragesExactlyInLogarithmicallyManyRounds) {
    // For n = 2^k the product of the k matrices is 11^T/n.
    for (const int n : {1, 2, 4, 8, 16}) {
        const auto matrices =
            one_peer_schedule(make_topology(spec_of(Topology::exponential, n)).graph);
        Eigen::MatrixXd product = Eigen::MatrixXd::Identity(n, n);
        for (const MixingMatrix& mixing : matrices) {
            EXPECT_TRUE(mixing.doubly_stochastic());
            product = (mixing.dense() * product).eval();
        }
        EXPECT_EQ((product - Eigen::MatrixXd::Constant(n, n, 1.0 / n)).cwiseAbs().maxCoeff(), 0);
        EXPECT_EQ(std::size_t{1} << (n == 1 ? 0 : matrices.size()), static_cast<std::size_t>(n));
    }
}

TEST(OnePeerSchedule, TakesTheMeanWithOnePeerForAnyNumberOfAgents) {
    for (const int n : {3, 5, 6, 20})
        for (const MixingMatrix& mixing :
             one_peer_schedule(make_topology(spec_of(Topology::exponential, n)).graph)) {
            EXPECT_TRUE(mixing.doubly_stochastic());
            for (int u = 0; u < n; ++u) EXPECT_EQ(mixing.weight(u, u), 0.5);
        }
    EXPECT_TRUE(contains(message_of<ConfigError>([] {
                             (void)one_peer_schedule(
                                 make_topology(spec_of(Topology::ring, 8)).graph);
                         }),
                         "--topology exponential"));
}

TEST(DirectedSchedule, DrawsDirectedGraphsOnTheirUnion) {
    TopologySpec spec = spec_of(Topology::ring, 6);
    spec.directed = true;
    const ScheduledMixing drawn = random_schedule(spec, "push-sum", 5);
    EXPECT_TRUE(drawn.graph.directed());
    for (const MixingMatrix& mixing : drawn.matrices) {
        EXPECT_TRUE(mixing.push_sum());
        for (int u = 0; u < 6; ++u) EXPECT_EQ((mixing.dense().row(u).array() > 0).count(), 2);
    }
}

TEST(DirectedSchedule, OfOnePeerHearsWhoIsBehind) {
    TopologySpec spec = spec_of(Topology::exponential, 8);
    spec.directed = true;
    const Graph graph = make_topology(spec).graph;
    Eigen::MatrixXd product = Eigen::MatrixXd::Identity(8, 8);
    for (const MixingMatrix& mixing : one_peer_schedule(graph)) product = mixing.dense() * product;
    EXPECT_LT((product.array() - 0.125).abs().maxCoeff(), 1e-15);
}

std::vector<Graph> directed_graphs() {
    std::vector<Graph> graphs;
    for (const Topology topology : {Topology::ring, Topology::exponential, Topology::erdos_renyi})
        for (const int agents : {1, 2, 7, 12}) {
            TopologySpec spec;
            spec.topology = topology;
            spec.agents = agents;
            spec.edge_probability = 0.4;
            spec.directed = true;
            graphs.push_back(make_topology(spec).graph);
        }
    return graphs;
}

TEST(PerronVector, StaysAsItIsAndSumsToOne) {
    for (const Graph& graph : directed_graphs())
        for (const MixingRule rule : {MixingRule::row_stochastic, MixingRule::push_sum}) {
            const MixingMatrix mixing = MixingMatrix::from_rule(graph, rule);
            const Eigen::VectorXd pi = perron_vector(mixing);
            EXPECT_NEAR(pi.sum(), 1, 1e-14);
            EXPECT_GT(pi.minCoeff(), 0);
            const Eigen::MatrixXd step =
                mixing.push_sum() ? mixing.dense() : Eigen::MatrixXd(mixing.dense().transpose());
            EXPECT_LT((step * pi - pi).cwiseAbs().maxCoeff(), 1e-14);
        }
}

TEST(PerronVector, IsWhatModelsComeTo) {
    const Graph graph = directed_graphs().back();
    const MixingMatrix mean = MixingMatrix::from_rule(graph, MixingRule::row_stochastic);
    Eigen::MatrixXd power = mean.dense();
    for (int k = 0; k < 12; ++k) power = (power * power).eval();
    const Eigen::VectorXd pi = perron_vector(mean);
    for (int u = 0; u < graph.agents(); ++u)
        EXPECT_LT((power.row(u).transpose() - pi).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_GT(graph.agents() * pi.maxCoeff(), 1.2);
}

TEST(PerronVector, IsOfEqualWeightsWhereThereAreSeveral) {
    // Two pairs that never hear of each other, within a graph in which they could.
    const Graph graph = test::make(Topology::complete, 4);
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(4, 4);
    dense.topLeftCorner(2, 2) << 0.5, 0.5, 0.25, 0.75;
    dense.bottomRightCorner(2, 2) << 0.5, 0.5, 0.5, 0.5;
    const Eigen::VectorXd pi = perron_vector(MixingMatrix::from_dense(graph, dense));
    EXPECT_LT((pi - Eigen::Vector4d(1.0 / 6, 1.0 / 3, 0.25, 0.25)).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(PushSum, DividesModelsIntoTheMeanOfAll) {
    for (const Graph& graph : directed_graphs()) {
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::push_sum);
        const int n = graph.agents();
        Eigen::VectorXd models = Eigen::VectorXd::LinSpaced(n, -1, 3);
        const double mean = models.mean();
        PushSumWeights weights(n);
        for (int t = 0; t < 2000; ++t) {
            models = mixing.sparse() * models;
            weights.mix(mixing);
            EXPECT_GT(weights.values().minCoeff(), 0);
            EXPECT_NEAR(weights.values().sum(), n, 1e-9);
        }
        for (int u = 0; u < n; ++u) EXPECT_NEAR(models[u] / weights.of(u), mean, 1e-12);
        EXPECT_LT(
            (weights.values().cwiseInverse() - estimate_factors(mixing)).cwiseAbs().maxCoeff(),
            1e-10);
    }
}

TEST(PushSum, WeightsFollowAPolynomialLikeModels) {
    const Graph graph = directed_graphs().back();
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::push_sum);
    const int n = graph.agents();
    PushSumWeights weights(n);
    weights.mix(mixing);
    const Eigen::VectorXd once = weights.values();
    weights.mix(mixing, 1.5, 0.5);
    const Eigen::VectorXd twice = 1.5 * (mixing.sparse() * once) - 0.5 * Eigen::VectorXd::Ones(n);
    EXPECT_EQ(weights.values(), twice);
}

TEST(EstimateFactors, AreOneWithoutPushSum) {
    const Graph graph = directed_graphs().back();
    EXPECT_EQ(estimate_factors(MixingMatrix::from_rule(graph, MixingRule::row_stochastic)),
              Eigen::VectorXd::Ones(graph.agents()));
}

}  // namespace
}  // namespace sotto
