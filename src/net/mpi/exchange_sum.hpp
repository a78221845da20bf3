#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <span>
#include <vector>

#include "net/mpi/edge_pieces.hpp"
#include "net/mpi/links.hpp"
#include "net/network.hpp"

namespace sotto {

/// NeighbourExchange::exchange_sum of this process's agents.
class MpiExchangeSum {
  public:
    MpiExchangeSum(const MpiLinks& links, EdgePieces& pieces) : links_(links), pieces_(pieces) {}
    /// COLLECTIVE.
    void run(ExchangeId id,
             Eigen::Index dimension,
             const ShareSource& share,
             const SumDelivery& deliver);

  private:
    void make_shares(const ShareSource& share, Eigen::Index first, Eigen::Index count);
    void add_shares(const ShareSource& share, Eigen::Index first, Eigen::Index count);
    /// Place among neighbours of a member of a closed neighbourhood.
    [[nodiscard]] std::size_t without_own(std::size_t local, std::size_t place) const {
        return place < links_.own_place(local) ? place : place - 1;
    }
    [[nodiscard]] std::span<std::uint64_t> sum_of(std::size_t local, Eigen::Index count) {
        return std::span(sums_).subspan(local * longest_, static_cast<std::size_t>(count));
    }

    const MpiLinks& links_;
    EdgePieces& pieces_;
    // Kept between calls.
    MessageNumbers sent_, received_;
    bool numbered_ = false;
    std::size_t longest_ = 0;
    std::vector<std::uint64_t> sums_;  // longest_ a local agent
    std::vector<std::uint64_t> own_;   // one share between agents of this process
};

}  // namespace sotto
