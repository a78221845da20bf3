#include "views/receiver_step.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace sotto {

namespace {

using Coefficients = std::vector<std::pair<int, double>>;  // (place among the sources, coefficient)

/// Writes messages of one gossip step, each to one receiver, as rows of functions of the state, the
/// noise and the inputs.
class ReceiverMessages {
  public:
    ReceiverMessages(const ViewRounds& rounds, const StateLayouts& layouts, long round, int step)
        : rounds_(rounds),
          round_(round),
          agents_(rounds.agents_at(round)),
          injects_(step == 0),
          models_(layouts.origin(round, step)),
          mixing_(rounds.mixing_at(round)) {}

    /// The message of a sender that a receiver gets, times the factor.
    void add(RowEntries& rows, int row, int sender, int receiver, double factor) const {
        if (agents_.others.of(sender) < 0 || factor == 0) return;
        if (const int place = models_.of(sender); place >= 0)
            rows.from_state.emplace_back(row, place, factor);
        if (!injects_ || !agents_.present[static_cast<std::size_t>(sender)]) return;
        for (const auto& [source, value] : coefficients(sender, receiver))
            rows.from_sources.emplace_back(row, source, factor * value);
        rows.from_inputs.emplace_back(row, sender, factor);
    }
    /// The weighted sum of what a receiver gets.
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
    /// What the sender adds for the receiver.
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

}  // namespace sotto
