#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "agent/local_agent.hpp"
#include "agent/recording/recorded_view.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "trust/key_ring.hpp"

namespace sotto {

class RecordingFileReader;

enum class WireContent {
    messages,  ///< as decrypted by their receivers
    shares,    ///< secure sums: masked words per neighbour
    /// What messages change, where some are missing, or mixed by a robust rule: x - m, x the model
    /// that its sender and whoever saw all messages before know. One record a round, empty where
    /// nothing was sent.
    steps
};

/// Of what an agent sends. Its own copy of a message is not sent: outputs for single receivers are
/// its neighbours.
struct WireHeader : RecordingHeader {
    WireContent content = WireContent::messages;
    long rounds = 0;  ///< of steps

    /// Eight-byte numbers per record in the file.
    [[nodiscard]] Eigen::Index values_per_record() const;
};

struct WireRecord {
    using Words = Eigen::Matrix<std::uint64_t, Eigen::Dynamic, Eigen::Dynamic>;
    long round = 0;
    int gossip_step = 0;
    double step_size = 0;  ///< eta_t
    /// dimension x outputs; zeros if nobody was sent anything. Empty with shares. Of steps, one.
    Eigen::MatrixXd messages;
    /// Of steps, what the message holds of every round: nothing (0), noise (1), or noise and
    /// contribution (2), each times eta of that round. Empty otherwise.
    Eigen::VectorXd holds;
    Words shares;  ///< dimension x neighbours, modulo 2^64. Empty with messages.
};

/// Records what local agents send: `folder`/<agent>/messages.bin, in the same way. These files
/// contain no gradient, noise or seed.
class WireRecorder final : public RoundObserver {
  public:
    struct Setup {
        Eigen::Index dimension = 0;
        WireContent content = WireContent::messages;
        int gossip_steps = 1;
        std::uint32_t key_epoch = 0;
        long rounds = 0;  ///< with steps
    };
    /// @param local_agents of the Trainer, same order.
    /// @throws ConfigError if a folder or file cannot be made.
    WireRecorder(const std::filesystem::path& folder,
                 std::span<const int> local_agents,
                 const Graph& graph,
                 const NoisePlan& plan,
                 const Setup& setup);
    ~WireRecorder() override;

    void on_message(long round, std::size_t local_index, const OwnRound& own) override;
    void on_share(long round,
                  int gossip_step,
                  std::size_t local_index,
                  std::size_t neighbour,
                  Eigen::Index first,
                  std::span<const std::uint64_t> words) override;
    /// @throws ConfigError if the record cannot be written.
    void on_mixed(long round, std::size_t local_index) override;

    /// As ViewRecorder::finish.
    void finish();

  private:
    struct Wire;
    static void add_step(Wire& wire, long round, const OwnRound& own);
    std::vector<std::unique_ptr<Wire>> wires_;
};

/// Reads a messages.bin in the same way; words of shares may have any value.
class WireReader {
  public:
    /// @throws DataError as RecordedViewReader.
    explicit WireReader(const std::filesystem::path& file);
    WireReader(WireReader&&) noexcept;
    ~WireReader();

    [[nodiscard]] const WireHeader& header() const { return header_; }
    [[nodiscard]] std::uint64_t records() const;
    /// @throws DataError as RecordedViewReader::next.
    bool next(WireRecord& record);

  private:
    std::unique_ptr<RecordingFileReader> file_;
    WireHeader header_;
};

/// Writes an agent's seeds to `folder`/<agent>/seeds.json, mode 0600.
/// @throws ConfigError if it cannot be written.
void record_seeds(const std::filesystem::path& folder, const NoisePlan& plan, const KeyRing& ring);

/// Reads what record_seeds wrote. The agent may hold seeds that the plan does not give it: callers
/// must check.
/// @throws DataError naming file and problem: another format or plan, an unknown agent or group,
/// members that are not the group's, one of the agent's seeds missing or not 64 hexadecimal digits.
[[nodiscard]] KeyRing read_recorded_seeds(const std::filesystem::path& file, const NoisePlan& plan);

}  // namespace sotto
