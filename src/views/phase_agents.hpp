#pragma once

#include <vector>

#include "sotto/views/message_process.hpp"
#include "sotto/views/view.hpp"
#include "views/agent_index.hpp"

namespace sotto {

/// Who is there, who is seen and who has to be tracked in one phase.
struct PhaseAgents {
    std::vector<bool> present;
    std::vector<int> seen;   ///< not members; the view reads their messages
    std::vector<int> watch;  ///< members that are there
    AgentIndex hidden;       ///< not members, not seen, there now or later
    AgentIndex others;       ///< not members, there now or later
};

/// Of phase number `index` of the process.
[[nodiscard]] PhaseAgents phase_agents(const MessageProcess& process,
                                       const View& view,
                                       std::size_t index);

}  // namespace sotto
