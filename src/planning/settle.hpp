#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "graph/topography.hpp"
#include "net/network.hpp"
#include "planning/choices.hpp"

namespace sotto {

/// What choices depend on beside the plan that was asked for.
struct PlanInputs {
    const Topography& topography;
    std::vector<Eigen::Index> records{};                     ///< of every agent; empty: not known
    long dimension = 1;                                      ///< parameters of the model
    MessagePrecision precision = MessagePrecision::float64;  ///< which --max-bytes counts
    bool rounds_alone = false;  ///< figures of the rounds are asked for: final gossip is none
    bool secure_sum = false;    ///< likewise, whatever process 0 says
};

/// A plan with nothing open, and how that came about.
struct Settlement {
    SettledPlan plan;
    PlanChoices choices;  ///< on processes that solve plans
};

/// Chooses everything that was left open, in the order in which the choices depend on each other:
/// final gossip, the shape of the temporal factor, the cycle (which narrows its band), gossip
/// steps. Cost: see choose_temporal, choose_cycle, choose_gossip_steps.
/// @throws ConfigError as these, and as require_possible_smoothing.
[[nodiscard]] Settlement settle(const AskedPlan& asked, const PlanInputs& inputs);

/// The same with other processes: process 0 chooses, and every process that solves plans (`solves`)
/// compares with its own choice. COLLECTIVE, after options were compared.
/// @throws as settle(); NetworkError where two processes chose differently, or process 0 chose
/// nothing or something that is not allowed; the same on every process.
[[nodiscard]] Settlement settle(const AskedPlan& asked,
                                const PlanInputs& inputs,
                                Network& network,
                                bool solves);

/// What an option leaves to the plan, for messages.
struct OpenChoice {
    std::string_view what;     ///< "K"
    std::string_view option;   ///< "--gossip-steps auto"
    std::string_view instead;  ///< "--gossip-steps K"
};

/// Process 0's choice, where this process leaves it open; empty otherwise. COLLECTIVE.
/// @param own in at most 64 characters what this process chose, empty where it did not choose.
/// @throws NetworkError where process 0 chose nothing, or something else than this process; the
/// same on every process.
[[nodiscard]] std::string agree_on_choice(Network& network,
                                          const OpenChoice& choice,
                                          bool open,
                                          const std::string& own);

}  // namespace sotto
