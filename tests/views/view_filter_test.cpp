#include "views/view_filter.hpp"

#include <gtest/gtest.h>

#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(ViewFilter, FindsNoMoreNoiseInGossipStepsThanTheRoundAdded) {
    // Once a view knows all noise of a round, what is left of its covariance is rounding.
    constexpr int agents = 16;
    constexpr long rounds = 24;
    const View view{View::Kind::neighbours, {3, 8, 9}};
    const NoisePlan plan = unit_plan(agents);
    for (const Topology topology :
         {Topology::path, Topology::grid, Topology::erdos_renyi, Topology::hypercube})
        for (const int gossip_steps : {2, 3, 4, 8}) {
            const Graph graph = make_graph(topology, agents);
            const MessageProcess process =
                process_of(graph, plan, {fixed_phase(metropolis(graph), rounds)}, gossip_steps);
            const LaggedNoise noise = lagged_noise({}, rounds, 0);
            const ObservationModel model = make_observation_model(process, view, {noise});
            const ViewFilter filter(model);
            Eigen::Index covered = 0;
            for (long time = 0; time < rounds * gossip_steps; ++time)
                covered += filter.at(time).whitening.rows.rows();
            EXPECT_LE(covered, (agents - 3) * rounds)
                << name_of(topology) << ", " << gossip_steps << " gossip steps";
        }
}

}  // namespace
}  // namespace sotto
