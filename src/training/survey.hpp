#pragma once

#include <Eigen/Core>
#include <Eigen/Dense>
#include <cstdint>
#include <string>
#include <vector>

#include "planning/tuning.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/privacy_record.hpp"
#include "tasks/local_task.hpp"
#include "training/run.hpp"

namespace sotto {

struct OpenRun;
struct AgreedPhase;

/// One paid round before a training, in which all agents learn a sum over all records. Every record
/// contributes a vector of bounded length; agents send noisy sums as they send models, and mix them
/// until all know the same. A phase of the ledger, with an epoch of the training's keys of its own.
struct Survey {
    NoisePlan plan;        ///< that of the training, scaled
    PrivacyPhase phase;    ///< of places; of the kind `phase.survey`
    double clip_norm = 1;  ///< half the sensitivity if a record is replaced, else the sensitivity
    int exchanges = 1;     ///< K, until agents differ by a thousandth
};

/// The surveys of a training, in order. The plan of the training is scaled so that it protects
/// every record as the survey's share of mu^2 demands; every agent checks that it does. Process 0
/// says by how much. COLLECTIVE.
/// @param phase the training that was agreed on.  @param key_epoch of the first.
/// @throws PrivacyError, NetworkError, the same on every process, as verify_agreement.
[[nodiscard]] std::vector<Survey> agree_on_surveys(const Run& run,
                                                   const AgreedPhase& phase,
                                                   const LocalTask& task,
                                                   const Measured& measured,
                                                   std::uint32_t key_epoch);

/// Bytes that all agents send in the surveys.
/// @param moments numbers that are summed for the moments of columns, if these are measured.
[[nodiscard]] double bytes_of_surveys(const Topography& topography,
                                      const Measured& measured,
                                      Eigen::Index moments,
                                      MessagePrecision precision);

/// Carries out the surveys that were agreed, in order, and completes the run with what they found:
/// scaling, clip and step, plan, ledger and history. Every survey is in the agents' own records,
/// and a checkpoint is sealed, before its round is sent. COLLECTIVE.
/// @throws Error in this process: the run has begun, so end_failed_run must follow.
void carry_out_surveys(OpenRun& open);

}  // namespace sotto
