#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sotto {

/// Records in rows, features in columns (sparse), one label each.
struct Dataset {
    Eigen::SparseMatrix<double, Eigen::RowMajor> features;  ///< records x feature count, compressed
    Eigen::VectorXd labels;                                 ///< binary tasks: -1 or +1
    std::string source;                                     ///< file or "synthetic", for messages

    [[nodiscard]] Eigen::Index records() const { return features.rows(); }
    [[nodiscard]] Eigen::Index feature_count() const { return features.cols(); }
};

/// Reads LIBSVM text ("label index:value ..."; indices from 1, ascending; plain or .gz; #
/// comments). Two distinct labels are mapped to -1 (the smaller) and +1; with any other number of
/// distinct labels they are kept as they are.
/// @param minimum_features columns at least (a test file may not reach the training file's last).
/// @throws DataError with file and line for: missing file, no records, a label or value that is not
///         a finite number, an index that is not a positive ascending integer, or garbage.
[[nodiscard]] Dataset read_libsvm(const std::string& path, Eigen::Index minimum_features = 0);

/// Rows of all data sets in order; feature counts are padded to the largest.
[[nodiscard]] Dataset concatenate(const std::vector<Dataset>& parts);

/// The given rows, in the given order.
[[nodiscard]] Dataset select_rows(const Dataset& data, std::span<const Eigen::Index> rows);

/// Binary data of a9a's shape, for use without any file: 14 one-hot groups over 123 binary features
/// with skewed category frequencies, label from a fixed sparse linear rule plus noise, about 24%
/// positive. Deterministic in (records, seed).
[[nodiscard]] Dataset synthetic_binary(Eigen::Index records, std::uint64_t seed);

struct Split {
    std::vector<Eigen::Index> train, test;  ///< disjoint, together all rows, each ascending
};

/// Random split. @param test_fraction in (0, 1); both parts get at least one record.
[[nodiscard]] Split split_rows(Eigen::Index records, double test_fraction, std::uint64_t seed);

}  // namespace sotto
