#include "run/recorders.hpp"

#include <algorithm>

#include "sotto/agent/recording/recorded_seeds.hpp"

namespace sotto {

void Recorders::open(const TrainConfig& config,
                     const Network& network,
                     const Graph& graph,
                     const NoisePlan& plan,
                     std::span<const KeyRing> rings,
                     const std::filesystem::path& folder,
                     Eigen::Index dimension,
                     std::uint32_t key_epoch) {
    const bool mean = plan.aggregation == Aggregation::trusted_mean;
    // A trusted aggregator takes one mean a round.
    const int exchanges = mean ? 1 : config.plan.gossip_steps;
    const auto recorded = [&](int agent) {
        return std::ranges::find(config.record_views, agent) != config.record_views.end();
    };
    if (!config.record_views.empty())
        views_.emplace(folder,
                       network.local_agents(),
                       config.record_views,
                       graph,
                       plan,
                       ViewRecorder::Setup{dimension,
                                           mean                ? Received::mean
                                           : config.secure_sum ? Received::sum
                                                               : Received::messages,
                                           exchanges,
                                           key_epoch});
    for (const KeyRing& ring : rings)
        if (recorded(ring.agent())) record_seeds(folder, plan, ring);
    if (config.record_wire)
        wire_.emplace(
            folder / "wire",
            network.local_agents(),
            graph,
            plan,
            WireRecorder::Setup{dimension,
                                config.secure_sum ? WireContent::shares : WireContent::messages,
                                exchanges,
                                key_epoch});
}

void Recorders::observe(Trainer& trainer) {
    if (views_) trainer.observe(&*views_);
    if (wire_) trainer.observe(&*wire_);
}

void Recorders::finish() {
    if (views_) views_->finish();
    if (wire_) wire_->finish();
}

}  // namespace sotto
