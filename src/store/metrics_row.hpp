#pragma once

#include <optional>
#include <span>
#include <string>

#include "sotto/agent/evaluation.hpp"
#include "sotto/agent/trainer.hpp"

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

}  // namespace sotto
