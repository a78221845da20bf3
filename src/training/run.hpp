#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "core/numbers.hpp"
#include "graph/topography.hpp"
#include "learn/standardisation.hpp"
#include "net/network.hpp"
#include "sotto/plan/membership.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "tasks/data_agreement.hpp"
#include "tasks/data_shape.hpp"
#include "tasks/local_task.hpp"
#include "trust/handshake.hpp"

namespace sotto {

/// What all parts of a training share: its configuration, and what its processes agreed on before
/// the first round of a phase.
struct Run {
    TrainConfig config;
    Network& network;
    Membership members;             ///< the participants
    Topography topography;          ///< of the participants
    std::string graph_description;  ///< on processes that built it
    std::string task_description;
    bool own_tests = false;  ///< these six: see LocalTask
    DataShape shape{};
    std::vector<std::optional<Standardisation>> scaling{};
    std::vector<std::string> file_names{};
    /// Columns whose spread noise hides, once their moments are measured (columns_hidden_by_noise).
    std::vector<std::string> hidden_columns{};
    std::vector<std::string> understood{};
    TargetFacts targets{};
    SettledPlan phase;  ///< config.plan for the remaining rounds; begins at steps.first_round
    NoisePlan plan;     ///< of the phase
    std::uint32_t key_epoch = 0;
    bool optimality_gap = false;             ///< evaluation compares with the lowest possible loss
    bool resumable = true;                   ///< see LocalTask
    std::optional<Credentials> credentials;  ///< of the local agents, if any
    Session session;
    DataDigests data{};                              ///< of the files that this process read
    std::vector<DataCommitment> data_commitments{};  ///< one per local agent

    /// Whether this process writes the files that exist once per run.
    [[nodiscard]] bool leader() const { return network.process() == 0; }
    /// Most bytes of past noise that a process keeps, see NoiseSource.
    [[nodiscard]] std::int64_t most_past_bytes() const {
        return static_cast<std::int64_t>(config.past_noise_mib * bytes_per_mib);
    }
};

}  // namespace sotto
