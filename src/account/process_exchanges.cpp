#include "account/process_exchanges.hpp"

#include <vector>

#include "planning/configured_gossip.hpp"

namespace sotto {

namespace {

/// Of those who are there: weights of exchanges follow from their mixing alone.
GossipPolynomial gossip_of_phase(const PlanConfig& plan, const Graph& graph, const Phase& phase) {
    const MixingMatrix& mixing = phase.mixing.at(0);
    if (phase.departed.empty() || plan.gossip == GossipRule::plain)
        return configured_gossip(plan, mixing);
    std::vector<int> there;
    for (int u = 0; u < graph.agents(); ++u)
        if (!phase.has_departed(u)) there.push_back(u);
    const Eigen::MatrixXd dense = mixing.dense();
    return configured_gossip(
        plan, MixingMatrix::from_dense(graph.induced_subgraph(there), dense(there, there)));
}

}  // namespace

void set_exchanges(MessageProcess& process, const PlanConfig& plan) {
    process.momentum = plan.momentum;
    if (process.phases.empty()) return;
    process.gossip = gossip_of_phase(plan, *process.graph, process.phases.front());
    for (Phase& phase : process.phases) phase.gossip = gossip_of_phase(plan, *process.graph, phase);
    process.final_gossip = final_gossip_steps(plan, process.phases.back().mixing);
}

}  // namespace sotto
