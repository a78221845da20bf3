#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "graph/topography.hpp"
#include "net/control.hpp"
#include "planning/choices.hpp"

namespace sotto {

/// Inputs of choices besides the requested plan.
struct PlanInputs {
    const Topography& topography;
    std::vector<Eigen::Index> records{};                     ///< of every agent; empty: not known
    long dimension = 1;                                      ///< parameters of the model
    MessagePrecision precision = MessagePrecision::float64;  ///< for --gossip-steps auto
    bool rounds_alone = false;     ///< figures of the rounds alone are requested: no final gossip
    bool secure_sum = false;       ///< likewise, whatever process 0 chooses
    bool designed_mixing = false;  ///< weights are made for the noise: --mixing optimised
    double l2 = 0;                 ///< of the objective, for --noise-schedule auto
    double bytes_before = 0;       ///< sent before the rounds, which count in --max-bytes
};

/// A settled plan and how its values were chosen.
struct Settlement {
    SettledPlan plan;
    PlanChoices choices;  ///< on processes that solve plans
};

/// @throws ConfigError if something is left to the tuning rule, which only a training follows.
void require_given_values(const AskedPlan& asked);

/// Chooses all open values in the order of their dependencies: correction, final gossip, the shape
/// of the temporal factor, the cycle (which narrows its band), gossip steps. Cost: see
/// choose_temporal, choose_cycle, choose_gossip_steps. The noise of every round follows from
/// --noise-schedule on every process (round_noise_of). @throws ConfigError as these, and as
/// require_possible_smoothing; for a correction with secure sums or designed mixing.
[[nodiscard]] Settlement settle(const AskedPlan& asked, const PlanInputs& inputs);

/// The same with other processes: process 0 chooses, and every process that solves plans (`solves`)
/// compares with its own choice. COLLECTIVE, after options were compared.
/// @throws as settle(); NetworkError if two processes chose differently, or process 0 chose nothing
/// or an invalid value; the same on every process.
[[nodiscard]] Settlement settle(const AskedPlan& asked,
                                const PlanInputs& inputs,
                                Control& network,
                                bool solves);

/// Chooses the correction and exchanges before the tuning rule chooses rounds, since it counts the
/// noise that they leave (by with_all_records). K is chosen if it is --gossip-steps auto or not
/// given, weights if they are not given; of the latter nothing where messages are not mixed or
/// mixing weights are made for K = 1. With --max-bytes, for which rounds must be known, weights
/// stay plain and K stays open. With nibbles, lowers the plan's cap on variances. COLLECTIVE.
/// @return on every process, `precision`: that of inputs or, if it is open, the better one.
/// @throws as settle().
[[nodiscard]] GossipChoice settle_exchanges(
    AskedPlan& plan, const PlanInputs& inputs, bool precision_open, Control& network, bool solves);

/// An open option, for messages.
struct OpenChoice {
    std::string_view what;     ///< "K"
    std::string_view option;   ///< "--gossip-steps auto"
    std::string_view instead;  ///< "--gossip-steps K"
};

/// Process 0's choice if this process leaves it open; otherwise empty. COLLECTIVE.
/// @param own choice of this process in at most 64 characters; empty if it made none.
/// @throws NetworkError if process 0 chose nothing, or differs from this process; the same on every
/// process.
[[nodiscard]] std::string agree_on_choice(Control& network,
                                          const OpenChoice& choice,
                                          bool open,
                                          const std::string& own);

}  // namespace sotto
