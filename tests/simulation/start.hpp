#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/observer.hpp"
#include "simulation/run_schedule.hpp"
#include "simulation/world.hpp"

namespace sotto::simulation {

/// How a rank of a start ended.
struct RankOutcome {
    int number = 0;
    RankState state = RankState::ready;
    Death death = Death::none;
    int exit_code = -1;
    long exchanges = 0, calls = 0, writes = 0;
    bool deviates = false;
    std::string lines;
};

struct StartOutcome {
    std::vector<RankOutcome> ranks;
    std::vector<std::string> violations;
    std::vector<Use> uses;
    std::vector<long> fired;
    std::uint64_t digest = 0;
    long steps = 0;
};

struct StartOptions {
    WorldOptions world;
    std::vector<std::string> arguments;  ///< of the program
    std::string ledger;                  ///< file; empty: nobody's word counts
    std::string snapshot;                ///< folder to copy `disks` to, at `snapshot_step`
    std::string disks;
    long snapshot_step = 0;
    int gossip_steps = 1;
    bool link_encryption = true;
    std::map<int, long> sent_before;  ///< rounds that the ledger must count, by agent
    Planted planted = Planted::nothing;
};

/// Runs one start in a process of its own: whatever happens to it, this one goes on.
[[nodiscard]] StartOutcome run_start(const StartOptions& options, const Uses& before);

/// `sotto` ... in one process, without a simulation. @return its exit code.
[[nodiscard]] int run_reference(const std::vector<std::string>& arguments,
                                const std::string& folder);

/// Rounds that a ledger counts, by agent; empty: there is none.
[[nodiscard]] std::map<int, long> counted_rounds(const std::string& ledger, int agents);

}  // namespace sotto::simulation
