#pragma once

// Sums of what the neighbours share; not installed.

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

#include "edge_pieces.hpp"
#include "links.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// Network::exchange_sum of one agent.
class MpiExchangeSum {
  public:
    MpiExchangeSum(const MpiLinks& links, EdgePieces& pieces) : links_(links), pieces_(pieces) {}
    /// COLLECTIVE.
    void run(ExchangeId id,
             Eigen::Index dimension,
             const ShareSource& share,
             const SumDelivery& deliver);

  private:
    const MpiLinks& links_;
    EdgePieces& pieces_;
    std::vector<std::uint64_t> sum_;  // kept between calls
};

}  // namespace sotto
