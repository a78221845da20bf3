#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "net/agent_blocks.hpp"
#include "net/network.hpp"
#include "training/prepare_run.hpp"
#include "training/train_result.hpp"

namespace sotto {

/// Memory and time of the rounds, from a few rounds of gradients, throw-away noise and empty
/// messages; the same on every process. COLLECTIVE. @param prepared whose agents compute gradients.
[[nodiscard]] RunEstimate estimate_run(PreparedRun& prepared);

/// Gradients and throw-away noise of one round, in the slowest process; nothing else is sent.
/// COLLECTIVE. @return [s]
[[nodiscard]] double compute_seconds(PreparedRun& prepared);

/// Which rank hosts which agents, and on which host it runs.
struct RankLayout {
    AgentBlocks blocks;              ///< of agents on ranks
    std::vector<int> host_of;        ///< by rank
    std::vector<std::string> hosts;  ///< names
    /// Most agents on one host, and the ranks there.
    struct Load {
        int agents = 0, ranks = 0;
    };
    [[nodiscard]] Load heaviest() const;
};

/// Where ranks are, as far as the network says it; else as they are: consecutive ranks share a
/// host, as evenly as possible. COLLECTIVE.
/// @throws ConfigError for more ranks than agents, more hosts than ranks, and, over MPI, another
/// number of ranks than those of the job; the same on every process.
[[nodiscard]] RankLayout rank_layout(const NetworkSpec& spec, Network& network);

}  // namespace sotto
