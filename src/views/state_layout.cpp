#include "views/state_layout.hpp"

#include <algorithm>

namespace sotto {

StateLayouts::StateLayouts(const ViewRounds& rounds)
    : rounds_(rounds), gossip_steps_(rounds.process().gossip_steps) {
    // A round whose models are not those of the round before it: they must be kept till then.
    for (long t = 0; t < rounds.count(); ++t)
        if (const long end = rounds.start_of(t); end != ProcessRounds::beginning && end != t - 1)
            needed_again_.emplace_back(end, t);
}

/// Who makes up the state after the last gossip step of a round: what they sent, or their models
/// where receivers get messages of their own.
const AgentIndex& StateLayouts::agents_after(long round) const {
    return rounds_.same_to_all()
               ? rounds_.agents_at(round).hidden
               : rounds_.agents_at(std::min(round + 1, rounds_.count() - 1)).others;
}

StateLayout StateLayouts::after(long round, int step) const {
    StateLayout layout;
    layout.present = rounds_.same_to_all()       ? &rounds_.agents_at(round).hidden
                     : step == gossip_steps_ - 1 ? &agents_after(round)
                                                 : &rounds_.agents_at(round).others;
    layout.size = layout.present->size();
    for (const auto& [end, until] : needed_again_) {
        if (end >= round || until <= round) continue;
        const auto same = [end = end](const StatePart& part) { return part.round == end; };
        if (std::ranges::any_of(layout.kept, same)) continue;
        layout.kept.push_back({end, &agents_after(end), layout.size});
        layout.size += layout.kept.back().agents->size();
    }
    return layout;
}

StateLayout StateLayouts::before(long round, int step) const {
    if (step > 0) return after(round, step - 1);
    if (round > 0) return after(round - 1, gossip_steps_ - 1);
    return {&nobody_, {}, 0};
}

/// What was at the end of some round, in the state before the first gossip step of a later one.
StatePart StateLayouts::part_after(long end, long round, const StateLayout& before) const {
    if (end == ProcessRounds::beginning) return {end, &nobody_, 0};
    if (end == round - 1) return {end, before.present, 0};
    return *std::ranges::find_if(before.kept,
                                 [end](const StatePart& part) { return part.round == end; });
}

StatePart StateLayouts::origin(long round, int step) const {
    const StateLayout state = before(round, step);
    if (step > 0) return {round, state.present, 0};
    return part_after(rounds_.start_of(round), round, state);
}

StepEntries StateLayouts::blank_step(long round, int step) const {
    const StateLayout from_layout = before(round, step);
    const StateLayout to_layout = after(round, step);
    StepEntries entries;
    entries.previous = from_layout.size;
    entries.state.rows = to_layout.size;
    const long now = step > 0 ? round + 1 : round;  // in a round nothing new is to be kept
    for (const StatePart& part : to_layout.kept) {
        const StatePart from = part_after(part.round, now, from_layout);
        for (Eigen::Index i = 0; i < part.agents->size(); ++i)
            entries.state.from_state.emplace_back(
                static_cast<int>(part.offset + i), static_cast<int>(from.offset + i), 1.0);
    }
    return entries;
}

}  // namespace sotto
