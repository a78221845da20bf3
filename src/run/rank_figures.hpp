#pragma once

#include "run/training.hpp"
#include "sotto/agent/trainer.hpp"
#include "sotto/plan/membership.hpp"

namespace sotto {

/// What every process did in the rounds, and what follows for the whole job: fills ranks, phases,
/// bytes_sent, loop_seconds and peak_memory_mib of `result`, the same on every process. COLLECTIVE.
/// @throws NetworkError naming the rank for figures that are none.
void gather_figures(Network& network,
                    const Trainer& trainer,
                    const Membership& members,
                    TrainResult& result);

}  // namespace sotto
