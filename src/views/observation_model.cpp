#include "views/observation_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "privacy/unknown_noise.hpp"
#include "views/process_rounds.hpp"

namespace sotto {

namespace {

using Triplets = std::vector<Eigen::Triplet<double>>;
using Coefficients = std::vector<std::pair<int, double>>;  // (stream, coefficient)

SparseRows sparse(Eigen::Index rows, Eigen::Index columns, const Triplets& entries) {
    SparseRows matrix(rows, columns);
    matrix.setFromTriplets(entries.begin(), entries.end());
    return matrix;
}

/// Which agents make up the state, and where; -1 for the others.
struct AgentIndex {
    std::vector<int> agents;
    std::vector<int> place;
    AgentIndex() = default;
    AgentIndex(int all, std::vector<int> chosen)
        : agents(std::move(chosen)), place(static_cast<std::size_t>(all), -1) {
        for (std::size_t i = 0; i < agents.size(); ++i)
            place[static_cast<std::size_t>(agents[i])] = static_cast<int>(i);
    }
    [[nodiscard]] int of(int agent) const {
        return place.empty() ? -1 : place[static_cast<std::size_t>(agent)];
    }
    [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(agents.size()); }
};

/// Who is there, who is seen and who has to be tracked in one phase.
struct PhaseAgents {
    std::vector<bool> present;
    std::vector<int> seen;   ///< not members; the view reads their messages
    std::vector<int> watch;  ///< members that are there
    AgentIndex hidden;       ///< not members, not seen, there now or later
    AgentIndex others;       ///< not members, there now or later
};

/// What agents did not show of themselves at the end of a round, as a part of the state.
struct StatePart {
    long round = 0;
    const AgentIndex* agents = nullptr;
    Eigen::Index offset = 0;
    [[nodiscard]] int of(int agent) const {
        const int place = agents->of(agent);
        return place < 0 ? -1 : static_cast<int>(offset) + place;
    }
};

/// The state without past noise, which follows: the present one, then what a later phase starts
/// from.
struct StateLayout {
    const AgentIndex* present = nullptr;
    std::vector<StatePart> kept;
    Eigen::Index size = 0;
};

/// One stretch's unknown noise.
struct Sources {
    AgentIndex index;  ///< agents, or streams where receivers get noise of their own
    Eigen::SparseMatrix<double> factor;
    SparseRows covariance;
};

/// The entries of a step before its noise has covariances.
struct StepEntries {
    Eigen::Index state = 0, previous = 0, observed = 0;
    Triplets transition, observation, state_source, observed_source, state_input, observed_input;
};

class ModelBuilder {
  public:
    ModelBuilder(const MessageProcess& process,
                 const View& view,
                 const std::vector<LaggedNoise>& noises)
        : process_(process),
          view_(view),
          noises_(noises),
          agents_(process.plan->agents),
          same_to_all_(process.plan->same_message_to_all()),
          rounds_(process_rounds(process)) {
        for (std::size_t i = 0; i < process_.phases.size(); ++i) add_phase(i);
        for (const NoiseStretch& stretch : rounds_.stretches)
            sources_.push_back(sources_of(*stretch.plan));
        // A round whose models are not those of the round before it: they must be kept till then.
        for (long t = 0; t < count(); ++t)
            if (const long end = start_of(t); end != ProcessRounds::beginning && end != t - 1)
                needed_again_.emplace_back(end, t);
    }

    ObservationModel build() {
        ObservationModel model;
        model.gossip_steps = process_.gossip_steps;
        model.rounds = count();
        const bool scaled = process_.plan->entry == NoiseEntry::gradient;
        for (long t = 0; t < model.rounds; ++t) {
            const double step = process_.step_sizes.empty()
                                    ? 1.0
                                    : process_.step_sizes[static_cast<std::size_t>(t)];
            model.input_scale.push_back(step);
            // Past noise in the state is in gradient units: then the scale is part of the step.
            noise_factor_.push_back(scaled ? step : 1.0);
            model.noise_scale.push_back(noise_at(t).lags > 0 ? 1.0 : noise_factor_.back());
        }
        std::map<std::vector<double>, int> known;
        for (long t = 0; t < model.rounds; ++t)
            for (int k = 0; k < process_.gossip_steps; ++k) {
                const auto [entry, fresh] =
                    known.try_emplace(key_of(t, k), static_cast<int>(model.steps.size()));
                if (fresh) model.steps.push_back(make_step(t, k));
                model.step_at.push_back(entry->second);
            }
        for (const Sources& sources : sources_) model.source_factors.push_back(sources.factor);
        model.stretch_at = rounds_.stretch;
        return model;
    }

  private:
    long count() const { return static_cast<long>(rounds_.phase.size()); }
    int phase_number(long round) const { return rounds_.phase[static_cast<std::size_t>(round)]; }
    const PhaseAgents& phase_at(long round) const {
        return phases_[static_cast<std::size_t>(phase_number(round))];
    }
    const MixingMatrix& mixing_at(long round) const {
        return process_.phases[static_cast<std::size_t>(phase_number(round))].mixing.at(
            rounds_.within[static_cast<std::size_t>(round)]);
    }
    std::size_t stretch_at(long round) const {
        return static_cast<std::size_t>(rounds_.stretch[static_cast<std::size_t>(round)]);
    }
    const NoisePlan& plan_at(long round) const {
        return *rounds_.stretches[stretch_at(round)].plan;
    }
    const Sources& sources_at(long round) const { return sources_[stretch_at(round)]; }
    const LaggedNoise& noise_at(long round) const { return noises_[stretch_at(round)]; }
    long within_stretch(long round) const {
        return round - rounds_.stretches[stretch_at(round)].begin;
    }
    /// The round whose resulting models this one starts from, or ProcessRounds::beginning.
    long start_of(long round) const { return rounds_.after[static_cast<std::size_t>(round)]; }
    /// Entries of past noise in the state after a round.
    Eigen::Index lag_size(long round) const {
        return noise_at(round).lags * sources_at(round).index.size();
    }
    /// Small number that stands for a mixing matrix.
    double mixing_number(long round) {
        const MixingMatrix* matrix = &mixing_at(round);
        return mixing_numbers_.try_emplace(matrix, static_cast<double>(mixing_numbers_.size()))
            .first->second;
    }
    bool is_member(int agent) const {
        return std::binary_search(view_.members.begin(), view_.members.end(), agent);
    }

    /// Who makes up the state after the last gossip step of a round: what they sent, or their
    /// models where receivers get messages of their own.
    const AgentIndex& agents_after(long round) const {
        return same_to_all_ ? phase_at(round).hidden
                            : phase_at(std::min(round + 1, count() - 1)).others;
    }
    StateLayout layout_after(long round, int step) const {
        StateLayout layout;
        layout.present = same_to_all_                        ? &phase_at(round).hidden
                         : step == process_.gossip_steps - 1 ? &agents_after(round)
                                                             : &phase_at(round).others;
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
    StateLayout layout_before(long round, int step) const {
        if (step > 0) return layout_after(round, step - 1);
        if (round > 0) return layout_after(round - 1, process_.gossip_steps - 1);
        return {&nobody_, {}, 0};
    }
    /// What was at the end of some round, in the state before the first gossip step of a later one.
    StatePart part_after(long end, long round, const StateLayout& before) const {
        if (end == ProcessRounds::beginning) return {end, &nobody_, 0};
        if (end == round - 1) return {end, before.present, 0};
        return *std::ranges::find_if(before.kept,
                                     [end](const StatePart& part) { return part.round == end; });
    }
    /// What the messages of a step are made of.
    StatePart origin(long round, int step, const StateLayout& before) const {
        if (step > 0) return {round, before.present, 0};
        return part_after(start_of(round), round, before);
    }
    /// Sizes of the state, and F = 1 on what is kept.
    StepEntries blank_step(long round,
                           int step,
                           const StateLayout& before,
                           const StateLayout& after) const {
        StepEntries entries;
        entries.previous = before.size;
        entries.state = after.size;
        const long now = step > 0 ? round + 1 : round;  // in a round nothing new is to be kept
        for (const StatePart& part : after.kept) {
            const StatePart from = part_after(part.round, now, before);
            for (Eigen::Index i = 0; i < part.agents->size(); ++i)
                entries.transition.emplace_back(
                    static_cast<int>(part.offset + i), static_cast<int>(from.offset + i), 1.0);
        }
        return entries;
    }

    void add_phase(std::size_t index) {
        PhaseAgents phase;
        phase.present.assign(static_cast<std::size_t>(agents_), true);
        for (const int u : process_.phases[index].departed)
            phase.present[static_cast<std::size_t>(u)] = false;
        std::vector<bool> later = phase.present, seen(static_cast<std::size_t>(agents_), false);
        for (std::size_t i = index + 1; i < process_.phases.size(); ++i) {
            const auto& departed = process_.phases[i].departed;
            for (int u = 0; u < agents_; ++u)
                if (!std::binary_search(departed.begin(), departed.end(), u))
                    later[static_cast<std::size_t>(u)] = true;
        }
        for (const int a : view_.members)
            if (phase.present[static_cast<std::size_t>(a)]) {
                phase.watch.push_back(a);
                for (const int v : process_.graph->neighbours(a))
                    seen[static_cast<std::size_t>(v)] = true;
            }
        if (view_.kind == View::Kind::all_messages) seen.assign(seen.size(), true);
        if (view_.kind == View::Kind::secure_sum) seen.assign(seen.size(), false);
        std::vector<int> hidden, others;
        for (int u = 0; u < agents_; ++u) {
            const auto i = static_cast<std::size_t>(u);
            if (is_member(u) || !later[i]) continue;
            others.push_back(u);
            if (seen[i] && phase.present[i])
                phase.seen.push_back(u);
            else
                hidden.push_back(u);
        }
        phase.hidden = AgentIndex(agents_, std::move(hidden));
        phase.others = AgentIndex(agents_, std::move(others));
        phases_.push_back(std::move(phase));
    }

    Sources sources_of(const NoisePlan& plan) const {
        const std::span<const int> members(view_.members);
        Sources result;
        std::vector<int> chosen;
        if (!same_to_all_) {
            // One source a stream.
            const std::vector<bool> unknown = unknown_streams(plan, members);
            for (std::size_t k = 0; k < unknown.size(); ++k)
                if (unknown[k]) chosen.push_back(static_cast<int>(k));
            result.index = AgentIndex(static_cast<int>(unknown.size()), std::move(chosen));
            result.factor.resize(result.index.size(), result.index.size());
            result.factor.setIdentity();
            result.covariance = result.factor;
            return result;
        }
        // One source an agent: its noise of one round.
        Eigen::SparseMatrix<double> all = unknown_coefficients(plan, members);
        std::vector<Eigen::Triplet<double>> entries;
        for (int u = 0; u < agents_; ++u)
            if (!is_member(u)) chosen.push_back(u);
        result.index = AgentIndex(agents_, std::move(chosen));
        std::vector<int> column(static_cast<std::size_t>(all.cols()), -1);
        int columns = 0;
        for (int k = 0; k < all.outerSize(); ++k)
            for (Eigen::SparseMatrix<double>::InnerIterator it(all, k); it; ++it) {
                auto& place = column[static_cast<std::size_t>(k)];
                if (place < 0) place = columns++;
                entries.emplace_back(
                    result.index.of(static_cast<int>(it.row())), place, it.value());
            }
        result.factor.resize(result.index.size(), columns);
        result.factor.setFromTriplets(entries.begin(), entries.end());
        const Eigen::MatrixXd covariance = outer_product(result.factor);
        result.covariance = covariance.sparseView(0, 0);
        return result;
    }

    /// Everything a step depends on. The first step of a phase, which may start from any earlier
    /// round, is known by the phase before it.
    std::vector<double> key_of(long round, int step) {
        constexpr double none = -1;
        const bool injects = step == 0;
        const long start = start_of(round);
        std::vector<double> key{injects ? 1.0 : 0.0,
                                mixing_number(round),
                                static_cast<double>(phase_number(round)),
                                none,
                                none,
                                none};
        if (injects && round > 0) key[3] = phase_number(round - 1);
        if (injects && same_to_all_ && start != ProcessRounds::beginning)
            key[4] = mixing_number(start);
        if (step == process_.gossip_steps - 1 && !same_to_all_)
            key[5] = phase_number(std::min(round + 1, count() - 1));
        for (const StateLayout& layout : {layout_before(round, step), layout_after(round, step)}) {
            key.push_back(static_cast<double>(layout.kept.size()));
            for (const StatePart& part : layout.kept)
                key.push_back(static_cast<double>(part.round));
        }
        if (!injects) return key;
        const LaggedNoise& noise = noise_at(round);
        const long within = within_stretch(round);
        key.push_back(noise.fresh(within));
        if (noise.lags == 0) return key;
        key.push_back(noise_factor_[static_cast<std::size_t>(round)]);
        for (const double value : noise.past.row(within)) key.push_back(value);
        return key;
    }

    LinearStep make_step(long round, int step) {
        StepEntries entries = same_to_all_ ? message_step(round, step) : receiver_step(round, step);
        add_lags(entries, round, step);
        return finish(entries, round);
    }

    /// The state is the hidden agents' messages: m(t) = W m(t-1) + q(t); seen messages are known.
    /// With secure sums nobody's message is seen, and y = (rows of W) m(t).
    StepEntries message_step(long round, int step) const {
        const PhaseAgents& now = phase_at(round);
        const AgentIndex& sources = sources_at(round).index;
        const bool injects = step == 0;
        const StateLayout before = layout_before(round, step);
        const StatePart sent = origin(round, step, before);
        const MixingMatrix* mixing =
            sent.round == ProcessRounds::beginning ? nullptr : &mixing_at(sent.round);
        StepEntries entries = blank_step(round, step, before, layout_after(round, step));
        const auto add_message = [&](Triplets& from_state,
                                     Triplets& from_source,
                                     Triplets& from_input,
                                     int row,
                                     int u,
                                     double factor) {
            if (mixing != nullptr) {
                const auto members = mixing->members(u);
                const auto weights = mixing->weights(u);
                for (std::size_t j = 0; j < members.size(); ++j)
                    if (const int place = sent.of(members[j]); place >= 0 && weights[j] != 0)
                        from_state.emplace_back(row, place, factor * weights[j]);
            }
            if (!injects || !now.present[static_cast<std::size_t>(u)]) return;
            from_source.emplace_back(row, sources.of(u), factor);
            from_input.emplace_back(row, u, factor);
        };
        for (Eigen::Index i = 0; i < now.hidden.size(); ++i)
            add_message(entries.transition,
                        entries.state_source,
                        entries.state_input,
                        static_cast<int>(i),
                        now.hidden.agents[static_cast<std::size_t>(i)],
                        1.0);
        int row = 0;
        if (view_.kind == View::Kind::secure_sum) {
            const MixingMatrix& summed = mixing_at(round);
            for (const int a : now.watch) {
                const auto members = summed.members(a);
                const auto weights = summed.weights(a);
                for (std::size_t j = 0; j < members.size(); ++j)
                    if (now.hidden.of(members[j]) >= 0 && weights[j] != 0)
                        add_message(entries.observation,
                                    entries.observed_source,
                                    entries.observed_input,
                                    row,
                                    members[j],
                                    weights[j]);
                ++row;
            }
        } else {
            for (const int v : now.seen)
                add_message(entries.observation,
                            entries.observed_source,
                            entries.observed_input,
                            row++,
                            v,
                            1.0);
        }
        entries.observed = row;
        return entries;
    }

    /// What sender adds for receiver in a round.
    Coefficients coefficients(long round, int sender, int receiver) const {
        Coefficients result;
        if (is_member(sender)) return result;
        const NoisePlan& plan = plan_at(round);
        const AgentIndex& sources = sources_at(round).index;
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
    bool same_for_every_receiver(long round, int sender) const {
        for (const auto& row : plan_at(round).rows)
            if (row.sender == sender && row.receiver != NoiseRow::all_receivers) return false;
        return true;
    }

    /// The state is the models before the round; every receiver may get another message.
    StepEntries receiver_step(long round, int step) const {
        const PhaseAgents& now = phase_at(round);
        const bool injects = step == 0;
        const StateLayout before = layout_before(round, step);
        const StateLayout after = layout_after(round, step);
        const StatePart models = origin(round, step, before);
        const MixingMatrix& mixing = mixing_at(round);
        StepEntries entries = blank_step(round, step, before, after);
        const auto add_message = [&](Triplets& from_state,
                                     Triplets& from_source,
                                     Triplets& from_input,
                                     int row,
                                     int sender,
                                     int receiver,
                                     double factor) {
            if (now.others.of(sender) < 0 || factor == 0) return;
            if (const int place = models.of(sender); place >= 0)
                from_state.emplace_back(row, place, factor);
            if (!injects || !now.present[static_cast<std::size_t>(sender)]) return;
            for (const auto& [source, value] : coefficients(round, sender, receiver))
                from_source.emplace_back(row, source, factor * value);
            from_input.emplace_back(row, sender, factor);
        };
        const auto add_sum = [&](Triplets& from_state,
                                 Triplets& from_source,
                                 Triplets& from_input,
                                 int row,
                                 int receiver) {
            const auto members = mixing.members(receiver);
            const auto weights = mixing.weights(receiver);
            for (std::size_t j = 0; j < members.size(); ++j)
                add_message(
                    from_state, from_source, from_input, row, members[j], receiver, weights[j]);
        };
        for (Eigen::Index i = 0; i < after.present->size(); ++i)
            add_sum(entries.transition,
                    entries.state_source,
                    entries.state_input,
                    static_cast<int>(i),
                    after.present->agents[static_cast<std::size_t>(i)]);
        int row = 0;
        const auto observe = [&](int sender, int receiver) {
            add_message(entries.observation,
                        entries.observed_source,
                        entries.observed_input,
                        row++,
                        sender,
                        receiver,
                        1.0);
        };
        if (view_.kind == View::Kind::secure_sum) {
            for (const int a : now.watch)
                add_sum(
                    entries.observation, entries.observed_source, entries.observed_input, row++, a);
        } else {
            const bool everything = view_.kind == View::Kind::all_messages;
            for (const int v : now.seen) {
                const bool same = !injects || same_for_every_receiver(round, v);
                for (const int r : process_.graph->neighbours(v)) {
                    if (!now.present[static_cast<std::size_t>(r)]) continue;
                    if (!everything && !is_member(r)) continue;
                    observe(v, r);
                    if (same) break;
                }
            }
        }
        entries.observed = row;
        return entries;
    }

    /// Appends h_1, h_2, ... to the state; those of an earlier stretch are forgotten.
    void add_lags(StepEntries& entries, long round, int step) const {
        const LaggedNoise& noise = noise_at(round);
        const long within = within_stretch(round);
        const auto sources = static_cast<int>(sources_at(round).index.size());
        const bool injects = step == 0;
        const bool first = injects && within == 0;
        const auto state = static_cast<int>(entries.state);
        const auto previous = static_cast<int>(entries.previous);
        const Triplets state_source = entries.state_source;
        const Triplets observed_source = entries.observed_source;
        const double scale = noise.lags > 0 ? noise_factor_[static_cast<std::size_t>(round)] : 1.0;
        if (injects) {
            const auto rescale = [&](Triplets& list, const Triplets& original, Triplets& lagged) {
                list.clear();
                for (const auto& entry : original) {
                    list.emplace_back(
                        entry.row(), entry.col(), scale * noise.fresh(within) * entry.value());
                    if (first) continue;
                    for (int j = 0; j < noise.lags; ++j)
                        if (noise.past(within, j) != 0)
                            lagged.emplace_back(entry.row(),
                                                previous + j * sources + entry.col(),
                                                scale * noise.past(within, j) * entry.value());
                }
            };
            rescale(entries.state_source, state_source, entries.transition);
            rescale(entries.observed_source, observed_source, entries.observation);
        }
        for (int i = 0; i < sources && noise.lags > 0; ++i) {
            if (!injects) {
                for (int j = 0; j < noise.lags; ++j)
                    entries.transition.emplace_back(
                        state + j * sources + i, previous + j * sources + i, 1.0);
                continue;
            }
            entries.state_source.emplace_back(
                state + i, i, noise.remembers_noise ? noise.fresh(within) : 1.0);
            if (first) continue;
            for (int j = 0; j < noise.lags; ++j) {
                if (noise.remembers_noise && noise.past(within, j) != 0)
                    entries.transition.emplace_back(
                        state + i, previous + j * sources + i, noise.past(within, j));
                if (j + 1 < noise.lags)
                    entries.transition.emplace_back(
                        state + (j + 1) * sources + i, previous + j * sources + i, 1.0);
            }
        }
        entries.state += lag_size(round);
        if (!injects)
            entries.previous += lag_size(round);
        else if (round > 0)
            entries.previous += lag_size(round - 1);
    }

    LinearStep finish(const StepEntries& entries, long round) const {
        const Sources& noise = sources_at(round);
        const Eigen::Index sources = noise.index.size();
        LinearStep step;
        step.transition = sparse(entries.state, entries.previous, entries.transition);
        step.observation = sparse(entries.observed, entries.previous, entries.observation);
        step.state_source = sparse(entries.state, sources, entries.state_source);
        step.observed_source = sparse(entries.observed, sources, entries.observed_source);
        step.state_input = sparse(entries.state, agents_, entries.state_input);
        step.observed_input = sparse(entries.observed, agents_, entries.observed_input);
        const SparseRows state_half = step.state_source * noise.covariance;
        const SparseRows observed_half = step.observed_source * noise.covariance;
        step.state_covariance = state_half * SparseRows(step.state_source.transpose());
        step.cross_covariance = state_half * SparseRows(step.observed_source.transpose());
        step.observed_covariance = observed_half * SparseRows(step.observed_source.transpose());
        step.alone = Eigen::VectorXd::Zero(agents_);
        if (noise_at(round).independent_rounds) set_apart(step);
        return step;
    }

    /// Moves observations that hear nothing of the state, under noise of their own, to `alone`.
    void set_apart(LinearStep& step) const {
        const Eigen::Index observed = step.observation.rows();
        std::vector<bool> apart(static_cast<std::size_t>(observed), true);
        Eigen::VectorXd variance = Eigen::VectorXd::Zero(observed);
        for (Eigen::Index i = 0; i < observed; ++i) {
            for (SparseRows::InnerIterator it(step.observation, i); it; ++it)
                if (it.value() != 0) apart[static_cast<std::size_t>(i)] = false;
            for (SparseRows::InnerIterator it(step.observed_covariance, i); it; ++it) {
                if (it.col() == i)
                    variance(i) = it.value();
                else if (it.value() != 0)
                    apart[static_cast<std::size_t>(i)] = false;
            }
        }
        for (Eigen::Index i = 0; i < step.cross_covariance.rows(); ++i)
            for (SparseRows::InnerIterator it(step.cross_covariance, i); it; ++it)
                if (it.value() != 0) apart[static_cast<std::size_t>(it.col())] = false;
        const double smallest = 1e-11 * (observed > 0 ? variance.maxCoeff() : 0.0);
        Triplets kept;
        Eigen::Index rows = 0;
        for (Eigen::Index i = 0; i < observed; ++i) {
            if (!apart[static_cast<std::size_t>(i)] || !(variance(i) > smallest)) {
                kept.emplace_back(static_cast<int>(rows++), static_cast<int>(i), 1.0);
                continue;
            }
            for (SparseRows::InnerIterator it(step.observed_input, i); it; ++it)
                step.alone(it.col()) += it.value() * it.value() / variance(i);
        }
        if (rows == observed) return;
        const SparseRows keep = sparse(rows, observed, kept);
        step.observation = keep * step.observation;
        step.observed_source = keep * step.observed_source;
        step.observed_input = keep * step.observed_input;
        step.cross_covariance = step.cross_covariance * SparseRows(keep.transpose());
        step.observed_covariance =
            SparseRows(keep * step.observed_covariance) * SparseRows(keep.transpose());
    }

    const MessageProcess& process_;
    const View& view_;
    const std::vector<LaggedNoise>& noises_;
    int agents_;
    bool same_to_all_;
    ProcessRounds rounds_;
    AgentIndex nobody_;
    std::vector<PhaseAgents> phases_;
    std::vector<Sources> sources_;  ///< of every stretch
    /// (round, later round that starts from what was at its end); not the next one.
    std::vector<std::pair<long, long>> needed_again_;
    std::map<const MixingMatrix*, double> mixing_numbers_;
    std::vector<double> noise_factor_;
};

}  // namespace

ObservationModel make_observation_model(const MessageProcess& process,
                                        const View& view,
                                        const std::vector<LaggedNoise>& noises) {
    return ModelBuilder(process, view, noises).build();
}

}  // namespace sotto
