#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "graph/neighbour_list.hpp"
#include "net/agent_blocks.hpp"
#include "net/network.hpp"
#include "planning/build_topography.hpp"
#include "planning/planning.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/plan/membership.hpp"
#include "store/run_history.hpp"
#include "trust/handshake.hpp"

namespace sotto {

/// Who takes part in a run, and on which graph.
struct Participants {
    Membership members;
    std::optional<Credentials> credentials;  ///< of the local agents, if any
    /// Of those who take part; on processes that build it: those that solve the plan, and with
    /// secure sums all, because the graph decides what sums hide.
    std::optional<BuiltTopography> built;
    std::optional<Topography> whole;  ///< of all agents of the run; on the same processes
    Topography topography;            ///< of those who take part, the same on every process
    bool solves = false;              ///< this process solves the plan
};

/// Who takes part: everybody but spares, or who is left of a run that is resumed and who joins it.
/// COLLECTIVE.
/// @param history of a run that is resumed; null: it begins.
/// @throws ConfigError, the same on every process, for agents that are not there, or unless the
/// network has as many as take part.
[[nodiscard]] Membership agree_on_members(const TrainConfig& config,
                                          Network& network,
                                          const RunHistory* history);

/// Process 0 builds what is public, or every process does; everybody checks the options that it
/// depends on, and gets process 0's numbers. COLLECTIVE.
/// @throws ConfigError, DataError, CryptoError, NetworkError, the same on every process; the last
/// where a process built another graph, or with secure sums has weights with other bits.
[[nodiscard]] Participants gather_participants(const TrainConfig& config,
                                               Network& network,
                                               Membership members);

/// Who takes part once these have left, and others have joined that never took part.
/// @param change its `without` and `joining`.
/// @throws ConfigError for agents that are not there, took part before, or do not exist, or if
/// nobody is left.
[[nodiscard]] Membership members_after(const RunHistory& history, const ResumeConfig& change);

/// @param all agents of the run.  @throws ConfigError for spares that do not exist, or agent 0.
void require_possible_spares(const std::vector<int>& spares, int all);

/// The spares of a run that never took part, ascending.
/// @param history null: it begins.
[[nodiscard]] std::vector<int> waiting_spares(const std::vector<int>& spares,
                                              const RunHistory* history);

/// Takes those who have left, or wait, out of graph and mixing. @throws ConfigError where the rest
/// is not connected, or the configuration names them: a mixing file, a mixing schedule, seed
/// groups, a plan of a file or recordings.
[[nodiscard]] BuiltTopography keep_members(BuiltTopography built,
                                           const TrainConfig& config,
                                           const Membership& members);

// The graph of agents that know their own neighbours only.

/// What a process says of its agents, in their order.
[[nodiscard]] std::string pack_neighbour_lists(const std::vector<NeighbourList>& lists);
/// @throws NetworkError naming the process for anything but one list of other agents, ascending,
/// for each of its own.
[[nodiscard]] std::vector<NeighbourList> unpack_neighbour_lists(std::string_view bytes,
                                                                int process,
                                                                const AgentBlocks& blocks);

/// Every process reads what its agents know, tells all others, and makes the graph of it by itself
/// ([W] V-B: agents that know their neighbours only come to know the graph). COLLECTIVE.
/// @param path read_neighbour_list; %r is the agent's number.
/// @throws DataError, the same on every process: as read_neighbour_list and
/// graph_of_neighbour_lists. @throws NetworkError as unpack_neighbour_lists.
[[nodiscard]] Graph agree_on_graph(Network& network, const std::string& path);

}  // namespace sotto
