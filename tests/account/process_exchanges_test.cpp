#include "account/process_exchanges.hpp"

#include <gtest/gtest.h>

#include "account/departures.hpp"
#include "planning/configured_gossip.hpp"
#include "sotto/graph/mixing_file.hpp"
#include "sotto/graph/topology.hpp"

namespace sotto {
namespace {

const Graph& ring() {
    static const Graph graph = [] {
        TopologySpec spec;
        spec.topology = Topology::ring;
        spec.agents = 7;
        return make_topology(spec).graph;
    }();
    return graph;
}

Phase phase_of(MixingSchedule mixing, std::vector<int> departed = {}) {
    return {.rounds = 5, .mixing = std::move(mixing), .departed = std::move(departed)};
}

MessageProcess process_of(std::vector<Phase> phases) {
    MessageProcess process;
    process.graph = &ring();
    process.phases = std::move(phases);
    return process;
}

TEST(SetExchanges, TakesWhatTheConfigurationSays) {
    PlanConfig plan;
    plan.gossip_steps = 3;
    plan.momentum = 0.5;
    plan.final_gossip = 4;
    MessageProcess process =
        process_of({phase_of(MixingSchedule({make_mixing(ring(), "metropolis")}))});
    set_exchanges(process, plan);
    EXPECT_EQ(process.gossip.steps(), 3);
    EXPECT_TRUE(process.gossip.plain());
    EXPECT_EQ(process.momentum, 0.5);
    EXPECT_EQ(process.final_gossip, 4);
    set_exchanges(process, PlanConfig{});
    EXPECT_EQ(process.gossip.steps(), 1);
    EXPECT_EQ(process.momentum, 0);
    EXPECT_EQ(process.final_gossip, 0);
}

TEST(SetExchanges, WeighsExchangesByTheMixingOfThoseWhoAreThere) {
    PlanConfig plan;
    plan.gossip_steps = 4;
    plan.gossip = GossipRule::chebyshev;
    const std::vector<int> left{0, 1, 2, 3, 4, 6};
    const Graph between = ring().induced_subgraph(left);
    const MixingMatrix fewer = make_mixing(between, "metropolis");
    Membership members = Membership::everybody(7);
    members.numbers = left;
    MessageProcess process =
        process_of({phase_of(MixingSchedule({make_mixing(ring(), "metropolis")})),
                    phase_of(MixingSchedule({mixing_of_all(ring(), fewer, members)}), {5})});
    set_exchanges(process, plan);
    const GossipPolynomial of_all = configured_gossip(plan, make_mixing(ring(), "metropolis"));
    const GossipPolynomial of_fewer = configured_gossip(plan, fewer);
    for (int k = 0; k < 4; ++k) {
        EXPECT_EQ(process.gossip_of(process.phases[0]).here(k), of_all.here(k));
        EXPECT_EQ(process.gossip_of(process.phases[1]).here(k), of_fewer.here(k));
    }
    EXPECT_NE(of_all.here(1), of_fewer.here(1));
}

}  // namespace
}  // namespace sotto
