#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sotto/core/hash.hpp"
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

/// Reads a file of any of four formats, LIBSVM, IDX, CSV and LEAF JSON, plain or .gz, by its
/// content: IDX starts with two zero bytes, LEAF with a brace; of the others, CSV has a comma, a
/// semicolon or a tab in its first line of data. Text may begin with a byte order mark of UTF-8. Of
/// CSV the last column is a value to predict; the others are features: numbers, and one for each
/// text of a column of texts.
/// @throws DataError with file, line or byte, and what is wrong; also for a format that none is.
[[nodiscard]] Dataset read_records(const std::string& path);

/// How records are dealt to agents: every record to exactly one agent.
struct PartitionSpec {
    enum class Kind { iid, dirichlet, by_label, by_writer };
    Kind kind = Kind::iid;
    double alpha = 10;  ///< dirichlet: for every label, agents' shares ~ Dirichlet(alpha); > 0
    int labels_per_agent =
        1;  ///< by_label: records sorted by label, cut into agents*k runs, k each
    int writers_per_agent = 10;  ///< by_writer: each agent gets all records of so many writers
};

/// "iid", "dirichlet:ALPHA", "by-label:k", "by-writer" or "by-writer:k". @throws ConfigError with
/// what is allowed.
[[nodiscard]] PartitionSpec parse_partition(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(const PartitionSpec& spec);

/// Shards: row numbers (ascending) of every agent; disjoint, together all of `rows`, none empty.
/// Only by_writer leaves rows out: those of the writers that are not dealt to anybody. iid shards
/// differ in size by at most one. A Dirichlet draw that leaves an agent without records is repaired
/// by moving single records from the largest shards.
/// @param rows row numbers to deal.  @param labels label of every row of the data set.
/// @param writers of every row of the data set; read by by_writer only.
/// @throws DataError if there are fewer records than agents (by_label: than agents*k), or
/// (by_writer) fewer writers than agents*k, or it is not known who wrote the records.
[[nodiscard]] std::vector<std::vector<Eigen::Index>> partition_rows(
    std::span<const Eigen::Index> rows,
    const Eigen::VectorXd& labels,
    int agents,
    const PartitionSpec& spec,
    std::uint64_t seed,
    std::span<const int> writers = {});

struct Split {
    std::vector<Eigen::Index> train, test;  ///< disjoint, together all rows, each ascending
};

/// Random split. @param test_fraction in (0, 1); both parts get at least one record.
[[nodiscard]] Split split_rows(Eigen::Index records, double test_fraction, std::uint64_t seed);

/// BLAKE2b-256 of the records in their order: features, labels or values, writers, the shape of
/// images. Files that are read alike have the same one, a compressed copy too: `source` is not part
/// of it. It is no secret keeper: who knows all but a little of the records can test guesses of the
/// rest. Cost: O(values); a quarter to a third of reading a9a or MNIST from compressed files.
[[nodiscard]] Digest digest_of_records(const Dataset& data);

}  // namespace sotto
