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

/// The models that a row of metrics.csv describes.
enum class ModelStage {
    last,      ///< after some round
    averaged,  ///< means of models, after the last round
    consensus  ///< after final gossip
};
[[nodiscard]] std::string name_of(ModelStage stage);

struct MetricsRow {
    long round = 0;      ///< completed
    double epsilon = 0;  ///< so far; may be infinite
    Evaluation evaluation{};
    double elapsed_seconds = 0;            ///< rounds of all starts
    std::optional<RoundSeconds> phases{};  ///< of this start; none if hidden
    ModelStage stage = ModelStage::last;
};

struct MetricColumn {
    const char* name;   ///< in metrics.csv
    const char* chart;  ///< TensorBoard's group of charts
    double (*value)(const MetricsRow&);
};

/// In the order of metrics.csv, from the second column on.
[[nodiscard]] std::span<const MetricColumn> metric_columns();

/// Header and row of metrics.csv without a line break; infinite and unknown values are empty.
[[nodiscard]] std::string metrics_head();
[[nodiscard]] std::string metrics_line(const MetricsRow& row);

/// A TensorBoard event file of one start: the columns of metrics.csv as scalars, with round and
/// time of writing.
///
/// A record is the length (uint64), its checksum, an Event (tensorboard_event.proto), its checksum;
/// integers are little-endian, checksums CRC-32C, rotated by 15 bits plus 0xa282ead8.
///                          Source: TensorFlow, tensorflow/core/lib/io/record_writer.h (TFRecord)
/// Each record is one write, so the file of a killed process can be read.
class TensorboardFile {
  public:
    /// A new file for its owner only, in a folder that is created if missing. Its name sorts after
    /// existing ones, even if the clock was set back.
    /// @param first_round after which this start continues; readers drop rounds from it on in
    /// earlier files.
    /// @throws ConfigError if sotto was built without the libraries; as throw_write_failure, with
    /// path and reason, if the file cannot be made.
    [[nodiscard]] static TensorboardFile create(const std::filesystem::path& folder,
                                                long first_round);
    /// Adds the finite values of the row, in single precision. Tags are chart/column, with
    /// _averaged or _consensus for models other than the last.
    /// @throws as throw_write_failure; the file then ends after the previous record.
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
