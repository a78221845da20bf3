#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "learn/label_set.hpp"
#include "learn/table_shape.hpp"
#include "net/network.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto {

/// What the models of all agents must have in common, and no file alone can say.
struct DataShape {
    Target target = Target::label;
    Eigen::Index features = 0;
    Eigen::Index image_rows = 0;        ///< of all images; 0: nobody's file says it
    LabelSet labels{};                  ///< of training data; none where targets are values
    std::optional<TableShape> table{};  ///< of tables
};

/// The order in which files and columns are read.
struct DataOrder {
    std::vector<std::string> columns{};  ///< names; none where columns have none, or data no tables
    std::vector<std::string> files{};    ///< that a pattern matches, without their folders
};

/// Process 0's, for all. COLLECTIVE.
/// @throws NetworkError for more than a peer may have.
[[nodiscard]] DataOrder agreed_order(Network& network, const DataOrder& own);

/// Rows of images that two have, of which one may not know them.
/// @throws DataError, with whose they are, where they differ.
[[nodiscard]] Eigen::Index same_image_rows(Eigen::Index a,
                                           const std::string& whose_a,
                                           Eigen::Index b,
                                           const std::string& whose_b);

/// Of the agents of all processes: the most features, and all labels and categories that anybody's
/// training data have. Every process learns which of these each of the others has. COLLECTIVE.
/// @param own of the agents of this process.
/// @throws DataError, the same on every process, where some have classes and others values, or
/// images of different shapes, or columns that mean different things (united, table_shape.hpp);
/// NetworkError naming the rank whose data have more than 16 times this process's features or
/// classes, and more than 2^20 or 1024: otherwise any peer could make all others take whatever
/// memory it likes; also for labels and categories that are none.
[[nodiscard]] DataShape agreed_shape(Network& network, const DataShape& own);

}  // namespace sotto
