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

/// Work that hides the size of a sampled batch: the duration of a round is the same for all batches
/// of at most so many records. (Records of different cost, such as sparse ones, still show.)
class BatchPadding {
  public:
    /// @param least records processed in a round; 0: no padding.
    explicit BatchPadding(Eigen::Index least = 0) : least_(least) {}

    [[nodiscard]] Eigen::Index least() const { return least_; }
    /// Allocates. Call before the first round.
    void prepare(Eigen::Index dimension);
    /// Computes and discards clipped gradients of as many records as the batch is short of `least`.
    /// @param clip_norm, grid_step as in Objective::clipped_gradient_sum.
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

struct LocalAgent {
    int id = 0;  ///< index in network, graph and plan
    std::unique_ptr<Objective> objective;
    BatchSampler batches;
    Eigen::Index batch_size = 1;  ///< B_u: divisor of a sum of clipped record gradients
    int number = id;              ///< number in the run (membership.hpp)
    BatchPadding padding{};
    bool lies = false;  ///< in an experiment: evaluation leaves its model out
};

/// Corrections of an agent's numbers, made so that its data influence neither whether nor how the
/// job continues. They depend on the data: for the agent alone, never sent.
struct AgentReport {
    /// Rounds whose gradient (or some coordinates, if each is its own model) was not finite and
    /// counted as zero.
    std::int64_t gradients_set_to_zero = 0;
    /// Records in all rounds whose gradient was not finite and counted as zero.
    std::int64_t records_set_to_zero = 0;
    /// Messages with values outside the allowed range, which were limited.
    std::int64_t messages_limited = 0;
    /// Gradients subject to the clip, of batches or records, and how many were shortened; both 0 if
    /// the objective does not count them (Objective::counts_shortened_records).
    std::int64_t gradients = 0, gradients_shortened = 0;

    [[nodiscard]] bool empty() const {
        return gradients_set_to_zero == 0 && records_set_to_zero == 0 && messages_limited == 0;
    }
};

/// What one agent made in a gossip step before anything is sent; views valid during the call.
struct OwnRound {
    int receiver;  ///< of the message; NoiseRow::all_receivers
    /// From 0. With tracking the first half of a round's steps is about y, and has y in the place
    /// of the model after its first step.
    int gossip_step;
    double step_size;                          ///< eta_t
    Eigen::Ref<const Eigen::VectorXd> before;  ///< model at the start of the gossip step
    /// Clipped, on the grid. Empty after the first gossip step.
    Eigen::Ref<const Eigen::VectorXd> gradient;
    /// On the grid. Empty after the first gossip step.
    Eigen::Ref<const Eigen::VectorXd> noise;
    Eigen::Ref<const Eigen::VectorXd> message;  ///< as sent
    std::span<const double> mixing_row;         ///< of its closed neighbourhood, ascending
    /// Whether a neighbour gets the message: false if all its edges rest in this round, and with
    /// secure sums or a trusted mean.
    bool sent;
    /// Earlier rounds for which nothing was sent, whose noise the message holds too.
    std::span<const long> owed{};
};

/// Sees what an agent makes, sends and receives, without changing it. Calls for different agents
/// may come from different threads.
class RoundObserver {
  public:
    virtual ~RoundObserver() = default;
    /// After a message is made and before anything of the gossip step is sent: once, or once per
    /// receiver (itself included). Later calls belong to this gossip step until the next begins.
    virtual void on_message(long round, std::size_t local_index, const OwnRound& own) = 0;
    /// Coordinates [first, first + count) of the messages of its closed neighbourhood (ascending,
    /// its own included), decrypted; null for members that sent nothing. Ranges arrive in order.
    virtual void on_received(long /*round*/,
                             std::size_t /*local_index*/,
                             Eigen::Index /*first*/,
                             Eigen::Index /*count*/,
                             std::span<const double* const> /*columns*/) {}
    /// The same coordinates if it learns only a sum: with secure sums the neighbours' sum_v w_av
    /// m_v, with a trusted mean the mean of all messages.
    virtual void on_sum(long /*round*/,
                        std::size_t /*local_index*/,
                        Eigen::Index /*first*/,
                        std::span<const double> /*sum*/) {}
    /// Coordinates [first, first + words.size()) of the masked share for its neighbour-th neighbour
    /// (ascending, without itself), as sent. Calls for one agent may come from different threads
    /// too.
    virtual void on_share(long /*round*/,
                          int /*gossip_step*/,
                          std::size_t /*local_index*/,
                          std::size_t /*neighbour*/,
                          Eigen::Index /*first*/,
                          std::span<const std::uint64_t> /*words*/) {}
    /// After the agent has mixed in a gossip step; one agent at a time.
    virtual void on_mixed(long /*round*/, std::size_t /*local_index*/) {}
};

}  // namespace sotto
