#include "design/utility_probes.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "design/noise_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

using Pairs = std::vector<std::pair<int, int>>;

struct Probed {
    Graph graph = make_graph(Topology::erdos_renyi, 150, 3, 0.05);
    MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    Pairs pairs{graph.edges().begin(), graph.edges().end()};
};

TEST(UtilityProbes, EstimateTheUtilityOfAgentsAndPairs) {
    const Probed probed;
    constexpr int probes = 512;
    constexpr double deviations = 5;
    for (const long horizon : {1L, 20L, 200L}) {
        const Utility utility{Utility::Kind::horizon, horizon};
        const Eigen::MatrixXd m = utility_matrix(probed.mixing, utility, 100);
        const NoiseCosts costs = estimate_costs(probed.mixing,
                                                probe_polynomial(UtilityGain(utility, 100, 1, {})),
                                                probed.pairs,
                                                probes,
                                                7);
        const double relative = deviations * std::sqrt(2.0 / probes);
        for (int u = 0; u < probed.graph.agents(); ++u)
            EXPECT_NEAR(costs.agents(u), m(u, u), relative * m(u, u) + 1e-3);
        for (std::size_t k = 0; k < probed.pairs.size(); ++k) {
            const auto [u, v] = probed.pairs[k];
            const double exact = m(u, u) + m(v, v) - 2 * m(u, v);
            EXPECT_NEAR(costs.pairs(static_cast<Eigen::Index>(k)), exact, relative * exact + 1e-3);
        }
    }
}

TEST(UtilityProbes, EstimateTheObjectiveWithItsError) {
    const Probed probed;
    const Utility utility{Utility::Kind::horizon, 200};
    const Eigen::MatrixXd m = utility_matrix(probed.mixing, utility, 100);
    const Eigen::Index n = probed.graph.agents();
    const Eigen::VectorXd own = Eigen::VectorXd::LinSpaced(n, 0.1, 0.5);
    const Eigen::VectorXd shared = Eigen::VectorXd::LinSpaced(std::ssize(probed.pairs), 0.3, 0.05);
    double exact = m.diagonal().dot(own);
    for (std::size_t k = 0; k < probed.pairs.size(); ++k) {
        const auto [u, v] = probed.pairs[k];
        exact += shared(static_cast<Eigen::Index>(k)) * (m(u, u) + m(v, v) - 2 * m(u, v));
    }
    const Estimate estimate = estimate_objective(probed.mixing,
                                                 probe_polynomial(UtilityGain(utility, 100, 1, {})),
                                                 probed.pairs,
                                                 own,
                                                 shared,
                                                 256,
                                                 3);
    EXPECT_GT(estimate.standard_error, 0);
    EXPECT_LT(estimate.standard_error, 0.05 * exact);
    EXPECT_NEAR(estimate.value, exact, 5 * estimate.standard_error);
}

}  // namespace
}  // namespace sotto
