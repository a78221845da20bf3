#include "views/message_step.hpp"

namespace sotto {

namespace {

/// Writes messages of one gossip step, each the same to all receivers, as rows of functions of the
/// state, the noise and the inputs.
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
    const MixingMatrix* mixing_;  // which made the models that are sent; null: all are known
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

}  // namespace sotto
