#pragma once

#include <Eigen/Core>
#include <Eigen/Dense>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "config/config.hpp"
#include "net/network.hpp"
#include "planning/tuning.hpp"
#include "sotto/learn/objective.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/privacy_record.hpp"
#include "tasks/local_task.hpp"
#include "training/participants.hpp"
#include "trust/handshake.hpp"

namespace sotto {

struct OpenRun;

/// One paid round before a training, in which all agents learn a sum over all records. Every record
/// contributes a vector of bounded length; agents send noisy sums as they send models, and mix them
/// until all know the same. A phase of the ledger, with a plan, a handshake and keys of its own.
struct Survey {
    enum class Kind {
        norms  ///< how many records have gradients of which norm (norm_histogram.hpp)
    };
    Kind kind = Kind::norms;
    SettledPlan config;  ///< of the one round
    NoisePlan plan;
    PrivacyPhase phase;  ///< with the session
    Session session;
    int exchanges = 1;  ///< K, until agents differ by a hundredth
};

/// Plans a survey as a training of one round is planned; every agent checks that the plan protects
/// it as the survey's share of mu^2 demands. COLLECTIVE.
/// @param share of mu^2.  @param length most that one record adds, L2.
/// @param key_epoch of its own.
/// @throws as agree_on_phase and open_session.
[[nodiscard]] Survey agree_on_survey(const TrainConfig& config,
                                     Network& network,
                                     const Participants& participants,
                                     const LocalTask& task,
                                     Survey::Kind kind,
                                     double share,
                                     double length,
                                     std::uint32_t key_epoch);

/// Carries out the surveys that were agreed, in order, and completes the run with what they found:
/// clip and step of the configuration, plan, ledger and history. Every survey is in the agents' own
/// records, and a checkpoint is sealed, before its round is sent. COLLECTIVE.
/// @throws Error in this process: the run has begun, so end_failed_run must follow.
void carry_out_surveys(OpenRun& open);

}  // namespace sotto
