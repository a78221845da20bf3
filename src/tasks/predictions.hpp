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

// What one needs beside its parameters to use a trained model.

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

/// With a list of all inputs, in the order of the model's, for readers in other languages: each is
/// {name, column, offset, scale} of a number, {name, column, category} or {name, column, missing}.
[[nodiscard]] std::string to_json(const ModelCard& card);
/// @throws DataError naming the source and what is wrong.
[[nodiscard]] ModelCard model_card_from_json(std::string_view text, const std::string& source);

/// Of history.json, too.
[[nodiscard]] nlohmann::ordered_json json_of(const TableShape& table);
/// @throws DataError.
[[nodiscard]] TableShape table_shape_from(const JsonValue& json);

// What a trained model says of new records.

/// Predictions of one model for the records of one file, in their order.
struct Predictions {
    std::vector<std::string> classes;  ///< as the training data have them; none: values
    /// Of every class and record, classes x records; of values 1 x records, in the data's units.
    Eigen::MatrixXd outputs;
    /// Where the records have labels: the part that is predicted right, or, of values, the root of
    /// the mean squared error, and that of always predicting the commonest class, or the mean.
    std::optional<double> metric, constant_metric;

    [[nodiscard]] Eigen::Index records() const { return outputs.cols(); }
    /// The text of the class with the largest output, or the value.
    [[nodiscard]] std::string prediction(Eigen::Index record) const;
};

/// Reads agents/<agent>/model.json and model.npy of a run's directory, and the records of `files`
/// ("FILE[,FILE...]"). A table needs the columns that are features, by name and in any order;
/// others are not looked at. Outputs come from the losses that each class would have, so that any
/// task of records can predict.
/// @throws ConfigError where the run's task cannot predict, or the run has no such agent here;
/// DataError.
[[nodiscard]] Predictions predict(const std::string& run_directory,
                                  int agent,
                                  const std::string& files);

/// CSV with a header: `prediction`, and of classes `probability CLASS` of each.
[[nodiscard]] std::string predictions_csv(const Predictions& predictions);

}  // namespace sotto
