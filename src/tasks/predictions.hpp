#pragma once

// What a trained model says of new records; not installed.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "tasks/model_card.hpp"
#include "tasks/task_data.hpp"

namespace sotto {

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
