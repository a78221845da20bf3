#pragma once

// Along which edges messages go; not installed.

#include <cstddef>
#include <span>
#include <vector>

#include "sotto/core/hash.hpp"
#include "sotto/graph/graph.hpp"
#include "world.hpp"

namespace sotto {

/// Digest of process 0's graph, on every process. COLLECTIVE.
[[nodiscard]] Digest graph_of_rank_0(MpiWorld& world, const Graph& own);

/// The edges of this process's agent: a communicator of its neighbours only
/// (MPI_Dist_graph_create_adjacent, reorder = 0).
class MpiLinks {
  public:
    explicit MpiLinks(MpiWorld& world) : world_(world) {}
    ~MpiLinks();
    MpiLinks(const MpiLinks&) = delete;
    MpiLinks& operator=(const MpiLinks&) = delete;

    /// Once, with the same graph on every process. COLLECTIVE.
    void connect(const Graph& graph);
    [[nodiscard]] bool connected() const { return communicator_ != MPI_COMM_NULL; }

    [[nodiscard]] MPI_Comm communicator() const { return communicator_; }
    /// Ascending, without the agent itself.
    [[nodiscard]] std::span<const int> neighbours() const { return neighbours_; }
    [[nodiscard]] std::size_t degree() const { return neighbours_.size(); }
    /// Of the agent itself in its closed neighbourhood.
    [[nodiscard]] std::size_t own_place() const { return own_place_; }
    /// Of the j-th neighbour in the closed neighbourhood.
    [[nodiscard]] std::size_t place_of(std::size_t j) const { return j < own_place_ ? j : j + 1; }

  private:
    MpiWorld& world_;
    MPI_Comm communicator_ = MPI_COMM_NULL;
    std::vector<int> neighbours_;
    std::size_t own_place_ = 0;
};

}  // namespace sotto
