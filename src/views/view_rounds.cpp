#include "views/view_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "plan/lagged_noise.hpp"
#include "privacy/dropouts.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

/// One source per stream.
NoiseSources sources_by_stream(const NoisePlan& plan, std::span<const int> members) {
    NoiseSources result;
    std::vector<int> chosen;
    const std::vector<bool> unknown = unknown_streams(plan, members);
    for (std::size_t k = 0; k < unknown.size(); ++k)
        if (unknown[k]) chosen.push_back(static_cast<int>(k));
    result.index = AgentIndex(static_cast<int>(unknown.size()), std::move(chosen));
    result.factor.resize(result.index.size(), result.index.size());
    result.factor.setIdentity();
    result.covariance = result.factor;
    return result;
}

/// One source per agent: its noise of one round.
NoiseSources sources_by_agent(const NoisePlan& plan, const View& view) {
    NoiseSources result;
    std::vector<int> chosen;
    for (int u = 0; u < plan.agents; ++u)
        if (!view.has_member(u)) chosen.push_back(u);
    result.index = AgentIndex(plan.agents, std::move(chosen));
    const Eigen::SparseMatrix<double> all = unknown_coefficients(plan, view.members);
    std::vector<Eigen::Triplet<double>> entries;
    std::vector<int> column(static_cast<std::size_t>(all.cols()), -1);
    int columns = 0;
    for (int k = 0; k < all.outerSize(); ++k)
        for (Eigen::SparseMatrix<double>::InnerIterator it(all, k); it; ++it) {
            auto& place = column[static_cast<std::size_t>(k)];
            if (place < 0) place = columns++;
            entries.emplace_back(result.index.of(static_cast<int>(it.row())), place, it.value());
        }
    result.factor.resize(result.index.size(), columns);
    result.factor.setFromTriplets(entries.begin(), entries.end());
    const Eigen::MatrixXd covariance = outer_product(result.factor);
    result.covariance = covariance.sparseView(0, 0);
    return result;
}

}  // namespace

NoiseSources noise_sources(const NoisePlan& plan, const View& view) {
    return plan.same_message_to_all() ? sources_by_agent(plan, view)
                                      : sources_by_stream(plan, view.members);
}

bool same_noise_to_all(const NoisePlan& plan, int sender) {
    return std::ranges::none_of(plan.rows, [&](const NoiseRow& row) {
        return row.sender == sender && row.receiver != NoiseRow::all_receivers;
    });
}

namespace {

/// Whether every agent is present in the phase or a later one.
std::vector<bool> there_now_or_later(const MessageProcess& process, std::size_t index) {
    const int agents = process.plan->agents;
    std::vector<bool> there(static_cast<std::size_t>(agents), false);
    for (std::size_t i = index; i < process.phases.size(); ++i)
        for (int u = 0; u < agents; ++u)
            if (!process.phases[i].has_departed(u)) there[static_cast<std::size_t>(u)] = true;
    return there;
}

/// Whether present members read the messages of every agent.
std::vector<bool> read_by(const MessageProcess& process,
                          const View& view,
                          const std::vector<int>& watch) {
    std::vector<bool> read(static_cast<std::size_t>(process.plan->agents),
                           view.kind == View::Kind::all_messages);
    if (view.kind == View::Kind::neighbours)
        for (const int a : watch)
            for (const int v : process.graph->heard(a)) read[static_cast<std::size_t>(v)] = true;
    return read;
}

}  // namespace

PhaseAgents phase_agents(const MessageProcess& process, const View& view, std::size_t index) {
    const int agents = process.plan->agents;
    PhaseAgents phase;
    phase.present.assign(static_cast<std::size_t>(agents), true);
    for (const int u : process.phases[index].departed)
        phase.present[static_cast<std::size_t>(u)] = false;
    for (const int a : view.members)
        if (phase.present[static_cast<std::size_t>(a)]) phase.watch.push_back(a);
    const std::vector<bool> later = there_now_or_later(process, index);
    const std::vector<bool> read = read_by(process, view, phase.watch);
    std::vector<int> hidden, others;
    for (int u = 0; u < agents; ++u) {
        const auto i = static_cast<std::size_t>(u);
        if (view.has_member(u) || !later[i]) continue;
        others.push_back(u);
        if (read[i] && phase.present[i])
            phase.seen.push_back(u);
        else
            hidden.push_back(u);
    }
    phase.hidden = AgentIndex(agents, std::move(hidden));
    phase.others = AgentIndex(agents, std::move(others));
    return phase;
}

ProcessRounds process_rounds(const MessageProcess& process) {
    ProcessRounds result;
    std::vector<long> history;  // the rounds that led to the present models
    long round = 0;
    for (std::size_t i = 0; i < process.phases.size(); ++i) {
        const Phase& phase = process.phases[i];
        const auto done = static_cast<long>(history.size());
        if (phase.repeated < 0 || phase.repeated > done)
            throw ConfigError(
                fmt::format("phases: {} repeated rounds are not allowed (0 to {}, the training "
                            "rounds before the phase)",
                            phase.repeated,
                            done));
        history.resize(static_cast<std::size_t>(done - phase.repeated));
        if (i == 0 || phase.plan != nullptr || process.phases[i - 1].plan != nullptr)
            result.stretches.push_back({&process.plan_of(phase), round, 0});
        result.stretches.back().rounds += phase.rounds;
        for (long within = 0; within < phase.rounds; ++within, ++round) {
            result.phase.push_back(static_cast<int>(i));
            result.within.push_back(within);
            result.stretch.push_back(static_cast<int>(result.stretches.size()) - 1);
            result.training.push_back(static_cast<long>(history.size()));
            result.after.push_back(history.empty() ? ProcessRounds::beginning : history.back());
            history.push_back(round);
        }
    }
    return result;
}

Eigen::MatrixXd time_factor(const NoiseStretch& stretch) {
    if (stretch.plan->temporal.kind == TemporalFactor::Kind::identity)
        return Eigen::MatrixXd::Identity(stretch.rounds, stretch.rounds);
    return dense_factor(stretch.plan->temporal, stretch.rounds);
}

ViewRounds::ViewRounds(const MessageProcess& process,
                       const View& view,
                       const std::vector<LaggedNoise>& noises)
    : process_(process),
      view_(view),
      noises_(noises),
      same_to_all_(process.plan->same_message_to_all()),
      rounds_(process_rounds(process)) {
    for (std::size_t i = 0; i < process.phases.size(); ++i)
        phases_.push_back(phase_agents(process, view, i));
    for (const NoiseStretch& stretch : rounds_.stretches)
        sources_.push_back(noise_sources(*stretch.plan, view));
}

}  // namespace sotto
