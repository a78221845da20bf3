#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "learn/label_set.hpp"
#include "learn/table_shape.hpp"
#include "net/control.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto {

/// What the models of all agents share, from the data of all.
struct DataShape {
    Target target = Target::label;
    Eigen::Index features = 0;
    Eigen::Index image_rows = 0;  ///< of all images; 0: unknown
    LabelSet labels{};            ///< of training data; empty for values
    std::optional<TableShape> table{};
};

struct DataOrder {
    std::vector<std::string> columns{};  ///< empty without names, or without tables
    std::vector<std::string> files{};    ///< matched by a pattern, without folders
};

/// Process 0's order. COLLECTIVE.
/// @throws NetworkError for more than a peer may send.
[[nodiscard]] DataOrder agreed_order(Control& network, const DataOrder& own);

/// The known number of image rows of two, either of which may be unknown.
/// @throws DataError naming both owners if they differ.
[[nodiscard]] Eigen::Index same_image_rows(Eigen::Index a,
                                           const std::string& whose_a,
                                           Eigen::Index b,
                                           const std::string& whose_b);

/// Over the agents of all processes: the most features, and all labels and categories of training
/// data. Every process learns which of these each of the others has. COLLECTIVE.
/// @param own of the local agents.
/// @throws DataError, the same on every process, for classes here and values there, images of
/// different shapes, or columns of different meaning (united, table_shape.hpp); NetworkError naming
/// a rank with invalid labels or categories, or with more than 16 times this process's features or
/// classes and more than 2^20 or 1024: this limits the memory that a peer can make others allocate.
[[nodiscard]] DataShape agreed_shape(Control& network, const DataShape& own);

}  // namespace sotto
