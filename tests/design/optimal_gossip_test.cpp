#include "design/optimal_gossip.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/linear_algebra.hpp"
#include "design/noise_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/design/mechanism.hpp"

namespace sotto {
namespace {

const Utility long_horizon{Utility::Kind::horizon, 200};

UtilityGain gain_of_horizon() { return {long_horizon, 300, 1, {}}; }

MixingMatrix mixing_to_combine(const Graph& graph) {
    return MixingMatrix::from_rule(graph, MixingRule::metropolis);
}

/// The least noise of correlated agents: corn's objective over H, at kappa 1.
double noise_of_corn(const MixingMatrix& mixing,
                     const Graph& graph,
                     const GossipPolynomial& gossip) {
    DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.utility = long_horizon;
    input.rounds = 300;
    input.gossip = gossip;
    input.kappa = Eigen::VectorXd::Ones(graph.agents());
    return find_mechanism("mechanism", "corn").design(input).objective / 200;
}

TEST(OptimalGossip, LeavesMuchLessOnARing) {
    const Graph ring = test::make_graph(Topology::ring, 20);
    const MixingMatrix mixing = mixing_to_combine(ring);
    struct Row {
        int steps;
        double plain, chebyshev, optimal;
    };
    for (const Row& row :
         {Row{2, .148, .294, .126}, Row{4, .100, .133, .078}, Row{8, .076, .076, .059}}) {
        const auto of = [&](GossipRule rule) {
            return noise_of_corn(mixing, ring, gossip_polynomial(mixing, rule, row.steps));
        };
        EXPECT_NEAR(of(GossipRule::plain), row.plain, 6e-4) << row.steps;
        EXPECT_NEAR(of(GossipRule::chebyshev), row.chebyshev, 6e-4) << row.steps;
        const GossipPolynomial optimal =
            optimal_gossip(mixing, row.steps, gain_of_horizon(), NoiseKind::correlated);
        EXPECT_NEAR(noise_of_corn(mixing, ring, optimal), row.optimal, 6e-4) << row.steps;
    }
}

TEST(OptimalGossip, LeavesNoMoreThanOtherWeights) {
    for (const auto& [name, graph] : test::sample_graphs({6, 9})) {
        const MixingMatrix mixing = mixing_to_combine(graph);
        for (const NoiseKind noise : {NoiseKind::independent, NoiseKind::correlated})
            for (const int steps : {1, 2, 3, 5}) {
                const auto left = [&](const GossipPolynomial& gossip) {
                    const UtilityGain gain(long_horizon, 300, gossip, {});
                    const Eigen::VectorXd values = symmetric_eigenvalues(mixing.dense());
                    double sum = 0;
                    for (Eigen::Index i = 0; i + 1 < values.size(); ++i)
                        sum += noise == NoiseKind::independent ? gain.at(values(i))
                                                               : std::sqrt(gain.at(values(i)));
                    return sum;
                };
                const GossipPolynomial best =
                    optimal_gossip(mixing, steps, gain_of_horizon(), noise);
                EXPECT_EQ(best.steps(), steps);
                EXPECT_NEAR(best.at(1.0), 1, 1e-9) << name;
                // The root's floor of 1e-6 in every mode.
                const double slack = 1e-3 * graph.agents() + 1e-9;
                EXPECT_LE(left(best), left(GossipPolynomial(steps)) + slack) << name << steps;
                EXPECT_LE(left(best),
                          left(gossip_polynomial(mixing, GossipRule::chebyshev, steps)) + slack)
                    << name << steps;
            }
    }
}

TEST(OptimalGossip, OfOneExchangeMovesFurtherThanTheMean) {
    const MixingMatrix mixing = mixing_to_combine(test::make_graph(Topology::ring, 20));
    const GossipPolynomial gossip =
        optimal_gossip(mixing, 1, gain_of_horizon(), NoiseKind::correlated);
    EXPECT_LT(gossip.share(0), -0.01);
    EXPECT_NEAR(gossip.share(0) + gossip.share(1), 1, 1e-15);
}

TEST(OptimalGossip, MayHaveWeightsOfThousands) {
    // A ring of 20 has ten eigenvalues beside that of the mean: ten exchanges leave nothing, and
    // would multiply what is rounded away in each. So messages of 4 bits are refused.
    const MixingMatrix mixing = mixing_to_combine(test::make_graph(Topology::ring, 20));
    const auto size_of_weights = [&](int steps) {
        const GossipPolynomial gossip =
            optimal_gossip(mixing, steps, gain_of_horizon(), NoiseKind::correlated);
        double sum = 0;
        for (int k = 0; k <= steps; ++k) sum += std::abs(gossip.share(k));
        return sum;
    };
    EXPECT_NEAR(size_of_weights(2), 2.2, 0.2);
    EXPECT_GT(size_of_weights(10), 1000);
}

TEST(OptimalGossip, IsThatOfOneExchangeWhereThisIsConsensus) {
    const MixingMatrix mixing = mixing_to_combine(test::make_graph(Topology::complete, 5));
    EXPECT_TRUE(optimal_gossip(mixing, 3, gain_of_horizon(), NoiseKind::correlated).plain());
}

TEST(OptimalGossip, IsRefusedWhereEigenvaluesAreNotReal) {
    const MixingMatrix uneven =
        MixingMatrix::from_rule(test::make_graph(Topology::star, 4), MixingRule::row_stochastic);
    EXPECT_THROW((void)optimal_gossip(uneven, 2, gain_of_horizon(), NoiseKind::correlated),
                 ConfigError);
}

}  // namespace
}  // namespace sotto
