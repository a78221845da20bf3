#pragma once

#include <Eigen/Core>
#include <Eigen/Sparse>
#include <utility>
#include <vector>

#include "plan/lagged_noise.hpp"
#include "sotto/core/sparse_rows.hpp"
#include "sotto/views/view_record.hpp"
#include "views/linear_step.hpp"
#include "views/view_rounds.hpp"

namespace sotto {

/// Part of the state: what unseen agents held at the end of a round.
struct StatePart {
    static constexpr Eigen::Index none = -1;
    long round = 0;
    const AgentIndex* agents = nullptr;
    Eigen::Index offset = 0;
    Eigen::Index before = none;  ///< offset of their messages one exchange earlier

    [[nodiscard]] int of(int agent) const { return place_from(offset, agent); }
    [[nodiscard]] int before_of(int agent) const { return place_from(before, agent); }
    [[nodiscard]] int place_from(Eigen::Index begin, int agent) const {
        const int place = agents->of(agent);
        return place < 0 || begin == none ? -1 : static_cast<int>(begin) + place;
    }
};

/// m = here W m' - before m'', from the messages one and two exchanges earlier.
struct Exchange {
    double here = 1;
    double before = 0;
};

/// The state without past noise, which comes last: the present part, that of one exchange earlier
/// if still needed, then the models from which a later phase starts.
struct StateLayout {
    const AgentIndex* present = nullptr;
    Eigen::Index before = StatePart::none;  ///< its offset; same agents
    std::vector<StatePart> kept;
    Eigen::Index size = 0;
};

/// Layout of the state before and after every gossip step. The rounds must outlive it.
class StateLayouts {
  public:
    explicit StateLayouts(const ViewRounds& rounds);

    [[nodiscard]] StateLayout before(long round, int step) const;
    [[nodiscard]] StateLayout after(long round, int step) const;
    /// The part of the state from which the messages of a step are computed; round
    /// ProcessRounds::beginning if all is known.
    [[nodiscard]] StatePart origin(long round, int step) const;
    /// How they are computed; plain if all is known.
    [[nodiscard]] Exchange exchange(long round, int step) const;
    /// Entries of a step with the sizes of the state, and F = 1 on kept parts.
    [[nodiscard]] StepEntries blank_step(long round, int step) const;

  private:
    [[nodiscard]] const AgentIndex& agents_after(long round) const;
    [[nodiscard]] bool needs_before(long round, int step) const;
    [[nodiscard]] StatePart part_after(long end, long round, const StateLayout& before) const;

    const ViewRounds& rounds_;
    int gossip_steps_;
    AgentIndex nobody_;
    /// (round, later round that starts from its end), except the next one.
    std::vector<std::pair<long, long>> needed_again_;
};

/// A gossip step in which every receiver of a message gets the same one: the state is hidden
/// agents' messages, m = here W m' - before m'' + q with m' and m'' those one and two exchanges
/// earlier; seen messages are known. With secure sums no message is seen, and y = (rows of W) m(t).
/// Without the past noise of correlated rounds.
[[nodiscard]] StepEntries message_step(const ViewRounds& rounds,
                                       const StateLayouts& layouts,
                                       long round,
                                       int step);

/// A gossip step in which receivers may get different messages: the state is the models before the
/// round. Without the past noise of correlated rounds.
[[nodiscard]] StepEntries receiver_step(const ViewRounds& rounds,
                                        const StateLayouts& layouts,
                                        long round,
                                        int step);

/// Number of past noise values in the state after a round.
[[nodiscard]] Eigen::Index past_noise_size(const ViewRounds& rounds, long round);

/// Replaces fresh noise in the step by the plan's correlated noise v(t), with past values h_1, h_2,
/// ... at the end of the state. Those of an earlier stretch are dropped.
[[nodiscard]] StepEntries with_past_noise(StepEntries entries,
                                          const ViewRounds& rounds,
                                          long round,
                                          int step);

/// All gossip steps of all rounds of a view. Equal steps are stored once.
struct ObservationModel {
    std::vector<LinearStep> steps;
    std::vector<int> step_at;         ///< time (round * gossip_steps + step) -> steps
    std::vector<double> noise_scale;  ///< nu of every round
    std::vector<double> input_scale;  ///< eta of every round, for unit inputs
    int gossip_steps = 1;
    long rounds = 0;
    /// R = source_factor source_factor^T of every NoiseStretch.
    std::vector<Eigen::SparseMatrix<double>> source_factors;
    std::vector<int> stretch_at;  ///< round -> source_factors
    [[nodiscard]] const LinearStep& at(long time) const {
        return steps[static_cast<std::size_t>(step_at[static_cast<std::size_t>(time)])];
    }
    [[nodiscard]] double noise_at(long time) const {
        return noise_scale[static_cast<std::size_t>(time / gossip_steps)];
    }
    /// Of the whole run, without values that stand alone.
    [[nodiscard]] long observed_values() const;
    /// Of the largest step.
    [[nodiscard]] Eigen::Index state_size() const;
};

/// @param noises of every NoiseStretch: independent rounds (lags 0) or a short memory, which adds
/// lags * agents entries to the state.
[[nodiscard]] ObservationModel make_observation_model(const MessageProcess& process,
                                                      const View& view,
                                                      const std::vector<LaggedNoise>& noises);

}  // namespace sotto
