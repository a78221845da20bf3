#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sotto {

/// What one agent made in a gossip step of a round, before anything of it is sent; views that last
/// as long as the call.
struct OwnRound {
    int receiver;                              ///< of the message; NoiseRow::all_receivers
    int gossip_step;                           ///< from 0
    double step_size;                          ///< eta_t
    Eigen::Ref<const Eigen::VectorXd> before;  ///< its model at the start of the gossip step
    /// Clipped, on the grid, as it entered the message. Empty after the first gossip step.
    Eigen::Ref<const Eigen::VectorXd> gradient;
    /// On the grid, as it entered the message. Empty after the first gossip step.
    Eigen::Ref<const Eigen::VectorXd> noise;
    Eigen::Ref<const Eigen::VectorXd> message;  ///< as sent
    std::span<const double> mixing_row;         ///< of its closed neighbourhood, ascending
    /// Whether a neighbour gets a message: not where all its edges rest in this round, and with
    /// secure sums or a trusted mean none does.
    bool sent;
};

/// Sees what an agent makes, sends and receives; changes nothing. Calls for different agents may
/// come from different threads.
class RoundObserver {
  public:
    virtual ~RoundObserver() = default;
    /// After a message of the agent is made and before anything of the gossip step is sent; once,
    /// or once for every receiver (itself among them). What follows belongs to this gossip step
    /// until its next one begins.
    virtual void on_message(long round, std::size_t local_index, const OwnRound& own) = 0;
    /// Coordinates [first, first + count) of the messages of its closed neighbourhood (ascending;
    /// its own among them), decrypted, as they are mixed; null for members that sent nothing.
    /// Ranges arrive in order.
    virtual void on_received(long /*round*/,
                             std::size_t /*local_index*/,
                             Eigen::Index /*first*/,
                             Eigen::Index /*count*/,
                             std::span<const double* const> /*columns*/) {}
    /// The same coordinates of all it learns where it does not receive messages: with secure sums
    /// the neighbours' sum_v w_av m_v, with a trusted mean the mean of all messages.
    virtual void on_sum(long /*round*/,
                        std::size_t /*local_index*/,
                        Eigen::Index /*first*/,
                        std::span<const double> /*sum*/) {}
    /// Coordinates [first, first + words.size()) of the masked share for its neighbour-th neighbour
    /// (ascending, without itself), as it leaves the agent with secure sums. Also calls for one
    /// agent may come from different threads.
    virtual void on_share(long /*round*/,
                          int /*gossip_step*/,
                          std::size_t /*local_index*/,
                          std::size_t /*neighbour*/,
                          Eigen::Index /*first*/,
                          std::span<const std::uint64_t> /*words*/) {}
    /// After the agent has mixed in a gossip step; one agent after the other.
    virtual void on_mixed(long /*round*/, std::size_t /*local_index*/) {}
};

}  // namespace sotto
