#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/design/spatial_solver.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(Corn, InjectsTheOptimalCovarianceFromOneSharedSeed) {
    for (const auto& setting : settings({7})) {
        SCOPED_TRACE(setting.named.name);
        const DesignInput input = setting.input(20);
        const Design design = design_of("corn", input);
        const SpatialSolution solution =
            solve_spatial_covariance(utility_matrix(*input.mixing, input.utility, 1), input.kappa);
        EXPECT_TRUE(spatial_covariance(design.plan).isApprox(solution.covariance, 1e-8));
        ASSERT_EQ(design.plan.groups.size(), 1U);
        EXPECT_EQ(design.plan.groups[0].members.size(), 7U);
        EXPECT_EQ(design.plan.streams_per_agent(), 7);
        EXPECT_EQ(design.plan.rows[0].streams.size(), 1U);
    }
}

TEST(Corn, ApproachesCentralNoiseOnTheCompleteGraph) {
    for (const int n : {3, 10, 20}) {
        const Graph graph = make_graph(Topology::complete, n);
        const Setting setting{{"complete", graph},
                              MixingMatrix::from_rule(graph, MixingRule::uniform)};
        for (const long horizon : {1L, 200L}) {
            const Design corn = design_of("corn", setting.input(horizon));
            const Design cdp = design_of("cdp", setting.input(horizon));
            EXPECT_TRUE(relatively_near(corn.objective, cdp.objective, 1e-2)) << n;
            EXPECT_GE(corn.objective, cdp.objective * (1 - 1e-12));
            EXPECT_TRUE(corn.capped);
        }
    }
}

}  // namespace
}  // namespace sotto
