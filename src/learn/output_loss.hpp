#pragma once

// What a model's outputs cost on one record; not installed.

#include <Eigen/Dense>

#include "sotto/learn/dataset.hpp"

namespace sotto {

/// Class number of a label: a whole number from 0 to classes-1; -1, the smaller of two signs, is
/// class 0. @throws DataError naming the data set and the label.
[[nodiscard]] Eigen::Index class_of(double label, Eigen::Index classes, const Dataset& data);

/// The cross-entropy -log(softmax(out)[class]), without overflow, where the record has a label;
/// (out - value)^2 of the only output where it has a value to predict.
[[nodiscard]] double output_loss(const Eigen::Ref<const Eigen::VectorXd>& out,
                                 const Dataset& data,
                                 Eigen::Index row);

/// Turns the outputs into the derivatives of the loss by them.
void turn_into_slopes(Eigen::Ref<Eigen::VectorXd> out, const Dataset& data, Eigen::Index row);

/// Whether the largest output is that of the record's class.
[[nodiscard]] bool is_hit(const Eigen::Ref<const Eigen::VectorXd>& out,
                          const Dataset& data,
                          Eigen::Index row);

}  // namespace sotto
