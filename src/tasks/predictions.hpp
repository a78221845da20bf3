#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "core/json.hpp"
#include "learn/table_shape.hpp"
#include "tasks/data_shape.hpp"
#include "tasks/task_data.hpp"

namespace sotto {

/// agents/<agent>/model.json: how records become inputs of the model in model.npy, and its outputs
/// classes or values.
struct ModelCard {
    std::string task;
    std::optional<long> hidden;
    DataShape shape;
    MissingPolicy missing{};
    std::optional<Standardisation> scaling;  ///< of tables: the agent's own
};

[[nodiscard]] ModelCard model_card(const TaskConfig& config,
                                   const DataShape& shape,
                                   const std::optional<Standardisation>& scaling);

/// Includes a list of all inputs in model order for readers in other languages: {name, column,
/// offset, scale, low, high} of a number (ColumnScaling; without low and high if it has no limits),
/// {name, column, category} or {name, column, missing}.
[[nodiscard]] std::string to_json(const ModelCard& card);
/// Also reads version 1, which has one limit of all scaled numbers.
/// @throws DataError naming source and problem.
[[nodiscard]] ModelCard model_card_from_json(std::string_view text, const std::string& source);

/// Also used in history.json.
[[nodiscard]] nlohmann::ordered_json json_of(const TableShape& table);
/// @throws DataError.
[[nodiscard]] TableShape table_shape_from(const JsonValue& json);
[[nodiscard]] nlohmann::ordered_json json_of(const Standardisation& scaling);
/// @throws DataError, also for numbers that no ColumnScaling has.
[[nodiscard]] Standardisation scaling_from(const JsonValue& json);

/// Predictions of one model for the records of one file, in order.
struct Predictions {
    std::vector<std::string> classes;  ///< as in the training data; empty: values
    /// Classes x records, or 1 x records of values in the data's units.
    Eigen::MatrixXd outputs;
    /// For labelled records: accuracy, or the root mean squared error of values, of the model and
    /// of the constant prediction (most frequent class, or mean).
    std::optional<double> metric, constant_metric;

    [[nodiscard]] Eigen::Index records() const { return outputs.cols(); }
    /// The class with the largest output, or the value.
    [[nodiscard]] std::string prediction(Eigen::Index record) const;
};

/// Reads agents/<agent>/model.json and model.npy of a run's directory, and the records of `files`
/// ("FILE[,FILE...]"). A table needs the feature columns, by name and in any order; others are
/// ignored. Outputs follow from the losses of each class, so any task of records can predict.
/// @throws ConfigError if the run's task cannot predict, or the agent is not here; DataError.
[[nodiscard]] Predictions predict(const std::string& run_directory,
                                  int agent,
                                  const std::string& files);

/// CSV with a header: `prediction`, and for classes `probability CLASS` of each.
[[nodiscard]] std::string predictions_csv(const Predictions& predictions);

}  // namespace sotto
