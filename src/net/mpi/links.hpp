#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "net/agent_blocks.hpp"
#include "net/mpi/world.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/graph/graph.hpp"

namespace sotto {

/// Digest of process 0's graph, on every process. COLLECTIVE.
[[nodiscard]] Digest graph_of_rank_0(MpiWorld& world, const Graph& own);

/// The local end of an edge between a local agent and one of another process.
struct LinkEnd {
    std::size_t neighbour;  ///< index of the other process among destinations or sources
    std::size_t local;      ///< index of the agent among the local ones
    std::size_t place;      ///< of the other agent in this agent's closed neighbourhood
    std::size_t sender;     ///< index among the agents that send to that process
    int other = -1;         ///< the other agent
};

/// An edge between agents of this process, or from an agent to itself.
struct InnerLink {
    std::size_t local, place;               ///< of the receiver, and of the sender at it
    std::size_t sender, place_of_receiver;  ///< of the sender, and of the receiver at it
};

/// The edges of this process's agents: a communicator that joins processes whose agents share an
/// edge (MPI_Dist_graph_create_adjacent, reorder = 0), and the order of messages between two
/// processes.
class MpiLinks {
  public:
    MpiLinks(MpiWorld& world, AgentBlocks blocks) : world_(world), blocks_(blocks) {}
    ~MpiLinks();
    MpiLinks(const MpiLinks&) = delete;
    MpiLinks& operator=(const MpiLinks&) = delete;

    /// Call once, with the same graph on every process. COLLECTIVE.
    void connect(const Graph& graph);
    [[nodiscard]] bool connected() const { return communicator_ != MPI_COMM_NULL; }

    [[nodiscard]] MPI_Comm communicator() const { return communicator_; }
    [[nodiscard]] const AgentBlocks& blocks() const { return blocks_; }
    [[nodiscard]] int rank() const { return world_.rank(); }
    /// Other processes with an edge in any direction, ascending.
    [[nodiscard]] std::span<const int> neighbours() const { return neighbours_; }
    /// Indices in neighbours(), ascending, of processes that messages go to, and come from.
    [[nodiscard]] std::span<const std::size_t> destinations() const { return destinations_; }
    [[nodiscard]] std::span<const std::size_t> sources() const { return sources_; }

    /// Size of a local agent's closed neighbourhood.
    [[nodiscard]] std::size_t members(std::size_t local) const { return members_[local]; }
    /// The agent's own place in it.
    [[nodiscard]] std::size_t own_place(std::size_t local) const { return own_places_[local]; }
    [[nodiscard]] std::size_t local_agents() const { return members_.size(); }

    /// Edges to other processes in message order: by neighbour, sender, receiver; the same at both
    /// ends.
    [[nodiscard]] std::span<const LinkEnd> outgoing() const { return outgoing_; }
    [[nodiscard]] std::span<const LinkEnd> incoming() const { return incoming_; }
    [[nodiscard]] std::span<const InnerLink> inner() const { return inner_; }
    /// Most edges from or to other processes, in one direction, of any process.
    [[nodiscard]] std::size_t most_links() const { return most_links_; }

  private:
    void list_links(const Graph& graph);
    void count_links(const Graph& graph);
    void create_communicator();

    MpiWorld& world_;
    AgentBlocks blocks_;
    MPI_Comm communicator_ = MPI_COMM_NULL;
    std::vector<int> neighbours_;
    std::vector<std::size_t> destinations_, sources_;
    std::vector<std::size_t> members_, own_places_;  // by local agent
    std::vector<LinkEnd> outgoing_, incoming_;
    std::vector<InnerLink> inner_;
    std::size_t most_links_ = 0;
};

}  // namespace sotto
