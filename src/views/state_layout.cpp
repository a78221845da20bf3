#include "views/state_layout.hpp"

#include <algorithm>

namespace sotto {

StateLayouts::StateLayouts(const ViewRounds& rounds)
    : rounds_(rounds), gossip_steps_(rounds.process().gossip.steps()) {
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

/// Whether the messages of one exchange before a step are needed after it: by the next step, or by
/// the rounds that start from what the last step makes.
bool StateLayouts::needs_before(long round, int step) const {
    return rounds_.same_to_all() && rounds_.gossip_at(round).before(step) != 0;
}

StateLayout StateLayouts::after(long round, int step) const {
    StateLayout layout;
    layout.present = rounds_.same_to_all()       ? &rounds_.agents_at(round).hidden
                     : step == gossip_steps_ - 1 ? &agents_after(round)
                                                 : &rounds_.agents_at(round).others;
    layout.size = layout.present->size();
    if (needs_before(round, step)) {
        layout.before = layout.size;
        layout.size += layout.present->size();
    }
    for (const auto& [end, until] : needed_again_) {
        if (end >= round || until <= round) continue;
        const auto same = [end = end](const StatePart& part) { return part.round == end; };
        if (std::ranges::any_of(layout.kept, same)) continue;
        StatePart& part = layout.kept.emplace_back(
            StatePart{.round = end, .agents = &agents_after(end), .offset = layout.size});
        layout.size += part.agents->size();
        if (!needs_before(end, gossip_steps_ - 1)) continue;
        part.before = layout.size;
        layout.size += part.agents->size();
    }
    return layout;
}

StateLayout StateLayouts::before(long round, int step) const {
    if (step > 0) return after(round, step - 1);
    if (round > 0) return after(round - 1, gossip_steps_ - 1);
    return {.present = &nobody_, .kept = {}};
}

/// What was at the end of some round, in the state before the first gossip step of a later one.
StatePart StateLayouts::part_after(long end, long round, const StateLayout& before) const {
    if (end == ProcessRounds::beginning) return {.round = end, .agents = &nobody_};
    if (end == round - 1) return {end, before.present, 0, before.before};
    return *std::ranges::find_if(before.kept,
                                 [end](const StatePart& part) { return part.round == end; });
}

StatePart StateLayouts::origin(long round, int step) const {
    const StateLayout state = before(round, step);
    if (step > 0) return {round, state.present, 0, state.before};
    return part_after(rounds_.start_of(round), round, state);
}

Exchange StateLayouts::exchange(long round, int step) const {
    const long made_in = step > 0 ? round : rounds_.start_of(round);
    if (made_in == ProcessRounds::beginning) return {};
    const GossipPolynomial& gossip = rounds_.gossip_at(made_in);
    const int made_by = step > 0 ? step - 1 : gossip_steps_ - 1;
    return {gossip.here(made_by), gossip.before(made_by)};
}

StepEntries StateLayouts::blank_step(long round, int step) const {
    const StateLayout from_layout = before(round, step);
    const StateLayout to_layout = after(round, step);
    StepEntries entries;
    entries.previous = from_layout.size;
    entries.state.rows = to_layout.size;
    const auto carry = [&](Eigen::Index to, Eigen::Index from, Eigen::Index count) {
        for (Eigen::Index i = 0; i < count; ++i)
            entries.state.from_state.emplace_back(
                static_cast<int>(to + i), static_cast<int>(from + i), 1.0);
    };
    if (to_layout.before != StatePart::none)
        carry(to_layout.before, 0, to_layout.present->size());  // of the same round: before_0 = 0
    const long now = step > 0 ? round + 1 : round;  // in a round nothing new is to be kept
    for (const StatePart& part : to_layout.kept) {
        const StatePart from = part_after(part.round, now, from_layout);
        carry(part.offset, from.offset, part.agents->size());
        if (part.before != StatePart::none) carry(part.before, from.before, part.agents->size());
    }
    return entries;
}

}  // namespace sotto
