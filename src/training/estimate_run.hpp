#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "net/agent_blocks.hpp"
#include "net/network.hpp"
#include "training/prepare_run.hpp"
#include "training/train_result.hpp"

namespace sotto {

/// Estimates memory and round time from a few rounds with gradients, throw-away noise and empty
/// messages. The same on every process. COLLECTIVE. @param prepared whose agents compute gradients.
[[nodiscard]] RunEstimate estimate_run(PreparedRun& prepared);

/// Times gradients and throw-away noise of one round in the slowest process. Sends nothing else.
/// COLLECTIVE. @return [s]
[[nodiscard]] double compute_seconds(PreparedRun& prepared);

/// Which rank hosts which agents, and on which host each rank runs.
struct RankLayout {
    AgentBlocks blocks;              ///< of agents on ranks
    std::vector<int> host_of;        ///< by rank
    std::vector<std::string> hosts;  ///< names
    /// The largest number of agents on one host, and the ranks of that host.
    struct Load {
        int agents = 0, ranks = 0;
    };
    [[nodiscard]] Load heaviest() const;
};

/// Where ranks run. If the specification has a number of hosts, or in a single process, consecutive
/// ranks share hosts as evenly as possible; otherwise this is the real layout. COLLECTIVE.
/// @throws ConfigError for more ranks than agents, more hosts than ranks, and, over MPI, a number
/// of ranks that is not the job's; the same on every process.
[[nodiscard]] RankLayout rank_layout(const NetworkSpec& spec, Network& network);

}  // namespace sotto
