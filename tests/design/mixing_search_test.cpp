#include "design/mixing_search.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "design/noise_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MixingDesignInput horizon_input(const Graph& graph, long horizon) {
    MixingDesignInput input;
    input.graph = &graph;
    input.utility = {Utility::Kind::horizon, horizon};
    input.rounds = 100;
    return input;
}

TEST(MixingSearch, StartsWhereAgentsAgree) {
    for (const auto& [name, graph] : test::sample_graphs({2, 9})) {
        const MixingSearch search(horizon_input(graph, 5), 1);
        ASSERT_EQ(search.starts().size(), 3u);
        for (const VectorXd& start : search.starts())
            EXPECT_LT(MixingPoint(search.edges().matrix(start)).modulus(), 1) << name;
    }
}

TEST(MixingSearch, HasTheGradientOfTheBestNoise) {
    // Envelope theorem: R changes with W, and its change does not count.
    const Graph graph = test::make_graph(Topology::erdos_renyi, 8, 1);
    const MixingSearch search(horizon_input(graph, 6), 1);
    const VectorXd weights = search.starts().front();
    VectorXd gradient, unused;
    (void)search.value(free_noise(0.1), weights, gradient);
    const auto value = [&](const VectorXd& at) {
        return search.value(free_noise(0.1), at, unused);
    };
    for (Eigen::Index e = 0; e < weights.size(); ++e) {
        constexpr double step = 1e-3;
        const VectorXd aside = step * VectorXd::Unit(weights.size(), e);
        const double slope = (value(weights + aside) - value(weights - aside)) / (2 * step);
        EXPECT_NEAR(gradient(e), slope, 1e-3 * gradient.norm()) << e;
    }
}

TEST(MixingSearch, RefusesWeightsWithWhichAgentsDriftApart) {
    const Graph graph = test::make_graph(Topology::ring, 6);
    const MixingSearch search(horizon_input(graph, 5), 1);
    const VectorXd far = VectorXd::Constant(search.edges().edges(), 0.6);  // 1 - 4 * 0.6 = -1.4
    VectorXd gradient;
    EXPECT_EQ(search.value(free_noise(), far, gradient), infinity);
    EXPECT_THROW((void)search.mixing(far), Error);
}

TEST(MixingSearch, FindsTheBestConstantWeightOfAStar) {
    // Independent noise: by symmetry all weights are equal, and M's eigenvalues are s(1 - w) 3
    // times and s(1 - 5 w).
    const Graph graph = test::make_graph(Topology::star, 5);
    const MixingDesignInput input = horizon_input(graph, 4);
    const MixingSearch search(input, 1);
    const FoundMixing found =
        search.best_of_starts([] { return given_noise(MatrixXd::Identity(5, 5)); }, {});
    const UtilityGain gain(input.utility, input.rounds, 1, {});
    double best = infinity;
    for (double w = 0.001; w < 0.4; w += 0.0005)
        best = std::min(best, gain.at(1) + 3 * gain.at(1 - w) + gain.at(1 - 5 * w));
    EXPECT_NEAR(found.value, best, 1e-4 * best);
    EXPECT_NEAR(found.weights.maxCoeff(), found.weights.minCoeff(), 1e-3);
}

TEST(MixingSearch, RoundsSoThatRowsSumToOne) {
    const Graph graph = test::make_graph(Topology::erdos_renyi, 9, 1);
    const MixingSearch search(horizon_input(graph, 5), 1);
    const MatrixXd dense = search.mixing(MixingSearch::rounded(search.starts().front())).dense();
    for (int u = 0; u < 9; ++u) EXPECT_EQ(dense.row(u).sum(), 1.0);
}

}  // namespace
}  // namespace sotto
