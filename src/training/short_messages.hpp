#pragma once

#include <Eigen/Core>

#include "agent/message_steps.hpp"
#include "graph/topography.hpp"
#include "net/message_precision.hpp"
#include "training/run.hpp"

namespace sotto {

/// The precision of messages: what --precision says or, for auto, nibble where it is possible and
/// there is noise, else float32, else float64.
/// @param fixed_inputs whether inputs do not depend on messages.
/// @throws ConfigError with the reason if messages of the plan cannot be rounded as asked.
[[nodiscard]] MessagePrecision settled_precision(const TrainConfig& config,
                                                 const NoisePlan& plan,
                                                 const Topography& topography,
                                                 bool fixed_inputs);

/// The same before a plan is made, to choose --gossip-steps by; what cannot be is refused later.
[[nodiscard]] MessagePrecision expected_precision(const TrainConfig& config,
                                                  const Topography& topography,
                                                  bool fixed_inputs);

/// What messages of rounds that measure data have: those are few, and never short.
[[nodiscard]] MessagePrecision survey_precision(const TrainConfig& config);

/// The steps of short messages as process 0 predicts them; every process checks them against its
/// own, which may differ in the last digits. COLLECTIVE.
/// @param dimension d.  @param coordinates whether each coordinate is its own model.
/// @throws NetworkError, the same on every process, for steps that do not follow from the plan.
[[nodiscard]] MessageSteps agree_on_message_steps(const Run& run,
                                                  Eigen::Index dimension,
                                                  bool coordinates);

}  // namespace sotto
