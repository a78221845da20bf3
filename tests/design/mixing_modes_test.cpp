#include "design/mixing_modes.hpp"

#include <gtest/gtest.h>

#include "design/noise_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(MixingModes, AreThoseOfThePowerThatGossipStepsMake) {
    for (const auto& [name, graph] : sample_graphs({2, 7}))
        for (const int steps : {1, 3}) {
            const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
            Eigen::MatrixXd power = mixing.dense();
            for (int k = 1; k < steps; ++k) power = (power * mixing.dense()).eval();
            const MixingModes modes = mixing_modes(mixing, steps);
            const Eigen::MatrixXd found =
                modes.vectors * modes.values.asDiagonal() * modes.vectors.transpose();
            EXPECT_LT((found - power).norm(), 1e-13 * graph.agents()) << name;
        }
}

TEST(ModeWeights, AreVariancesInTheModes) {
    const Graph graph = make_graph(Topology::ring, 6);
    const MixingModes modes =
        mixing_modes(MixingMatrix::from_rule(graph, MixingRule::metropolis), 1);
    const Eigen::MatrixXd covariance = random_positive_definite(6, 4);
    const Eigen::VectorXd weights = mode_weights(modes, covariance);
    EXPECT_NEAR(weights.sum(), covariance.trace(), 1e-12 * covariance.trace());
    for (int i = 0; i < 6; ++i)
        EXPECT_NEAR(weights(i), modes.vectors.col(i).dot(covariance * modes.vectors.col(i)), 1e-12);
    EXPECT_TRUE(mode_weights(modes, Eigen::MatrixXd::Identity(6, 6)).isOnes(1e-12));
}

}  // namespace
}  // namespace sotto
