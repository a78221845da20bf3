#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sotto/agent/trainer.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/trust/key_ring.hpp"

namespace sotto {

/// What an agent learns of the others in a round.
enum class Received {
    messages,  ///< the message of each neighbour
    sum,       ///< secure sums: sum_v w_av m_v over its neighbours v, nothing else
    mean       ///< trusted aggregator: the mean of all messages
};

/// The constant part of a recorded view.
struct ViewHeader {
    int agent = 0;
    int agents = 0;
    Eigen::Index dimension = 0;
    std::vector<int> neighbours;  ///< ascending
    Received received = Received::messages;
    std::uint32_t key_epoch = 0;
    std::string plan_hash;  ///< hexadecimal

    /// Vectors received a round: one per neighbour, or 1.
    [[nodiscard]] Eigen::Index columns() const;
    /// float64 values of one round in the file.
    [[nodiscard]] Eigen::Index values_per_round() const;
};

/// What one agent made, sent and received in one round.
struct RecordedRound {
    long round = 0;
    double step_size = 0;        ///< eta_t
    Eigen::VectorXd mixing_row;  ///< of its closed neighbourhood, ascending
    Eigen::VectorXd before;      ///< its model at the start
    Eigen::VectorXd gradient;    ///< clipped, on the grid
    Eigen::VectorXd noise;       ///< its own, on the grid
    Eigen::VectorXd message;     ///< as sent (with secure sums: before weighing and masking)
    Eigen::MatrixXd received;    ///< dimension x ViewHeader::columns(), after decryption
};

struct RecordedView {
    ViewHeader header;
    std::vector<RecordedRound> rounds;
};

/// Writes views of some of this process's agents while they train: `folder`/<agent>/view.bin
/// (docs/recorded-view.md), appended round by round and flushed. Changes nothing of the run. Keeps
/// one round a recorded agent in memory. The files hold un-noised gradients: mode 0600.
class ViewRecorder final : public RoundObserver {
  public:
    /// What is the same for all recorded agents of a run.
    struct Setup {
        Eigen::Index dimension = 0;
        Received received = Received::messages;
        std::uint32_t key_epoch = 0;
    };
    /// @param local_agents of the Trainer, same order.  @param recorded agents to record; those
    /// that are not local are left to other processes.
    /// @throws ConfigError if a folder or file cannot be made.
    ViewRecorder(const std::filesystem::path& folder,
                 std::span<const int> local_agents,
                 std::span<const int> recorded,
                 const Graph& graph,
                 const NoisePlan& plan,
                 const Setup& setup);
    ~ViewRecorder() override;

    void on_message(long round, std::size_t local_index, const OwnRound& own) override;
    void on_received(long round,
                     std::size_t local_index,
                     Eigen::Index first,
                     Eigen::Index count,
                     std::span<const double* const> columns) override;
    void on_sum(long round,
                std::size_t local_index,
                Eigen::Index first,
                std::span<const double> sum) override;
    /// @throws ConfigError if the round cannot be written.
    void on_mixed(long round, std::size_t local_index) override;

    /// Ends the files: only then are they whole. After the last round, not after a failure.
    void finish();

  private:
    struct View;
    std::vector<std::unique_ptr<View>> views_;  // one per local agent; empty where not recorded
};

/// Writes the seeds an agent holds to `folder`/<agent>/seeds.json, mode 0600.
/// @throws ConfigError if it cannot be written.
void record_seeds(const std::filesystem::path& folder, const NoisePlan& plan, const KeyRing& ring);

/// Reads a view.bin; memory grows with its rounds.
/// @throws DataError naming the file and what is wrong: not a recorded view, cut short or without
/// its end, rounds out of order, or a value that is not finite.
[[nodiscard]] RecordedView read_recorded_view(const std::filesystem::path& file);

}  // namespace sotto
