#pragma once

#include <Eigen/Core>
#include <span>
#include <string>
#include <vector>

#include "sotto/learn/dataset.hpp"

namespace sotto {

/// Files have labels, models have classes: which class a label is follows from all labels that any
/// training data of a run have, never from one file of several. A label set is these labels,
/// ascending, each once.
using LabelSet = std::vector<double>;

/// Labels of the records; none where targets are values. Cost O(N log N).
/// @throws DataError naming source, record and label where one is no whole number: two numbers that
/// differ by a rounding would be two classes.
[[nodiscard]] LabelSet labels_of(const Dataset& data);

/// All labels that either has.
[[nodiscard]] LabelSet united(const LabelSet& a, const LabelSet& b);

/// The class that is the place-th label of `labels` labels: of two -1 and +1, otherwise the place,
/// from 0.
[[nodiscard]] double class_at(std::size_t place, std::size_t labels);

/// The same records with their classes as labels. Values stay as they are.
/// @param labels that training data have.  @throws DataError naming source, record and label for
/// one that is not in the set.
[[nodiscard]] Dataset with_classes(Dataset data, const LabelSet& labels);

/// "a, b, c"; of many texts the first and the last, and how many more.
[[nodiscard]] std::string short_list(std::vector<std::string> texts);

/// "1 -> -1, 2 -> +1"; of many labels the first and the last.
/// @param names of the labels, in their order.
[[nodiscard]] std::string classes_text(const std::vector<std::string>& names);
/// "1, 2, 3"; of many labels the first and the last, and how many.
[[nodiscard]] std::string labels_text(const LabelSet& labels);

}  // namespace sotto
