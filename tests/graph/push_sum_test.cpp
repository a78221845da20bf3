#include "sotto/graph/push_sum.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <vector>

#include "graph_fixtures.hpp"

namespace sotto {
namespace {

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
