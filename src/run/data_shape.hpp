#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "sotto/learn/dataset.hpp"
#include "sotto/learn/label_set.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// What the models of all agents must have in common, and no file alone can say.
struct DataShape {
    Target target = Target::label;
    Eigen::Index features = 0;
    Eigen::Index image_rows = 0;         ///< of all images; 0: nobody's file says it
    LabelSet labels{};                   ///< of training data; none where targets are values
    std::vector<std::string> columns{};  ///< of a table, in the order in which models have them
};

/// Rows of images that two have, of which one may not know them.
/// @throws DataError, with whose they are, where they differ.
[[nodiscard]] Eigen::Index same_image_rows(Eigen::Index a,
                                           const std::string& whose_a,
                                           Eigen::Index b,
                                           const std::string& whose_b);

/// Of the agents of all processes: the most features, all labels that anybody's training data have,
/// and the columns of process 0. Every process learns which labels each of the others has.
/// COLLECTIVE.
/// @param own of the agents of this process.
/// @throws DataError, the same on every process, where some have classes and others values, or
/// images of different shapes;
/// NetworkError naming the rank whose data have more than 16 times this process's features or
/// classes, and more than 2^20 or 1024: otherwise any peer could make all others take whatever
/// memory it likes; also for labels that are none.
[[nodiscard]] DataShape agreed_shape(Network& network, const DataShape& own);

}  // namespace sotto
