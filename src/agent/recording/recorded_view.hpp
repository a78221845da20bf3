#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/local_agent.hpp"
#include "core/json.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// The constant part of every recording of an agent (docs/recorded-view.md).
struct RecordingHeader {
    int agent = 0;
    int agents = 0;
    Eigen::Index dimension = 0;
    std::vector<int> neighbours;  ///< ascending
    /// Receivers of the agent's own messages, in the order of the columns that hold them:
    /// NoiseRow::all_receivers alone, or one by one, ascending.
    std::vector<int> outputs;
    int gossip_steps = 1;  ///< K: records a round
    std::uint32_t key_epoch = 0;
    std::string plan_hash;  ///< hexadecimal

    /// Place of a receiver's message among the outputs; -1 where none is for it.
    [[nodiscard]] Eigen::Index column_of(int receiver) const;
};

/// What an agent's recordings of a training begin with; where the plan has noise for single
/// receivers, the agent itself is among the outputs.
[[nodiscard]] RecordingHeader recording_header(int agent,
                                               const Graph& graph,
                                               const NoisePlan& plan,
                                               Eigen::Index dimension,
                                               int gossip_steps,
                                               std::uint32_t key_epoch);

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

// Files that nobody but their owner can read.

/// `folder`/<agent>, which only its owner can enter; made where it is not there.
/// @throws ConfigError if it cannot be made.
[[nodiscard]] std::filesystem::path private_folder(const std::filesystem::path& folder, int agent);

/// A new file that only its owner can read. @throws ConfigError, from all functions, if it cannot
/// be written; never into a file that is there.
class PrivateFile {
  public:
    explicit PrivateFile(std::filesystem::path path);
    void append(const void* bytes, std::size_t size);
    void flush();
    /// Nothing can be appended afterwards.
    void close();
    [[nodiscard]] bool open() const { return file_ != nullptr; }

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::filesystem::path path_;
    std::unique_ptr<std::FILE, Close> file_;
};

/// One of the two kinds of recordings, which share their frame (docs/recorded-view.md).
struct RecordingFormat {
    std::string_view magic;  ///< 8 characters
    std::string_view name;
    int version;
};
inline constexpr RecordingFormat view_format{"SOTTOVW1", "sotto-view", 2};
inline constexpr RecordingFormat wire_format{"SOTTOWR1", "sotto-wire", 1};

/// Round, gossip step and step size stand before everything else in a record.
inline constexpr Eigen::Index record_prefix = 3;

/// Copies `dimension` values; zeros where `vector` is empty.
void copy_or_zero(const Eigen::Ref<const Eigen::VectorXd>& vector,
                  double* target,
                  Eigen::Index dimension);

/// A recording that is being written; holds the record under way.
class RecordingFileWriter {
  public:
    /// @param own fields of the header beside those of RecordingHeader.
    RecordingFileWriter(const std::filesystem::path& path,
                        const RecordingFormat& format,
                        const RecordingHeader& header,
                        const nlohmann::ordered_json& own,
                        Eigen::Index values_per_record);

    void begin(long round, int gossip_step, double step_size);
    /// Of the record under way, from `first` on.
    [[nodiscard]] double* values(Eigen::Index first) { return values_.data() + first; }
    /// Appends the record under way.
    void append();
    /// Ends the file, once.
    void finish();

  private:
    PrivateFile file_;
    std::vector<double> values_;
    std::uint64_t records_ = 0;
};

/// A recording that is being read. Nothing in it is believed: sizes are checked against what is
/// there before memory is taken for them.
class RecordingFileReader {
  public:
    /// Reads the header. @throws DataError as RecordedViewReader.
    RecordingFileReader(const std::filesystem::path& file, const RecordingFormat& format);

    [[nodiscard]] DataError failure(std::string_view reason) const;
    /// A field of the header that is one of these names. @throws DataError if it is not.
    template <class Enum, std::size_t count>
    [[nodiscard]] Enum name_in_header(const NameTable<Enum, count>& names,
                                      const char* field) const {
        try {
            return names.parse(field, header_->root().at(field).text());
        } catch (const std::exception& error) {
            throw failure(error.what());
        }
    }
    /// The fields all recordings have, checked.
    /// @param itself whether the agent is among the receivers of messages for single ones.
    [[nodiscard]] RecordingHeader common_header(bool itself) const;
    /// Checks what the header says of records, and the end of the file; then records can be read.
    void expect_records(Eigen::Index values, int gossip_steps);
    [[nodiscard]] std::uint64_t records() const { return records_; }

    /// The next record, with its round and gossip step checked; empty after the last. Valid until
    /// the next call.
    [[nodiscard]] std::span<const double> next();
    /// @throws DataError unless all are finite.
    void require_finite(std::span<const double> values) const;

  private:
    std::filesystem::path path_;
    std::uint64_t size_ = 0;
    std::ifstream stream_;
    std::optional<JsonDocument> header_;
    std::uint64_t header_end_ = 0;
    Eigen::Index values_per_record_ = 0;
    std::uint64_t records_ = 0, read_ = 0;
    int gossip_steps_ = 1;
    std::vector<double> values_;
    double round_ = 0, gossip_step_ = 0;  // of the record before
};

}  // namespace sotto
