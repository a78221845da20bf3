#pragma once

#include <functional>

#include "run/build_topography.hpp"
#include "run/config.hpp"
#include "run/local_task.hpp"
#include "run/train_result.hpp"
#include "run/training_listener.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// The main job: bootstrap (process 0, or every process, builds graph, mixing and plan; all verify;
/// handshake; seeds), rounds, evaluation, ledger, models. COLLECTIVE.
/// @param make_task the agents' inputs where config.task does not say; COLLECTIVE.
/// @param stop_requested polled on every process; when one says yes, all stop after the same round
/// with the ledger written.
/// @throws Error before the first round, the same on every process. In the rounds a failing process
/// of several reports its round and ends the job (Network::abort); alone, it throws.
[[nodiscard]] TrainResult run_training(const TrainConfig& config,
                                       Network& network,
                                       TrainingListener& listener,
                                       const std::function<bool()>& stop_requested,
                                       const std::function<LocalTask()>& make_task = {});

}  // namespace sotto
