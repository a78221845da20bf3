#pragma once

#include <Eigen/Core>
#include <span>
#include <string>
#include <vector>

#include "sotto/learn/dataset.hpp"

namespace sotto {

/// All labels in the training data of all agents, ascending, each once. They decide which class a
/// label is; no single file does.
using LabelSet = std::vector<double>;

/// Labels of the records; none if targets are values. Cost O(N log N).
/// @throws DataError naming source, record and label if one is no whole number.
[[nodiscard]] LabelSet labels_of(const Dataset& data);

/// The union of both.
[[nodiscard]] LabelSet united(const LabelSet& a, const LabelSet& b);

/// The class of the place-th of `labels` labels: -1 and +1 if there are two, otherwise the place,
/// from 0.
[[nodiscard]] double class_at(std::size_t place, std::size_t labels);

/// The same records with classes as labels; values stay.
/// @param labels of the training data.  @throws DataError naming source, record and label for one
/// that is not in the set.
[[nodiscard]] Dataset with_classes(Dataset data, const LabelSet& labels);

/// "a, b, c"; of many texts the first, the last and the number left out.
[[nodiscard]] std::string short_list(std::vector<std::string> texts);

/// "1 -> -1, 2 -> +1"; of many labels the first and the last.
/// @param names of the labels, in order.
[[nodiscard]] std::string classes_text(const std::vector<std::string>& names);
/// "1, 2, 3"; of many labels the first, the last and the number.
[[nodiscard]] std::string labels_text(const LabelSet& labels);

}  // namespace sotto
