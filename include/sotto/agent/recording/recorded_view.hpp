#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "sotto/agent/recording/recording_header.hpp"
#include "sotto/agent/round_observer.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

class RecordingFileReader;

/// What an agent learns of the others in a gossip step.
enum class Received {
    messages,  ///< the message of each neighbour
    sum,       ///< secure sums: sum_v w_av m_v over its neighbours v, nothing else
    mean       ///< trusted aggregator: the mean of all messages
};

/// Of a recorded view; where there is an output for every receiver, the agent itself is among them.
struct ViewHeader : RecordingHeader {
    /// Where the parts of a record stand.
    struct Layout;

    Received received = Received::messages;

    /// Vectors received a gossip step: one per neighbour, or 1.
    [[nodiscard]] Eigen::Index columns() const;
    /// float64 values of one record in the file.
    [[nodiscard]] Eigen::Index values_per_record() const;
};

/// What one agent made, sent and received in one gossip step of a round.
struct RecordedRound {
    long round = 0;
    int gossip_step = 0;
    double step_size = 0;        ///< eta_t
    Eigen::VectorXd mixing_row;  ///< this round's, of its closed neighbourhood, ascending
    Eigen::VectorXd before;      ///< its model at the start of the gossip step
    Eigen::VectorXd gradient;    ///< clipped, on the grid; zeros after the first gossip step
    Eigen::MatrixXd noise;    ///< its own, on the grid, dimension x outputs; zeros after the first
    Eigen::MatrixXd message;  ///< dimension x outputs; with secure sums before weighing and masking
    /// dimension x ViewHeader::columns(), after decryption; zeros from a neighbour that sent
    /// nothing in this round, whose weight is 0.
    Eigen::MatrixXd received;
};

struct RecordedView {
    ViewHeader header;
    std::vector<RecordedRound> records;
};

/// Writes views of some of this process's agents while they train: `folder`/<agent>/view.bin
/// (docs/recorded-view.md), appended record by record and flushed. Changes nothing of the run.
/// Keeps one record a recorded agent in memory. The files hold un-noised gradients: mode 0600.
class ViewRecorder final : public RoundObserver {
  public:
    /// What is the same for all recorded agents of a run.
    struct Setup {
        Eigen::Index dimension = 0;
        Received received = Received::messages;
        int gossip_steps = 1;  ///< exchanges a round
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
    /// @throws ConfigError if the record cannot be written.
    void on_mixed(long round, std::size_t local_index) override;

    /// Ends the files: only then are they whole. After the last round, not after a failure.
    void finish();

  private:
    struct View;
    std::vector<std::unique_ptr<View>> views_;  // one per local agent; empty where not recorded
};

/// Reads a view.bin record by record; keeps one record in memory, whatever the number of rounds.
class RecordedViewReader {
  public:
    /// Checks header, size and end of the file; trusts none of them before.
    /// @throws DataError naming the file and what is wrong: not a recorded view, numbers in the
    /// header that do not fit each other, cut short or without its end.
    explicit RecordedViewReader(const std::filesystem::path& file);
    RecordedViewReader(RecordedViewReader&&) noexcept;
    ~RecordedViewReader();

    [[nodiscard]] const ViewHeader& header() const { return header_; }
    /// All of the file: whole rounds of header().gossip_steps each.
    [[nodiscard]] std::uint64_t records() const;
    /// The next record; false after the last. Reuses what `record` holds.
    /// @throws DataError for a round or gossip step that does not follow the one before, or a value
    /// that is not finite.
    bool next(RecordedRound& record);

  private:
    std::unique_ptr<RecordingFileReader> file_;
    ViewHeader header_;
};

/// A whole view.bin; memory grows with its records.
/// @throws DataError as RecordedViewReader.
[[nodiscard]] RecordedView read_recorded_view(const std::filesystem::path& file);

}  // namespace sotto
