#pragma once

// Messages between neighbours; not installed.

#include <Eigen/Dense>
#include <vector>

#include "edge_pieces.hpp"
#include "links.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// Network::exchange of one agent: MPI_Ineighbor_allgather where all neighbours get the same and
/// may read it on the wire, else MPI_Ineighbor_alltoall.
class MpiExchange {
  public:
    MpiExchange(const MpiLinks& links, EdgePieces& pieces) : links_(links), pieces_(pieces) {}
    /// COLLECTIVE.
    void run(ExchangeId id,
             const Outgoing& message,
             Eigen::Index dimension,
             const Delivery& deliver);

  private:
    /// Sends a piece of its own to every neighbour that gets something.
    void swap(const Outgoing& message, Eigen::Index first, std::int64_t piece, Eigen::Index count);

    const MpiLinks& links_;
    EdgePieces& pieces_;
    std::vector<const double*> columns_;  // kept between calls
};

}  // namespace sotto
