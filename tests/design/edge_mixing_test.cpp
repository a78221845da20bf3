#include "design/edge_mixing.hpp"

#include <gtest/gtest.h>

#include "design/noise_fixtures.hpp"
#include "sotto/core/linear_algebra.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(EdgeMixing, IsTheMatrixOfItsWeights) {
    for (const auto& [name, graph] : test::sample_graphs({2, 7})) {
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
        const EdgeMixing edges(graph);
        const VectorXd weights = edges.weights_of(mixing);
        EXPECT_TRUE(edges.matrix(weights).isApprox(mixing.dense(), 1e-15)) << name;
        const MatrixXd laplacian = test::laplacian_of(graph);
        const MatrixXd constant = edges.matrix(VectorXd::Constant(edges.edges(), 0.1));
        EXPECT_TRUE(constant.isApprox(
            MatrixXd::Identity(graph.agents(), graph.agents()) - 0.1 * laplacian, 1e-14));
        // b_e^T L b_e = d_u + d_v + 2
        const VectorXd differences = edges.differences(laplacian);
        for (std::size_t e = 0; e < graph.edges().size(); ++e) {
            const auto& [u, v] = graph.edges()[e];
            EXPECT_DOUBLE_EQ(differences(static_cast<Eigen::Index>(e)),
                             graph.degree(u) + graph.degree(v) + 2);
        }
    }
}

TEST(MixingPoint, HasTheUtilityMatrixAndTheSecondModulus) {
    const Utility utility{Utility::Kind::horizon, 12};
    for (const auto& [name, graph] : test::sample_graphs({6, 9})) {
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
        for (const int steps : {1, 3}) {
            const UtilityGain gain(utility, 30, steps, {});
            MixingPoint point(mixing.dense());
            EXPECT_TRUE(point.utility(gain, gain.at(1))
                            .isApprox(utility_matrix(mixing, utility, 30, steps), 1e-10))
                << name;
            const VectorXd values = symmetric_eigenvalues(mixing.dense()).cwiseAbs();
            const double off = std::max(values(0), values(values.size() - 2));
            EXPECT_NEAR(point.modulus(), off, 1e-12) << name;
        }
    }
}

TEST(MixingPoint, DerivesTheCostOfNoiseByTheMatrix) {
    const Graph graph = test::make_graph(Topology::erdos_renyi, 9, 2);
    const EdgeMixing edges(graph);
    const MatrixXd covariance = test::random_positive_definite(9, 5);
    const VectorXd weights =
        edges.weights_of(MixingMatrix::from_rule(graph, MixingRule::metropolis));
    for (const int steps : {1, 2}) {
        const UtilityGain gain({Utility::Kind::horizon, 10}, 30, steps, {});
        const auto cost = [&](const VectorXd& at) {
            return test::cost(MixingPoint(edges.matrix(at)).utility(gain, gain.at(1)), covariance);
        };
        MixingPoint point(edges.matrix(weights));
        (void)point.utility(gain, gain.at(1));
        const VectorXd gradient = -edges.differences(point.derivative(gain, covariance));
        for (Eigen::Index e = 0; e < edges.edges(); ++e) {
            constexpr double step = 1e-5;
            const VectorXd aside = step * VectorXd::Unit(edges.edges(), e);
            const double slope = (cost(weights + aside) - cost(weights - aside)) / (2 * step);
            EXPECT_NEAR(gradient(e), slope, 1e-6 * gradient.norm()) << e;
        }
    }
}

TEST(MixingPoint, DerivesWhereEigenvaluesAreEqual) {
    const Graph graph = test::make_graph(Topology::complete, 5);  // all 0
    const EdgeMixing edges(graph);
    const UtilityGain gain({Utility::Kind::horizon, 3}, 30, 1, {});
    const VectorXd weights = VectorXd::Constant(edges.edges(), 0.15);
    MixingPoint point(edges.matrix(weights));
    (void)point.utility(gain, gain.at(1));
    const VectorXd gradient = -edges.differences(point.derivative(gain, MatrixXd::Identity(5, 5)));
    // f = s(1) + 4 s(l), l = 1 - 5 w: df/dw_e = -2 s'(l), |b_e|^2 = 2.
    const double slope = gain.derivative_at(0.25);
    for (const double value : gradient) EXPECT_NEAR(value, -2 * slope, 1e-12);
}

}  // namespace
}  // namespace sotto
