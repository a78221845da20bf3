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

/// The constant part of an agent's recordings (docs/recorded-view.md).
struct RecordingHeader {
    int agent = 0;
    int agents = 0;
    Eigen::Index dimension = 0;
    std::vector<int> neighbours;  ///< ascending
    /// Receivers of the agent's messages, in column order: NoiseRow::all_receivers alone, or single
    /// receivers, ascending.
    std::vector<int> outputs;
    int gossip_steps = 1;  ///< K: records per round
    std::uint32_t key_epoch = 0;
    std::string plan_hash;  ///< hexadecimal

    /// Index of a receiver's message among the outputs; -1 if none.
    [[nodiscard]] Eigen::Index column_of(int receiver) const;
};

/// The header of an agent's recordings; with noise for single receivers, outputs include the agent
/// itself.
[[nodiscard]] RecordingHeader recording_header(int agent,
                                               const Graph& graph,
                                               const NoisePlan& plan,
                                               Eigen::Index dimension,
                                               int gossip_steps,
                                               std::uint32_t key_epoch);

class RecordingFileReader;

enum class Received {
    messages,  ///< the message of each neighbour
    sum,       ///< secure sums: sum_v w_av m_v over its neighbours v
    mean       ///< trusted aggregator: the mean of all messages
};

/// With an output per receiver, the agent itself is included.
struct ViewHeader : RecordingHeader {
    /// Layout of a record.
    struct Layout;

    Received received = Received::messages;

    /// Vectors received per gossip step: one per neighbour, or 1.
    [[nodiscard]] Eigen::Index columns() const;
    /// float64 values per record in the file.
    [[nodiscard]] Eigen::Index values_per_record() const;
};

struct RecordedRound {
    long round = 0;
    int gossip_step = 0;
    double step_size = 0;        ///< eta_t
    Eigen::VectorXd mixing_row;  ///< of its closed neighbourhood, ascending
    Eigen::VectorXd before;      ///< model at the start of the gossip step
    Eigen::VectorXd gradient;    ///< clipped, on the grid; zeros after the first gossip step
    Eigen::MatrixXd noise;       ///< on the grid, dimension x outputs; zeros after the first
    Eigen::MatrixXd message;     ///< dimension x outputs; with secure sums before weights and masks
    /// dimension x ViewHeader::columns(), decrypted; zeros from a neighbour that sent nothing,
    /// whose weight is 0.
    Eigen::MatrixXd received;
};

struct RecordedView {
    ViewHeader header;
    std::vector<RecordedRound> records;
};

/// Records views of local agents during training: `folder`/<agent>/view.bin
/// (docs/recorded-view.md), appended per record and flushed. Does not change the run. Memory: one
/// record per recorded agent. WARNING: the files hold un-noised gradients; their mode is 0600.
class ViewRecorder final : public RoundObserver {
  public:
    struct Setup {
        Eigen::Index dimension = 0;
        Received received = Received::messages;
        int gossip_steps = 1;  ///< exchanges per round
        std::uint32_t key_epoch = 0;
    };
    /// @param local_agents of the Trainer, same order.  @param recorded agents; those that are not
    /// local are ignored.
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

    /// Completes the files. Call after the last round, not after a failure.
    void finish();

  private:
    struct View;
    std::vector<std::unique_ptr<View>> views_;  // one per local agent; empty if not recorded
};

class RecordedViewReader {
  public:
    /// Checks header, size and end of the untrusted file.
    /// @throws DataError naming file and problem: not a recorded view, inconsistent numbers in the
    /// header, truncated or without its end.
    explicit RecordedViewReader(const std::filesystem::path& file);
    RecordedViewReader(RecordedViewReader&&) noexcept;
    ~RecordedViewReader();

    [[nodiscard]] const ViewHeader& header() const { return header_; }
    /// In the file: whole rounds of header().gossip_steps each.
    [[nodiscard]] std::uint64_t records() const;
    /// Reads the next record, reusing `record`; false after the last.
    /// @throws DataError for a round or gossip step out of order, or a value that is not finite.
    bool next(RecordedRound& record);

  private:
    std::unique_ptr<RecordingFileReader> file_;
    ViewHeader header_;
};

/// A whole view.bin in memory.
/// @throws DataError as RecordedViewReader.
[[nodiscard]] RecordedView read_recorded_view(const std::filesystem::path& file);

/// `folder`/<agent>, accessible to its owner only; created if missing.
/// @throws ConfigError if it cannot be made.
[[nodiscard]] std::filesystem::path private_folder(const std::filesystem::path& folder, int agent);

/// A new file only its owner can read; never overwrites. @throws ConfigError, from all functions,
/// if it cannot be written.
class PrivateFile {
  public:
    explicit PrivateFile(std::filesystem::path path);
    void append(const void* bytes, std::size_t size);
    void flush();
    void close();
    [[nodiscard]] bool open() const { return file_ != nullptr; }

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::filesystem::path path_;
    std::unique_ptr<std::FILE, Close> file_;
};

/// One of the two kinds of recordings (docs/recorded-view.md).
struct RecordingFormat {
    std::string_view magic;  ///< 8 characters
    std::string_view name;
    int version;
};
inline constexpr RecordingFormat view_format{"SOTTOVW1", "sotto-view", 2};
inline constexpr RecordingFormat wire_format{"SOTTOWR1", "sotto-wire", 1};

/// Each record begins with round, gossip step and step size.
inline constexpr Eigen::Index record_prefix = 3;

/// Copies `dimension` values; zeros if `vector` is empty.
void copy_or_zero(const Eigen::Ref<const Eigen::VectorXd>& vector,
                  double* target,
                  Eigen::Index dimension);

/// Writes a recording; holds the current record.
class RecordingFileWriter {
  public:
    /// @param own header fields beyond those of RecordingHeader.
    RecordingFileWriter(const std::filesystem::path& path,
                        const RecordingFormat& format,
                        const RecordingHeader& header,
                        const nlohmann::ordered_json& own,
                        Eigen::Index values_per_record);

    void begin(long round, int gossip_step, double step_size);
    /// Of the current record, from `first` on.
    [[nodiscard]] double* values(Eigen::Index first) { return values_.data() + first; }
    void append();
    /// Completes the file; call once.
    void finish();

  private:
    PrivateFile file_;
    std::vector<double> values_;
    std::uint64_t records_ = 0;
};

/// Reads an untrusted recording: sizes are checked against the file before allocating.
class RecordingFileReader {
  public:
    /// Reads the header. @throws DataError as RecordedViewReader.
    RecordingFileReader(const std::filesystem::path& file, const RecordingFormat& format);

    [[nodiscard]] DataError failure(std::string_view reason) const;
    /// A header field with one of these names. @throws DataError for another value.
    template <class Enum, std::size_t count>
    [[nodiscard]] Enum name_in_header(const NameTable<Enum, count>& names,
                                      const char* field) const {
        try {
            return names.parse(field, header_->root().at(field).text());
        } catch (const std::exception& error) {
            throw failure(error.what());
        }
    }
    /// A whole number in these limits. @throws DataError for another value.
    [[nodiscard]] long number_in_header(const char* field, long least, long most) const;
    /// The fields all recordings have, checked.
    /// @param itself whether single receivers include the agent itself.
    [[nodiscard]] RecordingHeader common_header(bool itself) const;
    /// Checks the header against the size and end of the file; records can be read afterwards.
    void expect_records(Eigen::Index values, int gossip_steps);
    [[nodiscard]] std::uint64_t records() const { return records_; }

    /// The next record, with round and gossip step checked; empty after the last. Valid until the
    /// next call.
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
