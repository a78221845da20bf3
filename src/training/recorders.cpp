#include "training/recorders.hpp"

#include <algorithm>

#include "sotto/agent/recording/recorded_seeds.hpp"

namespace sotto {

namespace {

Received received_in(const Run& run) {
    if (run.plan.aggregation == Aggregation::trusted_mean) return Received::mean;
    return run.config.secure_sum ? Received::sum : Received::messages;
}

/// A round. A trusted aggregator takes one mean.
int exchanges_of(const Run& run) {
    return run.plan.aggregation == Aggregation::trusted_mean ? 1 : run.config.plan.gossip_steps;
}

}  // namespace

Recorders::Recorders(const Run& run,
                     std::span<const KeyRing> rings,
                     const std::filesystem::path& folder,
                     Eigen::Index dimension) {
    const std::vector<int>& recorded = run.config.record_views;
    const Graph& graph = run.topography.graph;
    const auto local = run.network.local_agents();
    const int exchanges = exchanges_of(run);
    if (!recorded.empty())
        views_ = std::make_unique<ViewRecorder>(
            folder,
            local,
            recorded,
            graph,
            run.plan,
            ViewRecorder::Setup{dimension, received_in(run), exchanges, run.key_epoch});
    for (const KeyRing& ring : rings)
        if (std::ranges::find(recorded, ring.agent()) != recorded.end())
            record_seeds(folder, run.plan, ring);
    if (run.config.record_wire)
        wire_ = std::make_unique<WireRecorder>(
            folder / "wire",
            local,
            graph,
            run.plan,
            WireRecorder::Setup{dimension,
                                run.config.secure_sum ? WireContent::shares : WireContent::messages,
                                exchanges,
                                run.key_epoch});
}

void Recorders::observe(Trainer& trainer) const {
    if (views_) trainer.observe(views_.get());
    if (wire_) trainer.observe(wire_.get());
}

void Recorders::finish() const {
    if (views_) views_->finish();
    if (wire_) wire_->finish();
}

}  // namespace sotto
