#pragma once

#include <Eigen/Core>
#include <utility>
#include <vector>

#include "views/linear_step.hpp"
#include "views/view_rounds.hpp"

namespace sotto {

/// What agents did not show of themselves at the end of a round, as a part of the state.
struct StatePart {
    static constexpr Eigen::Index none = -1;
    long round = 0;
    const AgentIndex* agents = nullptr;
    Eigen::Index offset = 0;
    Eigen::Index before = none;  ///< where their messages of one exchange earlier begin

    [[nodiscard]] int of(int agent) const { return place_from(offset, agent); }
    [[nodiscard]] int before_of(int agent) const { return place_from(before, agent); }
    [[nodiscard]] int place_from(Eigen::Index begin, int agent) const {
        const int place = agents->of(agent);
        return place < 0 || begin == none ? -1 : static_cast<int>(begin) + place;
    }
};

/// m = here W m' - before m'', of the messages one and two exchanges earlier.
struct Exchange {
    double here = 1;
    double before = 0;
};

/// The state without past noise, which follows: the present one, what was present one exchange
/// earlier where that is still needed, then what a later phase starts from.
struct StateLayout {
    const AgentIndex* present = nullptr;
    Eigen::Index before = StatePart::none;  ///< where it begins; of the same agents
    std::vector<StatePart> kept;
    Eigen::Index size = 0;
};

/// How the state is laid out before and after every gossip step. Refers to the rounds, which
/// outlive it.
class StateLayouts {
  public:
    explicit StateLayouts(const ViewRounds& rounds);

    [[nodiscard]] StateLayout before(long round, int step) const;
    [[nodiscard]] StateLayout after(long round, int step) const;
    /// What the messages of a step are made of, in the state before it; round
    /// ProcessRounds::beginning where all of it is known.
    [[nodiscard]] StatePart origin(long round, int step) const;
    /// How they are made of it; plain where all of it is known.
    [[nodiscard]] Exchange exchange(long round, int step) const;
    /// Entries of a step with the sizes of the state, and F = 1 on what is kept.
    [[nodiscard]] StepEntries blank_step(long round, int step) const;

  private:
    [[nodiscard]] const AgentIndex& agents_after(long round) const;
    [[nodiscard]] bool needs_before(long round, int step) const;
    [[nodiscard]] StatePart part_after(long end, long round, const StateLayout& before) const;

    const ViewRounds& rounds_;
    int gossip_steps_;
    AgentIndex nobody_;
    /// (round, later round that starts from what was at its end); not the next one.
    std::vector<std::pair<long, long>> needed_again_;
};

/// A gossip step where every receiver of a message gets the same one: the state is hidden agents'
/// messages, m = here W m' - before m'' + q with m' and m'' those one and two exchanges earlier;
/// seen messages are known. With secure sums nobody's message is seen, and y = (rows of W) m(t).
/// Without the past noise of correlated rounds.
[[nodiscard]] StepEntries message_step(const ViewRounds& rounds,
                                       const StateLayouts& layouts,
                                       long round,
                                       int step);

/// A gossip step where every receiver may get another message: the state is the models before the
/// round. Without the past noise of correlated rounds.
[[nodiscard]] StepEntries receiver_step(const ViewRounds& rounds,
                                        const StateLayouts& layouts,
                                        long round,
                                        int step);

/// Entries of past noise in the state after a round.
[[nodiscard]] Eigen::Index past_noise_size(const ViewRounds& rounds, long round);

/// The step with the noise of a round as its plan correlates it with earlier ones: v(t) of a round
/// in place of fresh noise, and past values h_1, h_2, ... behind the rest of the state. Those of an
/// earlier stretch are forgotten.
[[nodiscard]] StepEntries with_past_noise(StepEntries entries,
                                          const ViewRounds& rounds,
                                          long round,
                                          int step);

}  // namespace sotto
