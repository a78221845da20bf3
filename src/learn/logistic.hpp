#pragma once

#include <Eigen/Dense>
#include <memory>

#include "sotto/learn/dataset.hpp"
#include "sotto/learn/objective.hpp"

namespace sotto {

/// Logistic regression, d = features + 1 (bias last): loss(w, b; a, y) = log(1 + exp(-y (w.a +
/// b))), y = +-1. Gradients visit non-zero features only.
/// @param test shared by all agents of the process; may have 0 records.
/// @throws DataError if a label is not +-1 or feature counts differ.
[[nodiscard]] std::unique_ptr<Objective> make_logistic_objective(
    Dataset shard, std::shared_ptr<const Dataset> test);

/// P(label = +1) of each record.
[[nodiscard]] Eigen::VectorXd logistic_probabilities(const Eigen::VectorXd& model,
                                                     const Dataset& data);

}  // namespace sotto
