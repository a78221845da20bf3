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

/// The participants of a run and their graph.
struct Participants {
    Membership members;
    std::optional<Credentials> credentials;  ///< of the local agents, if any
    /// Topography of the participants, on processes that build it: those that solve the plan, and
    /// all with secure sums, because the graph decides what sums hide.
    std::optional<BuiltTopography> built;
    std::optional<Topography> whole;  ///< of all agents of the run, on the same processes
    Topography topography;            ///< of the participants, the same on every process
    bool solves = false;              ///< this process solves the plan
};

/// The participants: all agents but spares in a new run; those who remain or join in a resumed one.
/// COLLECTIVE. @param history of a resumed run; null: a new run.
/// @throws ConfigError, the same on every process, for agents that do not exist, or unless the
/// network has as many agents as participate.
[[nodiscard]] Membership agree_on_members(const TrainConfig& config,
                                          Network& network,
                                          const RunHistory* history);

/// Builds what is public, on process 0 or on every process. All processes compare the options that
/// it depends on, and use process 0's numbers. COLLECTIVE.
/// @throws ConfigError, DataError, CryptoError, NetworkError, the same on every process; the last
/// if a process built another graph, or with secure sums has weights with other bits.
[[nodiscard]] Participants gather_participants(const TrainConfig& config,
                                               Network& network,
                                               Membership members);

/// The participants after some left and new ones joined.
/// @param change its `without` and `joining`.
/// @throws ConfigError for agents that do not participate, participated before, or do not exist, or
/// if nobody remains.
[[nodiscard]] Membership members_after(const RunHistory& history, const ResumeConfig& change);

/// @param all agents of the run.  @throws ConfigError for spares that do not exist, or agent 0.
void require_possible_spares(const std::vector<int>& spares, int all);

/// The spares of a run that have never participated, ascending. @param history null: a new run.
[[nodiscard]] std::vector<int> waiting_spares(const std::vector<int>& spares,
                                              const RunHistory* history);

/// Removes agents that left or wait from graph and mixing. @throws ConfigError if the rest is not
/// connected, or the configuration refers to removed agents: by a mixing file, a mixing schedule,
/// seed groups, a plan file or recordings.
[[nodiscard]] BuiltTopography keep_members(BuiltTopography built,
                                           const TrainConfig& config,
                                           const Membership& members);

// The graph of agents that know only their own neighbours.

/// Encodes the neighbours of a process's agents, in their order.
[[nodiscard]] std::string pack_neighbour_lists(const std::vector<NeighbourList>& lists);
/// @throws NetworkError naming the process unless there is one ascending list of other agents for
/// each of its own.
[[nodiscard]] std::vector<NeighbourList> unpack_neighbour_lists(std::string_view bytes,
                                                                int process,
                                                                const AgentBlocks& blocks);

/// Every process reads its agents' neighbours, sends them to all others, and builds the graph
/// itself ([W] V-B: agents that know only their neighbours learn the graph). COLLECTIVE.
/// @param path read_neighbour_list; %r is the agent's number.
/// @throws DataError, the same on every process, as read_neighbour_list and
/// graph_of_neighbour_lists; NetworkError as unpack_neighbour_lists.
[[nodiscard]] Graph agree_on_graph(Network& network, const std::string& path);

}  // namespace sotto
