#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "noise/mechanism_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(Decor, AddsOneCancellingStreamPerEdge) {
    for (const auto& setting : settings({7})) {
        SCOPED_TRACE(setting.named.name);
        const Graph& graph = setting.named.graph;
        const Design design = design_of("decor", setting.input(200));
        const Eigen::MatrixXd covariance = spatial_covariance(design.plan);
        ASSERT_EQ(design.plan.streams.size(), 7 + graph.edges().size());
        const double edge_variance = -covariance(graph.edges()[0].first, graph.edges()[0].second);
        EXPECT_GT(edge_variance, 0);
        const Eigen::MatrixXd rest = covariance - edge_variance * laplacian_of(graph);
        EXPECT_TRUE(rest.isApprox(rest(0, 0) * Eigen::MatrixXd::Identity(7, 7), 1e-7));
        // Only its two ends hold the seed of an edge.
        for (std::size_t e = 0; e < graph.edges().size(); ++e) {
            const auto group = static_cast<std::size_t>(design.plan.streams[7 + e].group);
            EXPECT_EQ(design.plan.groups[group].members,
                      (std::vector<int>{graph.edges()[e].first, graph.edges()[e].second}));
        }
    }
}

TEST(Decor, HasAnHonestVarianceAgainstColludingAgents) {
    for (const auto& setting : settings({6, 9})) {
        SCOPED_TRACE(setting.named.name);
        double before = 0;
        for (const int q : {0, 1, 2, 5}) {
            DesignInput input = setting.input(20);
            input.coalition_size = q;
            const Design design = design_of("decor", input);
            EXPECT_LE(coalition_precision(design.plan, q).maxCoeff(), 1 + 1e-9);
            EXPECT_GE(design.objective, before * (1 - 1e-9));  // more colluders, more noise
            EXPECT_LE(design.lower_bound, design.objective * (1 + 1e-12));
            before = design.objective;
        }
    }
}

}  // namespace
}  // namespace sotto
