#include "sotto/agent/recording/recording_header.hpp"

#include <algorithm>

#include "sotto/core/hash.hpp"

namespace sotto {

Eigen::Index RecordingHeader::column_of(int receiver) const {
    const auto place = std::ranges::find(outputs, receiver);
    return place == outputs.end() ? -1 : place - outputs.begin();
}

RecordingHeader recording_header(int agent,
                                 const Graph& graph,
                                 const NoisePlan& plan,
                                 Eigen::Index dimension,
                                 int gossip_steps,
                                 std::uint32_t key_epoch) {
    RecordingHeader header;
    header.agent = agent;
    header.agents = graph.agents();
    header.dimension = dimension;
    const auto neighbours = graph.neighbours(agent);
    header.neighbours.assign(neighbours.begin(), neighbours.end());
    const auto receivers = graph.closed_neighbourhood(agent);
    header.outputs.assign(receivers.begin(), receivers.end());
    if (plan.same_message_to_all()) header.outputs = {NoiseRow::all_receivers};
    header.gossip_steps = gossip_steps;
    header.key_epoch = key_epoch;
    header.plan_hash = to_hex(plan.hash());
    return header;
}

}  // namespace sotto
