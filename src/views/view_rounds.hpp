#pragma once

#include <Eigen/Core>
#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <cstddef>
#include <utility>
#include <vector>

#include "plan/lagged_noise.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/views/view_record.hpp"
#include "views/linear_step.hpp"

namespace sotto {

/// Chosen agents (or streams) and the index of each among them; -1 for the others.
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

/// Noise of one plan that a view does not know, drawn every round: w ~ N(0, R).
struct NoiseSources {
    AgentIndex index;                    ///< agents, or streams if noise depends on the receiver
    Eigen::SparseMatrix<double> factor;  ///< R = factor factor^T
    SparseRows covariance;               ///< R
};
[[nodiscard]] NoiseSources noise_sources(const NoisePlan& plan, const View& view);

/// Whether all receivers get the same noise from this sender.
[[nodiscard]] bool same_noise_to_all(const NoisePlan& plan, int sender);

/// Present, seen and tracked agents of one phase.
struct PhaseAgents {
    std::vector<bool> present;
    std::vector<int> seen;   ///< not members; the view receives their messages
    std::vector<int> watch;  ///< members that are present
    AgentIndex hidden;       ///< not members, not seen, present now or later
    AgentIndex others;       ///< not members, present now or later
};

/// Of phase number `index` of the process.
[[nodiscard]] PhaseAgents phase_agents(const MessageProcess& process,
                                       const View& view,
                                       std::size_t index);

/// Consecutive rounds with one plan's noise; its temporal factor begins with the first.
struct NoiseStretch {
    const NoisePlan* plan = nullptr;
    long begin = 0;
    long rounds = 0;
};

/// Phase, stretch and start of every round of a process.
struct ProcessRounds {
    static constexpr long beginning = -1;  ///< instead of a round: before the run, when all is
                                           ///< known
    std::vector<NoiseStretch> stretches;
    std::vector<int> phase;    ///< of every round
    std::vector<long> within;  ///< round of its phase
    std::vector<int> stretch;
    std::vector<long> training;  ///< training round, see MessageProcess::training_rounds
    std::vector<long> after;  ///< the round from whose resulting models it starts, or `beginning`
};
/// @throws ConfigError for more repeated rounds than there are.
[[nodiscard]] ProcessRounds process_rounds(const MessageProcess& process);

/// C_time of a stretch, rounds x rounds.
[[nodiscard]] Eigen::MatrixXd time_factor(const NoiseStretch& stretch);

/// A view of a process by round: present and seen agents, mixing, and unknown noise. Rounds are
/// those whose messages were sent.
class ViewRounds {
  public:
    /// @param noises of every NoiseStretch. All three must outlive the object.
    ViewRounds(const MessageProcess& process,
               const View& view,
               const std::vector<LaggedNoise>& noises);

    [[nodiscard]] const MessageProcess& process() const { return process_; }
    [[nodiscard]] const View& view() const { return view_; }
    [[nodiscard]] long count() const { return static_cast<long>(rounds_.phase.size()); }
    [[nodiscard]] int agents() const { return process_.plan->agents; }
    /// Whether every receiver of a message gets the same one.
    [[nodiscard]] bool same_to_all() const { return same_to_all_; }

    [[nodiscard]] int phase_number(long round) const { return rounds_.phase[at(round)]; }
    [[nodiscard]] const PhaseAgents& agents_at(long round) const {
        return phases_[static_cast<std::size_t>(phase_number(round))];
    }
    [[nodiscard]] const MixingMatrix& mixing_at(long round) const {
        return process_.phases[static_cast<std::size_t>(phase_number(round))].mixing.at(
            rounds_.within[at(round)]);
    }
    [[nodiscard]] const GossipPolynomial& gossip_at(long round) const {
        return process_.gossip_of(process_.phases[static_cast<std::size_t>(phase_number(round))]);
    }
    /// The round from whose resulting models this one starts, or ProcessRounds::beginning.
    [[nodiscard]] long start_of(long round) const { return rounds_.after[at(round)]; }

    [[nodiscard]] const NoisePlan& plan_at(long round) const {
        return *rounds_.stretches[stretch_at(round)].plan;
    }
    [[nodiscard]] const NoiseSources& sources_at(long round) const {
        return sources_[stretch_at(round)];
    }
    [[nodiscard]] const LaggedNoise& noise_at(long round) const {
        return noises_[stretch_at(round)];
    }
    [[nodiscard]] long within_stretch(long round) const {
        return round - rounds_.stretches[stretch_at(round)].begin;
    }
    [[nodiscard]] const std::vector<NoiseSources>& sources() const { return sources_; }
    /// Number of the NoiseStretch of every round.
    [[nodiscard]] const std::vector<int>& stretches() const { return rounds_.stretch; }

    /// eta_t
    [[nodiscard]] double step_size(long round) const {
        return process_.step_sizes.empty() ? 1.0 : process_.step_sizes[at(round)];
    }
    /// Factor of a round's noise in a message: eta_t, or 1 for noise on messages.
    [[nodiscard]] double noise_factor(long round) const {
        return process_.plan->entry == NoiseEntry::gradient ? step_size(round) : 1.0;
    }

  private:
    static std::size_t at(long round) { return static_cast<std::size_t>(round); }
    [[nodiscard]] std::size_t stretch_at(long round) const {
        return static_cast<std::size_t>(rounds_.stretch[at(round)]);
    }

    const MessageProcess& process_;
    const View& view_;
    const std::vector<LaggedNoise>& noises_;
    bool same_to_all_;
    ProcessRounds rounds_;
    std::vector<PhaseAgents> phases_;
    std::vector<NoiseSources> sources_;  // of every stretch
};

}  // namespace sotto
