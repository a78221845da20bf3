#include "design/mixing_search.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "design/noise_fixtures.hpp"
#include "design/spatial_solver.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

const Utility final_utility{Utility::Kind::final_model, 0};

TEST(UtilityGain, SumsSquaredResponses) {
    const UtilityGain trajectory({Utility::Kind::trajectory, 0}, 3, 2, {});
    EXPECT_NEAR(
        trajectory.at(0.9), 3 * std::pow(0.9, 4) + 2 * std::pow(0.9, 8) + std::pow(0.9, 12), 1e-14);
    EXPECT_EQ(trajectory.at(0), 0);
    const UtilityGain one_step({Utility::Kind::one_step, 1}, 100, 1, {});
    EXPECT_NEAR(one_step.at(-0.5), 0.25, 1e-16);
}

TEST(UtilityGain, CountsMeansAndFinalGossipForTheFinalModelsOnly) {
    Smoothing smoothing;
    smoothing.tail_rounds = 2;
    smoothing.final_gossip = 3;
    // g_1 = p / 2, g_2 = (p + p^2) / 2, each times p^3.
    const double p = 0.8, g1 = p / 2, g2 = (p + p * p) / 2;
    EXPECT_NEAR(UtilityGain(final_utility, 2, 1, smoothing).at(p),
                (g1 * g1 + g2 * g2) * std::pow(p, 6),
                1e-14);
    for (const Utility& other :
         {Utility{Utility::Kind::horizon, 2}, Utility{Utility::Kind::trajectory, 0}})
        EXPECT_EQ(UtilityGain(other, 2, 1, smoothing).at(p), UtilityGain(other, 2, 1, {}).at(p));
}

TEST(UtilityGain, CountsMomentumAlways) {
    Smoothing smoothing;
    smoothing.momentum = 0.5;
    // h_1 = p, h_2 = p^2 + B p.
    const double p = 0.8;
    EXPECT_NEAR(UtilityGain({Utility::Kind::horizon, 2}, 9, 1, smoothing).at(p),
                p * p + std::pow(p * p + 0.5 * p, 2),
                1e-14);
}

TEST(UtilityGain, KnowsItsDerivative) {
    Smoothing smoothing;
    smoothing.momentum = 0.7;
    smoothing.decay = 0.9;
    smoothing.final_gossip = GossipPolynomial::chebyshev(3, 0.9);
    const UtilityGain gain(final_utility, 30, GossipPolynomial::chebyshev(2, 0.9), smoothing);
    smoothing.correction = Correction::exact_diffusion;
    const UtilityGain corrected(
        final_utility, 30, GossipPolynomial::chebyshev(2, 0.9).with_laziness(0.3), smoothing);
    for (const UtilityGain* of : {&gain, &corrected})
        for (const double x : {-0.8, 0.3, 0.95}) {
            const double difference = (of->at(x + 1e-6) - of->at(x - 1e-6)) / 2e-6;
            EXPECT_NEAR(
                of->derivative_at(x), difference, 1e-6 * std::max(1.0, std::abs(difference)));
        }
}

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

TEST(GivenNoise, IsAlwaysTheSame) {
    const MatrixXd covariance = test::random_positive_definite(5, 1);
    const MatrixXd utility = test::random_positive_definite(5, 2);
    const NoiseAnswer answer = given_noise(covariance)(utility);
    EXPECT_EQ(answer.covariance, covariance);
    EXPECT_DOUBLE_EQ(answer.value, (utility * covariance).trace());
}

TEST(FreeNoise, IsTheOptimumAtThePriceOfVariance) {
    const Eigen::VectorXd ones = Eigen::VectorXd::Ones(8);
    for (const double price : {0.0, 0.3}) {
        const BestNoise noise = free_noise(price);
        for (const std::uint64_t seed : {3U, 4U}) {
            const MatrixXd priced =
                test::random_positive_definite(8, seed) + price * MatrixXd::Identity(8, 8);
            const NoiseAnswer answer = noise(priced - price * MatrixXd::Identity(8, 8));
            const SpatialSolution best = solve_spatial_covariance(priced, ones);
            EXPECT_NEAR(answer.value, best.value, 1e-5 * best.value);
            EXPECT_LE((test::precision_of(answer.covariance) - ones).maxCoeff(), 1e-6);
        }
    }
}

TEST(FreeNoise, StaysFiniteWhereMIsSingular) {
    const MatrixXd mean = MatrixXd::Constant(6, 6, 1.0 / 6);
    const NoiseAnswer answer = free_noise()(mean);
    EXPECT_TRUE(answer.covariance.allFinite());
    EXPECT_NEAR(answer.value, 1.0 / 6, 1e-3);
}

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
