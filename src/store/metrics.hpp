#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "agent/evaluation.hpp"
#include "agent/trainer.hpp"

namespace sotto {

/// Of which models a row of metrics.csv is.
enum class ModelStage {
    last,      ///< as they are after some round
    averaged,  ///< means of models, after the last round
    consensus  ///< after final gossip
};
[[nodiscard]] std::string name_of(ModelStage stage);

/// What an evaluation tells: one row of metrics.csv, one record of the event files.
struct MetricsRow {
    long round = 0;      ///< completed
    double epsilon = 0;  ///< so far; may be infinite
    Evaluation evaluation{};
    double elapsed_seconds = 0;            ///< of the rounds of all starts
    std::optional<RoundSeconds> phases{};  ///< of this start; none where they are not to be told
    ModelStage stage = ModelStage::last;
};

/// A number of a row. What is unknown is a NaN.
struct MetricColumn {
    const char* name;   ///< in the head of metrics.csv
    const char* chart;  ///< group of charts in TensorBoard that it stands in
    double (*value)(const MetricsRow&);
};

/// Of metrics.csv, in its order, from the second column on.
[[nodiscard]] std::span<const MetricColumn> metric_columns();

/// The first line of metrics.csv, and the line of a row: infinite and unknown values are empty
/// fields. Without a line break.
[[nodiscard]] std::string metrics_head();
[[nodiscard]] std::string metrics_line(const MetricsRow& row);

/// An event file of one start of a run, for TensorBoard: the columns of metrics.csv as scalars, at
/// their rounds, with the time at which they were written.
///
/// A record is the length (uint64), its checksum, an Event (tensorboard_event.proto), its checksum;
/// integers are little-endian, checksums CRC-32C, rotated by 15 bits plus 0xa282ead8.
///                          Source: TensorFlow, tensorflow/core/lib/io/record_writer.h (TFRecord)
/// Records are written whole, one write each: what a process leaves that is killed can be read.
class TensorboardFile {
  public:
    /// A new file, which only its owner can read, in a folder that is made where it is not there.
    /// Its name sorts behind those of the files that are there, even where the clock went back.
    /// @param first_round that the start goes on after; readers drop what earlier files have of it
    /// and of later ones.
    /// @throws ConfigError if sotto was built without the libraries; as throw_write_failure does,
    /// with path and reason, if the file cannot be made.
    [[nodiscard]] static TensorboardFile create(const std::filesystem::path& folder,
                                                long first_round);
    /// Adds what is finite in the row. Tags are chart/column; those of models that are not the last
    /// ones end with _averaged or _consensus. Values are single precision, as TensorBoard shows.
    /// @throws as throw_write_failure does; then the file ends behind the record before.
    void add(const MetricsRow& row);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    explicit TensorboardFile(std::filesystem::path path) : path_(std::move(path)) {}
    void append(std::string_view event);
    std::filesystem::path path_;
    std::ofstream file_;
    std::uint64_t bytes_ = 0;
};

}  // namespace sotto
