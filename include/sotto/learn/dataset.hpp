#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sotto/core/sparse_rows.hpp"

namespace sotto {

using RealRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
/// Grey values of images; the feature is value / 255. An eighth of the memory of doubles.
using PixelRows = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using DenseRows = std::variant<RealRows, PixelRows>;

/// What the last number of a record is.
enum class Target {
    label,  ///< one of a few classes
    value   ///< a number to predict (regression)
};

/// Records in rows, features in columns, one label (or target value) each. Features are sparse or
/// dense: `features` is empty where `dense` is set.
struct Dataset {
    SparseRows features;             ///< records x feature count, compressed
    std::optional<DenseRows> dense;  ///< records x feature count
    /// Of a reader: labels as the file has them, or target values. Objectives have classes instead
    /// (with_classes, label_set.hpp): of two -1 and +1, otherwise 0, 1, ...
    Eigen::VectorXd labels;
    Target target = Target::label;
    std::vector<int> writers;     ///< who made each record, from 0; empty where it is not known
    Eigen::Index image_rows = 0;  ///< features are an image of this many rows; 0: not known
    std::string source;           ///< file or "synthetic", for messages

    [[nodiscard]] Eigen::Index records() const { return labels.size(); }
    [[nodiscard]] Eigen::Index feature_count() const;
};

/// Rows of all data sets in order; sparse feature counts are padded to the largest. Writers of
/// different parts are different.
/// @throws DataError if parts differ in kind: sparse or dense, label or value, and, dense, in their
/// number of features.
[[nodiscard]] Dataset concatenate(std::vector<Dataset> parts);

/// The given rows, in the given order.
[[nodiscard]] Dataset select_rows(const Dataset& data, std::span<const Eigen::Index> rows);

/// The same records with at least this many columns. @throws DataError if they are dense and have
/// fewer.
[[nodiscard]] Dataset widened(Dataset data, Eigen::Index features);

/// The same records with sparse features.
[[nodiscard]] Dataset with_sparse_features(Dataset data);

/// Column j of `out` = features of record rows[j]. Cost: O(features) a record.
/// @param out feature count x number of rows, overwritten.
void copy_features(const Dataset& data,
                   std::span<const Eigen::Index> rows,
                   Eigen::Ref<Eigen::MatrixXd> out);

/// Mean of the features of the given rows, one per feature; zero for no rows.
[[nodiscard]] Eigen::VectorXd mean_features(const Dataset& data,
                                            std::span<const Eigen::Index> rows);

}  // namespace sotto
