#include "views/observation_model.hpp"

#include <algorithm>
#include <map>

#include "views/message_step.hpp"
#include "views/view_rounds.hpp"

namespace sotto {

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
