#pragma once

#include <optional>
#include <vector>

#include "sotto/graph/gossip.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// A stretch of rounds in which the same agents are there, under one plan's noise.
struct Phase {
    long rounds = 1;
    MixingSchedule mixing;  ///< over all agents of the network; round 0 is the phase's first
    /// Ascending; they send nothing, add no noise and contribute nothing. In `mixing` they have
    /// weight 1 on themselves and nobody weighs them. They may come back in a later phase.
    std::vector<int> departed;
    /// Noise of the phase's own, independent of all before it: the temporal factor begins with its
    /// first round. Over all agents of the network, those who have departed too. Null: the
    /// process's plan, which runs on through phases that follow one another without a plan, and
    /// begins anew after one with a plan.
    const NoisePlan* plan = nullptr;
    /// Training rounds before the phase that are done again: every agent, departed or not, starts
    /// from the model it had before them. Their messages stay seen. From 0 to as many training
    /// rounds as there are; 0 in the first phase.
    long repeated = 0;
    /// What its exchanges make of messages, where that is not as in the process: as many steps.
    std::optional<GossipPolynomial> gossip = std::nullopt;

    [[nodiscard]] bool has_departed(int agent) const;
};

/// The messages of a run: m_0(t) = x(t) - eta_t u(t), u(t) = B u(t-1) + g(t) + v(t), then
/// m_(k+1)(t) = here_k W_t m_k(t) - before_k m_(k-1)(t) and x(t+1) = m_K(t), where m_0 to m_(K-1)
/// are sent; everything but g known or Gaussian; with repeated rounds x(t) is an earlier one. t
/// counts the rounds whose messages were sent, repeated ones each time. After the last round the
/// models, or means of an agent's models, are exchanged some more times. Borrowed pointers outlive
/// the object.
struct MessageProcess {
    const Graph* graph = nullptr;     ///< who receives whose messages
    const NoisePlan* plan = nullptr;  ///< v(t) of phases without a plan of their own
    std::vector<Phase> phases;
    GossipPolynomial gossip{1};  ///< K steps: messages a round; gradients and noise enter the first
    double momentum = 0;         ///< B in [0, 1); 0: u = g + v
    int final_gossip = 0;        ///< exchanges after the last round
    std::vector<double> step_sizes;  ///< eta_t > 0, one a round; empty: all 1
    [[nodiscard]] long rounds() const;
    /// Of every round, which round of the training it is: a repeated one has the number it had.
    /// Participation goes by them. @throws ConfigError for more repeated rounds than there are.
    [[nodiscard]] std::vector<long> training_rounds() const;
    /// The plan whose noise a phase has.
    [[nodiscard]] const NoisePlan& plan_of(const Phase& phase) const;
    /// What the exchanges of a phase's rounds make of messages.
    [[nodiscard]] const GossipPolynomial& gossip_of(const Phase& phase) const;
};

}  // namespace sotto
