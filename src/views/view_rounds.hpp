#pragma once

#include <vector>

#include "sotto/plan/lagged_noise.hpp"
#include "sotto/views/message_process.hpp"
#include "sotto/views/view.hpp"
#include "views/noise_sources.hpp"
#include "views/phase_agents.hpp"
#include "views/process_rounds.hpp"

namespace sotto {

/// A view of a process, round by round: who is there and who is seen, how messages mix, and which
/// noise is unknown. Rounds are those whose messages were sent.
class ViewRounds {
  public:
    /// @param noises of every NoiseStretch, how its noise follows from earlier rounds. All three
    /// outlive the object.
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
    /// The round whose resulting models this one starts from, or ProcessRounds::beginning.
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
    /// What the noise of a round is multiplied by in a message: eta_t, or 1 where it enters there.
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
