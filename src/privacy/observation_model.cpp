#include "observation_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "unknown_noise.hpp"

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

/// The entries of a step before its noise has covariances.
struct StepEntries {
    Eigen::Index state = 0, previous = 0, observed = 0;
    Triplets transition, observation, state_source, observed_source, state_input, observed_input;
};

class ModelBuilder {
  public:
    ModelBuilder(const MessageProcess& process, const View& view, const LaggedNoise& noise)
        : process_(process),
          view_(view),
          noise_(noise),
          agents_(process.plan->agents),
          same_to_all_(process.plan->same_message_to_all()) {
        for (std::size_t i = 0; i < process_.phases.size(); ++i) add_phase(i);
        for (std::size_t i = 0; i < process_.phases.size(); ++i)
            for (long round = 0; round < process_.phases[i].rounds; ++round)
                where_.push_back({static_cast<int>(i), round});
        set_sources();
    }

    ObservationModel build() {
        ObservationModel model;
        model.gossip_steps = process_.gossip_steps;
        model.rounds = static_cast<long>(where_.size());
        const bool scaled = process_.plan->entry == NoiseEntry::gradient;
        for (long t = 0; t < model.rounds; ++t) {
            const double step = process_.step_sizes.empty()
                                    ? 1.0
                                    : process_.step_sizes[static_cast<std::size_t>(t)];
            model.input_scale.push_back(step);
            // Past noise in the state is in gradient units: then the scale is part of the step.
            noise_factor_.push_back(scaled ? step : 1.0);
            model.noise_scale.push_back(noise_.lags > 0 ? 1.0 : noise_factor_.back());
        }
        std::map<std::vector<double>, int> known;
        for (long t = 0; t < model.rounds; ++t)
            for (int k = 0; k < process_.gossip_steps; ++k) {
                const auto [entry, fresh] =
                    known.try_emplace(key_of(t, k), static_cast<int>(model.steps.size()));
                if (fresh) model.steps.push_back(make_step(t, k));
                model.step_at.push_back(entry->second);
            }
        model.source_factor = source_factor_;
        return model;
    }

  private:
    const PhaseAgents& phase_at(long round) const {
        return phases_[static_cast<std::size_t>(where_[static_cast<std::size_t>(round)].first)];
    }
    const MixingMatrix& mixing_at(long round) const {
        const auto& [phase, within] = where_[static_cast<std::size_t>(round)];
        return process_.phases[static_cast<std::size_t>(phase)].mixing.at(within);
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

    void set_sources() {
        const std::span<const int> members(view_.members);
        if (same_to_all_) {
            // One source an agent: its noise of one round.
            Eigen::SparseMatrix<double> all = unknown_coefficients(*process_.plan, members);
            std::vector<Eigen::Triplet<double>> entries;
            std::vector<int> chosen;
            for (int u = 0; u < agents_; ++u)
                if (!is_member(u)) chosen.push_back(u);
            sources_ = AgentIndex(agents_, std::move(chosen));
            std::vector<int> column(static_cast<std::size_t>(all.cols()), -1);
            int columns = 0;
            for (int k = 0; k < all.outerSize(); ++k)
                for (Eigen::SparseMatrix<double>::InnerIterator it(all, k); it; ++it) {
                    auto& place = column[static_cast<std::size_t>(k)];
                    if (place < 0) place = columns++;
                    entries.emplace_back(
                        sources_.of(static_cast<int>(it.row())), place, it.value());
                }
            source_factor_.resize(sources_.size(), columns);
            source_factor_.setFromTriplets(entries.begin(), entries.end());
        } else {
            // One source a stream.
            const std::vector<bool> unknown = unknown_streams(*process_.plan, members);
            std::vector<int> chosen;
            for (std::size_t k = 0; k < unknown.size(); ++k)
                if (unknown[k]) chosen.push_back(static_cast<int>(k));
            sources_ = AgentIndex(static_cast<int>(unknown.size()), std::move(chosen));
            source_factor_.resize(sources_.size(), sources_.size());
            source_factor_.setIdentity();
        }
        if (same_to_all_) {
            const Eigen::MatrixXd covariance = outer_product(source_factor_);
            source_covariance_ = covariance.sparseView(0, 0);
        } else {
            source_covariance_ = source_factor_;
        }
    }

    std::vector<double> key_of(long round, int step) {
        const long other = std::max(round - (same_to_all_ ? 1 : 0), 0L);
        const long next = std::min(round + 1, static_cast<long>(where_.size()) - 1);
        std::vector<double> key{
            mixing_number(round),
            step == 0 ? mixing_number(other) : -1,
            static_cast<double>(where_[static_cast<std::size_t>(round)].first),
            static_cast<double>(where_[static_cast<std::size_t>(other)].first),
            step == process_.gossip_steps - 1 && !same_to_all_
                ? static_cast<double>(where_[static_cast<std::size_t>(next)].first)
                : -1,
            step == 0 ? 1.0 : 0.0,
            round == 0 && step == 0 ? 1.0 : 0.0};
        if (noise_.lags > 0 && step == 0) {
            key.push_back(noise_factor_[static_cast<std::size_t>(round)]);
            key.push_back(noise_.fresh(round));
            for (const double value : noise_.past.row(round)) key.push_back(value);
        } else if (step == 0) {
            key.push_back(noise_.fresh(round));
        }
        return key;
    }

    LinearStep make_step(long round, int step) {
        StepEntries entries = same_to_all_ ? message_step(round, step) : receiver_step(round, step);
        if (noise_.lags >= 0) add_lags(entries, round, step);
        return finish(entries);
    }

    /// The state is the hidden agents' messages: m(t) = W m(t-1) + q(t); seen messages are known.
    /// With secure sums nobody's message is seen, and y = (rows of W) m(t).
    StepEntries message_step(long round, int step) const {
        const PhaseAgents& now = phase_at(round);
        const bool first = round == 0 && step == 0;
        const bool injects = step == 0;
        const long mixed_in = step == 0 ? std::max(round - 1, 0L) : round;
        const AgentIndex nobody;
        const AgentIndex& before = first ? nobody : phase_at(mixed_in).hidden;
        const MixingMatrix& mixing = mixing_at(mixed_in);
        StepEntries entries;
        entries.previous = before.size();
        entries.state = now.hidden.size();
        const auto add_message = [&](Triplets& from_state,
                                     Triplets& from_source,
                                     Triplets& from_input,
                                     int row,
                                     int u,
                                     double factor) {
            if (!first) {
                const auto members = mixing.members(u);
                const auto weights = mixing.weights(u);
                for (std::size_t j = 0; j < members.size(); ++j)
                    if (const int place = before.of(members[j]); place >= 0 && weights[j] != 0)
                        from_state.emplace_back(row, place, factor * weights[j]);
            }
            if (!injects || !now.present[static_cast<std::size_t>(u)]) return;
            from_source.emplace_back(row, sources_.of(u), factor);
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

    /// What sender adds for receiver.
    Coefficients coefficients(int sender, int receiver) const {
        Coefficients result;
        if (is_member(sender)) return result;
        const auto& rows = process_.plan->rows;
        auto row = std::lower_bound(rows.begin(), rows.end(), sender, [](const NoiseRow& r, int s) {
            return r.sender < s;
        });
        for (; row != rows.end() && row->sender == sender; ++row) {
            if (row->receiver != NoiseRow::all_receivers && row->receiver != receiver) continue;
            for (std::size_t j = 0; j < row->streams.size(); ++j)
                if (const int place = sources_.of(row->streams[j]); place >= 0)
                    result.emplace_back(place, process_.plan->scale * row->coefficients[j]);
        }
        return result;
    }
    bool same_for_every_receiver(int sender) const {
        for (const auto& row : process_.plan->rows)
            if (row.sender == sender && row.receiver != NoiseRow::all_receivers) return false;
        return true;
    }

    /// The state is the models before the round; every receiver may get another message.
    StepEntries receiver_step(long round, int step) const {
        const PhaseAgents& now = phase_at(round);
        const bool first = round == 0 && step == 0;
        const bool injects = step == 0;
        const bool last_step = step == process_.gossip_steps - 1;
        const long next =
            last_step ? std::min(round + 1, static_cast<long>(where_.size()) - 1) : round;
        const AgentIndex nobody;
        const AgentIndex& before = first ? nobody : now.others;
        const AgentIndex& after = phase_at(next).others;
        const MixingMatrix& mixing = mixing_at(round);
        StepEntries entries;
        entries.previous = before.size();
        entries.state = after.size();
        const auto add_message = [&](Triplets& from_state,
                                     Triplets& from_source,
                                     Triplets& from_input,
                                     int row,
                                     int sender,
                                     int receiver,
                                     double factor) {
            if (now.others.of(sender) < 0 || factor == 0) return;
            if (!first) from_state.emplace_back(row, before.of(sender), factor);
            if (!injects || !now.present[static_cast<std::size_t>(sender)]) return;
            for (const auto& [source, value] : coefficients(sender, receiver))
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
        for (Eigen::Index i = 0; i < after.size(); ++i)
            add_sum(entries.transition,
                    entries.state_source,
                    entries.state_input,
                    static_cast<int>(i),
                    after.agents[static_cast<std::size_t>(i)]);
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
                const bool same = !injects || same_for_every_receiver(v);
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

    /// Appends h_1, h_2, ... to the state.
    void add_lags(StepEntries& entries, long round, int step) const {
        const int sources = static_cast<int>(sources_.size());
        const bool first = round == 0 && step == 0;
        const bool injects = step == 0;
        const auto state = static_cast<int>(entries.state);
        const auto previous = static_cast<int>(entries.previous);
        const Triplets state_source = entries.state_source;
        const Triplets observed_source = entries.observed_source;
        const double scale = noise_.lags > 0 ? noise_factor_[static_cast<std::size_t>(round)] : 1.0;
        if (injects) {
            const auto rescale = [&](Triplets& list, const Triplets& original, Triplets& lagged) {
                list.clear();
                for (const auto& entry : original) {
                    list.emplace_back(
                        entry.row(), entry.col(), scale * noise_.fresh(round) * entry.value());
                    if (first) continue;
                    for (int j = 0; j < noise_.lags; ++j)
                        if (noise_.past(round, j) != 0)
                            lagged.emplace_back(entry.row(),
                                                previous + j * sources + entry.col(),
                                                scale * noise_.past(round, j) * entry.value());
                }
            };
            rescale(entries.state_source, state_source, entries.transition);
            rescale(entries.observed_source, observed_source, entries.observation);
        }
        for (int i = 0; i < sources && noise_.lags > 0; ++i) {
            if (!injects) {
                for (int j = 0; j < noise_.lags; ++j)
                    entries.transition.emplace_back(
                        state + j * sources + i, previous + j * sources + i, 1.0);
                continue;
            }
            entries.state_source.emplace_back(
                state + i, i, noise_.remembers_noise ? noise_.fresh(round) : 1.0);
            if (first) continue;
            for (int j = 0; j < noise_.lags; ++j) {
                if (noise_.remembers_noise && noise_.past(round, j) != 0)
                    entries.transition.emplace_back(
                        state + i, previous + j * sources + i, noise_.past(round, j));
                if (j + 1 < noise_.lags)
                    entries.transition.emplace_back(
                        state + (j + 1) * sources + i, previous + j * sources + i, 1.0);
            }
        }
        const Eigen::Index more = static_cast<Eigen::Index>(noise_.lags) * sources;
        entries.state += more;
        if (!first) entries.previous += more;
    }

    LinearStep finish(const StepEntries& entries) const {
        const Eigen::Index sources = sources_.size();
        LinearStep step;
        step.transition = sparse(entries.state, entries.previous, entries.transition);
        step.observation = sparse(entries.observed, entries.previous, entries.observation);
        step.state_source = sparse(entries.state, sources, entries.state_source);
        step.observed_source = sparse(entries.observed, sources, entries.observed_source);
        step.state_input = sparse(entries.state, agents_, entries.state_input);
        step.observed_input = sparse(entries.observed, agents_, entries.observed_input);
        const SparseRows state_half = step.state_source * source_covariance_;
        const SparseRows observed_half = step.observed_source * source_covariance_;
        step.state_covariance = state_half * SparseRows(step.state_source.transpose());
        step.cross_covariance = state_half * SparseRows(step.observed_source.transpose());
        step.observed_covariance = observed_half * SparseRows(step.observed_source.transpose());
        step.alone = Eigen::VectorXd::Zero(agents_);
        if (noise_.independent_rounds) set_apart(step);
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
    const LaggedNoise& noise_;
    int agents_;
    bool same_to_all_;
    std::vector<PhaseAgents> phases_;
    std::vector<std::pair<int, long>> where_;  // round -> (phase, round within)
    std::map<const MixingMatrix*, double> mixing_numbers_;
    AgentIndex sources_;
    Eigen::SparseMatrix<double> source_factor_;
    SparseRows source_covariance_;
    std::vector<double> noise_factor_;
};

}  // namespace

ObservationModel make_observation_model(const MessageProcess& process,
                                        const View& view,
                                        const LaggedNoise& noise) {
    return ModelBuilder(process, view, noise).build();
}

}  // namespace sotto
