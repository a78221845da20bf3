#include "views/observation_model.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "views/view_rounds.hpp"

namespace sotto {

StateLayouts::StateLayouts(const ViewRounds& rounds)
    : rounds_(rounds), gossip_steps_(rounds.process().gossip.steps()) {
    // A round that does not start from the previous round's models: they must be kept.
    for (long t = 0; t < rounds.count(); ++t)
        if (const long end = rounds.start_of(t); end != ProcessRounds::beginning && end != t - 1)
            needed_again_.emplace_back(end, t);
}

/// Agents of the state after the last gossip step of a round: their messages, or models if messages
/// depend on the receiver.
const AgentIndex& StateLayouts::agents_after(long round) const {
    return rounds_.same_to_all()
               ? rounds_.agents_at(round).hidden
               : rounds_.agents_at(std::min(round + 1, rounds_.count() - 1)).others;
}

/// Whether messages of one exchange before a step are needed after it, by the next step or by
/// rounds that start from the last step's result.
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

/// The part of the state before the first step of `round` that stems from the end of round `end`.
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
    const long now = step > 0 ? round + 1 : round;  // nothing new is kept during a round
    for (const StatePart& part : to_layout.kept) {
        const StatePart from = part_after(part.round, now, from_layout);
        carry(part.offset, from.offset, part.agents->size());
        if (part.before != StatePart::none) carry(part.before, from.before, part.agents->size());
    }
    return entries;
}

namespace {

/// Writes messages of one gossip step, the same to all receivers, as rows of functions of state,
/// noise and inputs.
class BroadcastMessages {
  public:
    BroadcastMessages(const ViewRounds& rounds, const StateLayouts& layouts, long round, int step)
        : agents_(rounds.agents_at(round)),
          sources_(rounds.sources_at(round).index),
          injects_(step == 0),
          sent_(layouts.origin(round, step)),
          exchange_(layouts.exchange(round, step)),
          mixing_(sent_.round == ProcessRounds::beginning ? nullptr
                                                          : &rounds.mixing_at(sent_.round)) {}

    void add(RowEntries& rows, int row, int sender, double factor) const {
        if (mixing_ != nullptr) {
            const auto members = mixing_->members(sender);
            const auto weights = mixing_->weights(sender);
            for (std::size_t j = 0; j < members.size(); ++j)
                if (const int place = sent_.of(members[j]); place >= 0 && weights[j] != 0)
                    rows.from_state.emplace_back(row, place, factor * exchange_.here * weights[j]);
            if (const int place = sent_.before_of(sender); place >= 0)
                rows.from_state.emplace_back(row, place, -factor * exchange_.before);
        }
        if (!injects_ || !agents_.present[static_cast<std::size_t>(sender)]) return;
        rows.from_sources.emplace_back(row, sources_.of(sender), factor);
        rows.from_inputs.emplace_back(row, sender, factor);
    }

  private:
    const PhaseAgents& agents_;
    const AgentIndex& sources_;
    bool injects_;
    StatePart sent_;
    Exchange exchange_;
    const MixingMatrix* mixing_;  // mixing of the models that are sent; null: all are known
};

RowEntries observed_sums(const BroadcastMessages& messages,
                         const PhaseAgents& agents,
                         const MixingMatrix& mixing) {
    RowEntries observed;
    for (const int a : agents.watch) {
        const auto row = static_cast<int>(observed.rows++);
        const auto members = mixing.members(a);
        const auto weights = mixing.weights(a);
        for (std::size_t j = 0; j < members.size(); ++j)
            if (agents.hidden.of(members[j]) >= 0 && weights[j] != 0)
                messages.add(observed, row, members[j], weights[j]);
    }
    return observed;
}

RowEntries observed_messages(const BroadcastMessages& messages, const PhaseAgents& agents) {
    RowEntries observed;
    for (const int v : agents.seen)
        messages.add(observed, static_cast<int>(observed.rows++), v, 1.0);
    return observed;
}

}  // namespace

StepEntries message_step(const ViewRounds& rounds,
                         const StateLayouts& layouts,
                         long round,
                         int step) {
    const PhaseAgents& agents = rounds.agents_at(round);
    const BroadcastMessages messages(rounds, layouts, round, step);
    StepEntries entries = layouts.blank_step(round, step);
    for (Eigen::Index i = 0; i < agents.hidden.size(); ++i)
        messages.add(entries.state,
                     static_cast<int>(i),
                     agents.hidden.agents[static_cast<std::size_t>(i)],
                     1.0);
    entries.observed = rounds.view().kind == View::Kind::secure_sum
                           ? observed_sums(messages, agents, rounds.mixing_at(round))
                           : observed_messages(messages, agents);
    return entries;
}

namespace {

using Coefficients = std::vector<std::pair<int, double>>;  // (index among the sources, coefficient)

/// Writes messages of one gossip step, one per receiver, as rows of functions of state, noise and
/// inputs.
class ReceiverMessages {
  public:
    ReceiverMessages(const ViewRounds& rounds, const StateLayouts& layouts, long round, int step)
        : rounds_(rounds),
          round_(round),
          agents_(rounds.agents_at(round)),
          injects_(step == 0),
          models_(layouts.origin(round, step)),
          mixing_(rounds.mixing_at(round)) {}

    /// Adds the message from sender to receiver, times the factor.
    void add(RowEntries& rows, int row, int sender, int receiver, double factor) const {
        if (agents_.others.of(sender) < 0 || factor == 0) return;
        if (const int place = models_.of(sender); place >= 0)
            rows.from_state.emplace_back(row, place, factor);
        if (!injects_ || !agents_.present[static_cast<std::size_t>(sender)]) return;
        for (const auto& [source, value] : coefficients(sender, receiver))
            rows.from_sources.emplace_back(row, source, factor * value);
        rows.from_inputs.emplace_back(row, sender, factor);
    }
    /// Adds the weighted sum of a receiver's messages.
    void add_sum(RowEntries& rows, int row, int receiver) const {
        const auto members = mixing_.members(receiver);
        const auto weights = mixing_.weights(receiver);
        for (std::size_t j = 0; j < members.size(); ++j)
            add(rows, row, members[j], receiver, weights[j]);
    }
    /// Whether all receivers get the same message of this sender.
    [[nodiscard]] bool same_to_all(int sender) const {
        return !injects_ || same_noise_to_all(rounds_.plan_at(round_), sender);
    }

  private:
    /// Noise that the sender adds for the receiver.
    [[nodiscard]] Coefficients coefficients(int sender, int receiver) const {
        Coefficients result;
        if (rounds_.view().has_member(sender)) return result;
        const NoisePlan& plan = rounds_.plan_at(round_);
        const AgentIndex& sources = rounds_.sources_at(round_).index;
        const auto& rows = plan.rows;
        auto row = std::lower_bound(rows.begin(), rows.end(), sender, [](const NoiseRow& r, int s) {
            return r.sender < s;
        });
        for (; row != rows.end() && row->sender == sender; ++row) {
            if (row->receiver != NoiseRow::all_receivers && row->receiver != receiver) continue;
            for (std::size_t j = 0; j < row->streams.size(); ++j)
                if (const int place = sources.of(row->streams[j]); place >= 0)
                    result.emplace_back(place, plan.scale * row->coefficients[j]);
        }
        return result;
    }

    const ViewRounds& rounds_;
    long round_;
    const PhaseAgents& agents_;
    bool injects_;
    StatePart models_;
    const MixingMatrix& mixing_;
};

RowEntries observed_sums(const ReceiverMessages& messages, const PhaseAgents& agents) {
    RowEntries observed;
    for (const int a : agents.watch)
        messages.add_sum(observed, static_cast<int>(observed.rows++), a);
    return observed;
}

RowEntries observed_messages(const ReceiverMessages& messages,
                             const PhaseAgents& agents,
                             const Graph& graph,
                             const View& view) {
    RowEntries observed;
    for (const int v : agents.seen) {
        const bool same = messages.same_to_all(v);
        for (const int r : graph.hearers(v)) {
            if (!agents.present[static_cast<std::size_t>(r)]) continue;
            if (view.kind != View::Kind::all_messages && !view.has_member(r)) continue;
            messages.add(observed, static_cast<int>(observed.rows++), v, r, 1.0);
            if (same) break;
        }
    }
    return observed;
}

}  // namespace

StepEntries receiver_step(const ViewRounds& rounds,
                          const StateLayouts& layouts,
                          long round,
                          int step) {
    const PhaseAgents& agents = rounds.agents_at(round);
    const ReceiverMessages messages(rounds, layouts, round, step);
    const StateLayout after = layouts.after(round, step);
    StepEntries entries = layouts.blank_step(round, step);
    for (Eigen::Index i = 0; i < after.present->size(); ++i)
        messages.add_sum(
            entries.state, static_cast<int>(i), after.present->agents[static_cast<std::size_t>(i)]);
    entries.observed =
        rounds.view().kind == View::Kind::secure_sum
            ? observed_sums(messages, agents)
            : observed_messages(messages, agents, *rounds.process().graph, rounds.view());
    return entries;
}

namespace {

/// Replaces the fresh noise of these rows by v(t).
/// @param past index of h_1 in the previous state.
void correlate(RowEntries& rows, const ViewRounds& rounds, long round, int past) {
    const LaggedNoise& noise = rounds.noise_at(round);
    const long within = rounds.within_stretch(round);
    const auto sources = static_cast<int>(rounds.sources_at(round).index.size());
    const double scale = noise.lags > 0 ? rounds.noise_factor(round) : 1.0;
    for (const auto& entry : std::exchange(rows.from_sources, {})) {
        rows.from_sources.emplace_back(
            entry.row(), entry.col(), scale * noise.fresh(within) * entry.value());
        if (within == 0) continue;
        for (int j = 0; j < noise.lags; ++j)
            if (noise.past(within, j) != 0)
                rows.from_state.emplace_back(entry.row(),
                                             past + j * sources + entry.col(),
                                             scale * noise.past(within, j) * entry.value());
    }
}

/// h_1, h_2, ... after a round that drew noise: h_1 is its noise, the others shift.
void add_shifted(RowEntries& state, const LaggedNoise& noise, long within, int sources, int past) {
    const auto begin = static_cast<int>(state.rows);
    for (int i = 0; i < sources && noise.lags > 0; ++i) {
        state.from_sources.emplace_back(
            begin + i, i, noise.remembers_noise ? noise.fresh(within) : 1.0);
        if (within == 0) continue;
        for (int j = 0; j < noise.lags; ++j) {
            if (noise.remembers_noise && noise.past(within, j) != 0)
                state.from_state.emplace_back(
                    begin + i, past + j * sources + i, noise.past(within, j));
            if (j + 1 < noise.lags)
                state.from_state.emplace_back(
                    begin + (j + 1) * sources + i, past + j * sources + i, 1.0);
        }
    }
}

/// h_1, h_2, ... after a gossip step without noise.
void add_unchanged(RowEntries& state, int lags, int sources, int past) {
    const auto begin = static_cast<int>(state.rows);
    for (int i = 0; i < sources; ++i)
        for (int j = 0; j < lags; ++j)
            state.from_state.emplace_back(begin + j * sources + i, past + j * sources + i, 1.0);
}

}  // namespace

Eigen::Index past_noise_size(const ViewRounds& rounds, long round) {
    return rounds.noise_at(round).lags * rounds.sources_at(round).index.size();
}

StepEntries with_past_noise(StepEntries entries, const ViewRounds& rounds, long round, int step) {
    const LaggedNoise& noise = rounds.noise_at(round);
    const auto sources = static_cast<int>(rounds.sources_at(round).index.size());
    const auto past = static_cast<int>(entries.previous);
    if (step == 0) {
        correlate(entries.state, rounds, round, past);
        correlate(entries.observed, rounds, round, past);
        add_shifted(entries.state, noise, rounds.within_stretch(round), sources, past);
        if (round > 0) entries.previous += past_noise_size(rounds, round - 1);
    } else {
        add_unchanged(entries.state, noise.lags, sources, past);
        entries.previous += past_noise_size(rounds, round);
    }
    entries.state.rows += past_noise_size(rounds, round);
    return entries;
}

namespace {

LinearStep make_step(const ViewRounds& rounds, const StateLayouts& layouts, long round, int step) {
    StepEntries entries = rounds.same_to_all() ? message_step(rounds, layouts, round, step)
                                               : receiver_step(rounds, layouts, round, step);
    return linear_step(with_past_noise(std::move(entries), rounds, round, step),
                       rounds.sources_at(round).covariance,
                       rounds.agents(),
                       rounds.noise_at(round).independent_rounds);
}

/// Everything a step depends on: equal keys mean equal steps.
class StepKeys {
  public:
    StepKeys(const ViewRounds& rounds, const StateLayouts& layouts)
        : rounds_(rounds), layouts_(layouts) {}

    /// The first step of a phase may start from any earlier round, so its key contains the phase
    /// before it.
    std::vector<double> key_of(long round, int step) {
        constexpr double none = -1;
        const bool injects = step == 0;
        const bool same_to_all = rounds_.same_to_all();
        const long start = rounds_.start_of(round);
        std::vector<double> key{injects ? 1.0 : 0.0,
                                mixing_number(round),
                                static_cast<double>(rounds_.phase_number(round)),
                                none,
                                none,
                                none};
        if (injects && round > 0) key[3] = rounds_.phase_number(round - 1);
        if (injects && same_to_all && start != ProcessRounds::beginning)
            key[4] = mixing_number(start);
        if (step == rounds_.process().gossip.steps() - 1 && !same_to_all)
            key[5] = rounds_.phase_number(std::min(round + 1, rounds_.count() - 1));
        const Exchange exchange = layouts_.exchange(round, step);
        key.insert(key.end(), {exchange.here, exchange.before});
        for (const StateLayout& layout :
             {layouts_.before(round, step), layouts_.after(round, step)}) {
            key.push_back(static_cast<double>(layout.before));
            key.push_back(static_cast<double>(layout.kept.size()));
            for (const StatePart& part : layout.kept)
                key.push_back(static_cast<double>(part.round));
        }
        if (injects) append_noise(key, round);
        return key;
    }

  private:
    void append_noise(std::vector<double>& key, long round) const {
        const LaggedNoise& noise = rounds_.noise_at(round);
        const long within = rounds_.within_stretch(round);
        key.push_back(noise.fresh(within));
        if (noise.lags == 0) return;
        key.push_back(rounds_.noise_factor(round));
        for (const double value : noise.past.row(within)) key.push_back(value);
    }
    /// Small number that identifies a mixing matrix.
    double mixing_number(long round) {
        const MixingMatrix* matrix = &rounds_.mixing_at(round);
        return mixing_numbers_.try_emplace(matrix, static_cast<double>(mixing_numbers_.size()))
            .first->second;
    }

    const ViewRounds& rounds_;
    const StateLayouts& layouts_;
    std::map<const MixingMatrix*, double> mixing_numbers_;
};

}  // namespace

long ObservationModel::observed_values() const {
    long sum = 0;
    for (const int step : step_at) sum += steps[static_cast<std::size_t>(step)].observation.rows();
    return sum;
}

Eigen::Index ObservationModel::state_size() const {
    Eigen::Index largest = 0;
    for (const LinearStep& step : steps) largest = std::max(largest, step.transition.rows());
    return largest;
}

ObservationModel make_observation_model(const MessageProcess& process,
                                        const View& view,
                                        const std::vector<LaggedNoise>& noises) {
    const ViewRounds rounds(process, view, noises);
    const StateLayouts layouts(rounds);
    ObservationModel model;
    model.gossip_steps = process.gossip.steps();
    model.rounds = rounds.count();
    for (long t = 0; t < model.rounds; ++t) {
        model.input_scale.push_back(rounds.step_size(t));
        // Past noise in the state is in gradient units, so that the scale is part of the step.
        model.noise_scale.push_back(rounds.noise_at(t).lags > 0 ? 1.0 : rounds.noise_factor(t));
    }
    StepKeys keys(rounds, layouts);
    std::map<std::vector<double>, int> known;
    for (long t = 0; t < model.rounds; ++t)
        for (int k = 0; k < process.gossip.steps(); ++k) {
            const auto [entry, fresh] =
                known.try_emplace(keys.key_of(t, k), static_cast<int>(model.steps.size()));
            if (fresh) model.steps.push_back(make_step(rounds, layouts, t, k));
            model.step_at.push_back(entry->second);
        }
    for (const NoiseSources& sources : rounds.sources())
        model.source_factors.push_back(sources.factor);
    model.stretch_at = rounds.stretches();
    return model;
}

}  // namespace sotto
