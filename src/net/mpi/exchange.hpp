#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "net/mpi/edge_pieces.hpp"
#include "net/mpi/links.hpp"
#include "net/network.hpp"

namespace sotto {

/// NeighbourExchange::exchange of this process's agents: MPI_Ineighbor_allgather if every process
/// has one agent, whose neighbours all get the same unencrypted message, else
/// MPI_Ineighbor_alltoallv. A message that is the same for all goes once to every other process.
class MpiExchange {
  public:
    MpiExchange(const MpiLinks& links, EdgePieces& pieces) : links_(links), pieces_(pieces) {}
    /// COLLECTIVE without a deadline (NeighbourExchange::set_deadline).
    /// @param outgoing one per local agent.
    void run(ExchangeId id,
             std::span<const Outgoing> outgoing,
             Eigen::Index dimension,
             MessagePrecision precision,
             const Delivery& deliver,
             std::optional<Clock::time_point> deadline = std::nullopt);

    /// See NeighbourExchange.
    /// NeighbourExchange::deliver_late.
    void deliver_late(const LateDelivery& deliver);
    [[nodiscard]] std::optional<std::uint32_t> used_by(std::size_t local, std::size_t place) const;

  private:
    void number_messages(std::span<const Outgoing> outgoing);
    /// Sends and receives `count` coordinates from `first` on.
    void swap(std::span<const Outgoing> outgoing,
              Eigen::Index first,
              std::int64_t piece,
              Eigen::Index count);
    /// Hands the same to `pieces_`.
    void put(std::span<const Outgoing> outgoing, Eigen::Index first, Eigen::Index count);
    /// Sends and receives whole messages; those that have not come stay null.
    void swap_until(Clock::time_point deadline,
                    std::span<const Outgoing> outgoing,
                    Eigen::Index count);
    /// Packs a piece of every local agent's message.
    void pack_codes(std::span<const Outgoing> outgoing, Eigen::Index first, Eigen::Index count);
    /// Sends and receives what found no room in the piece.
    void swap_rest(std::int64_t piece, Eigen::Index count);
    void widen_received(Eigen::Index count);
    void widen_one(std::size_t message, Eigen::Index count);
    /// @throws NetworkError naming the sender of an invalid message.
    void unpack(std::size_t message, Eigen::Index count, std::span<double> values);
    /// Rethrows as a NetworkError naming the sender. @param read a message.
    template <class Read>
    auto from_sender(std::size_t message, Read&& read) const;
    [[nodiscard]] const double* received(std::size_t message, Eigen::Index count);
    void fill_columns(std::span<const Outgoing> outgoing, Eigen::Index first, Eigen::Index count);

    const MpiLinks& links_;
    EdgePieces& pieces_;
    // Kept between calls.
    MessageNumbers sent_, received_;
    std::optional<bool> numbered_;  // shared or not, in exchanges along all edges
    std::vector<std::vector<const double*>> columns_;  // by local agent
    ExchangeId id_;
    MessagePrecision precision_ = MessagePrecision::float64;
    Eigen::Index longest_ = 0;            // of a piece
    std::span<const std::uint8_t> came_;  // by source; empty: all
    std::vector<double> widened_;         // by message from others, then coordinate
    struct Packed {
        std::vector<std::byte> block;
        std::vector<std::int32_t> rest;
    };
    std::vector<Packed> packed_;                           // by local agent
    std::vector<const std::vector<std::int32_t>*> rests_;  // by message to others
    std::vector<std::vector<std::int32_t>> received_rests_;
};

}  // namespace sotto
