#pragma once

// A short training of five agents in one process, and its recordings.

#include <filesystem>
#include <utility>
#include <vector>

#include "agent/agent_fixtures.hpp"
#include "mpi/recording_fixtures.hpp"

namespace sotto::test {

inline constexpr int recorded_agents = 5;
inline constexpr Eigen::Index recorded_dimension = 20000;  // delivered in pieces
inline constexpr long recorded_rounds = 4;

inline const RecordedCase of_messages{"Messages", "decor"};

inline RecordedRun record_five(const RecordedCase& entry,
                               const std::filesystem::path& folder,
                               std::vector<RoundObserver*> observers = {}) {
    NoiseRun run;
    run.rounds = recorded_rounds;
    run.dimension = recorded_dimension;
    run.threads = 2;
    const auto network = make_memory_network(recorded_agents, 2);
    return record_run(*network, entry, folder, run, std::move(observers));
}

inline std::vector<KeyRing> rings_of_five(const NoisePlan& plan) {
    const auto network = make_memory_network(recorded_agents, 1);
    return distribute_seeds(*network, plan, 5);
}

}  // namespace sotto::test
