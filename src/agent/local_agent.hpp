#pragma once

#include <Eigen/Core>
#include <Eigen/Dense>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "learn/batches.hpp"
#include "sotto/learn/objective.hpp"

namespace sotto {

/// Work that hides how many records a sampled batch has: of rounds that compute the gradients of at
/// least as many records as this the time does not tell. (Records that differ in time themselves,
/// as sparse ones, still show.)
class BatchPadding {
  public:
    /// @param least records a round works through; 0: as many as its batch has.
    explicit BatchPadding(Eigen::Index least = 0) : least_(least) {}

    [[nodiscard]] Eigen::Index least() const { return least_; }
    /// Room for the work. Before the first round.
    void prepare(Eigen::Index dimension);
    /// Clipped gradients, for nothing, of as many records as a batch of this size lacks.
    /// @param clip_norm, grid_step as Objective::clipped_gradient_sum takes them.
    void work(Objective& objective,
              const Eigen::Ref<const Eigen::VectorXd>& model,
              Eigen::Index batch,
              double clip_norm,
              double grid_step);

  private:
    Eigen::Index least_;
    std::vector<Eigen::Index> rows_;
    Eigen::VectorXd sum_;
};

/// One agent of this process: its data and where it is in them.
struct LocalAgent {
    int id = 0;  ///< its place in network, graph and plan
    std::unique_ptr<Objective> objective;
    BatchSampler batches;
    Eigen::Index batch_size = 1;  ///< B_u: divisor of a sum of clipped record gradients
    int number = id;              ///< its number in the run (membership.hpp)
    BatchPadding padding{};
};

/// What training did to an agent's numbers so that nothing about its data shows in whether, or how,
/// the job goes on. It depends on the data: for the agent alone, never sent.
struct AgentReport {
    /// Rounds whose gradient was not finite and counted as zero (or some of its coordinates, where
    /// each is a model of its own).
    std::int64_t gradients_set_to_zero = 0;
    /// Records, of all rounds, whose gradient was not finite and counted as zero.
    std::int64_t records_set_to_zero = 0;
    /// Messages of which values were brought into the range that messages may have.
    std::int64_t messages_limited = 0;
    /// Gradients that the clip was for, of batches or of records, and those of them that it made
    /// shorter; both 0 where the objective does not count (Objective::counts_shortened_records).
    std::int64_t gradients = 0, gradients_shortened = 0;

    [[nodiscard]] bool empty() const {
        return gradients_set_to_zero == 0 && records_set_to_zero == 0 && messages_limited == 0;
    }
};

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
