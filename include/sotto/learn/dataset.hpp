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
/// Grey values of images; a feature is value / 255. Takes an eighth of the memory of doubles.
using PixelRows = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using DenseRows = std::variant<RealRows, PixelRows>;

/// Meaning of the last number of a record.
enum class Target {
    label,  ///< one of a few classes
    value   ///< a number to predict (regression)
};

/// Records in rows, features in columns, one label or target value each. `features` is empty where
/// `dense` is set.
struct Dataset {
    SparseRows features;             ///< records x feature count, compressed
    std::optional<DenseRows> dense;  ///< records x feature count
    /// Labels as the file has them, or target values. Objectives use classes instead (with_classes,
    /// label_set.hpp): -1 and +1 for two classes, otherwise 0, 1, ...
    Eigen::VectorXd labels;
    Target target = Target::label;
    std::vector<int> writers;     ///< author of each record, from 0; empty if unknown
    Eigen::Index image_rows = 0;  ///< features are an image of this many rows; 0 if unknown
    std::string source;           ///< file or "synthetic", for messages

    [[nodiscard]] Eigen::Index records() const { return labels.size(); }
    [[nodiscard]] Eigen::Index feature_count() const;
};

/// Rows of all data sets in order. Sparse feature counts are padded to the largest; writers of
/// different parts count as different.
/// @throws DataError if parts mix sparse and dense features, or labels and values, or dense feature
/// counts.
[[nodiscard]] Dataset concatenate(std::vector<Dataset> parts);

/// The given rows, in the given order.
[[nodiscard]] Dataset select_rows(const Dataset& data, std::span<const Eigen::Index> rows);

/// The same records with at least this many columns. @throws DataError if dense with fewer.
[[nodiscard]] Dataset widened(Dataset data, Eigen::Index features);

/// The same records with sparse features.
[[nodiscard]] Dataset with_sparse_features(Dataset data);

/// Column j of `out` = features of record rows[j]. Cost: O(features) a record.
/// @param out feature count x number of rows, overwritten.
void copy_features(const Dataset& data,
                   std::span<const Eigen::Index> rows,
                   Eigen::Ref<Eigen::MatrixXd> out);

/// Mean feature vector of the given rows; zero for no rows.
[[nodiscard]] Eigen::VectorXd mean_features(const Dataset& data,
                                            std::span<const Eigen::Index> rows);

/// Reads a LIBSVM, IDX, CSV or LEAF JSON file, plain or .gz, recognised by content: IDX starts with
/// two zero bytes, LEAF with a brace; CSV has a comma, a semicolon or a tab in its first line of
/// data. Text may begin with a UTF-8 byte order mark. The last CSV column is a value to predict;
/// the others are features: numbers, and one feature for each text of a column of texts.
/// @throws DataError with file, line or byte, and reason; also for an unknown format.
[[nodiscard]] Dataset read_records(const std::string& path);

/// How records are distributed among agents. Every record belongs to exactly one agent.
struct PartitionSpec {
    enum class Kind { iid, dirichlet, by_label, by_writer };
    Kind kind = Kind::iid;
    double alpha = 10;  ///< dirichlet: for every label, agents' shares ~ Dirichlet(alpha); > 0
    int labels_per_agent =
        1;  ///< by_label: records sorted by label, cut into agents*k runs, k each
    int writers_per_agent = 10;  ///< by_writer: each agent gets all records of this many writers
};

/// "iid", "dirichlet:ALPHA", "by-label:k", "by-writer" or "by-writer:k". @throws ConfigError.
[[nodiscard]] PartitionSpec parse_partition(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(const PartitionSpec& spec);

/// Shards: ascending row numbers of every agent; disjoint, none empty, together all of `rows`
/// (except by_writer, which leaves out writers that no agent gets). iid shards differ in size by at
/// most one. If a Dirichlet draw leaves an agent without records, it gets single records from the
/// largest shards.
/// @param rows row numbers to distribute.  @param labels label of every row of the data set.
/// @param writers of every row of the data set; read by by_writer only.
/// @throws DataError if there are fewer records than agents (by_label: than agents*k) or fewer
/// writers than agents*k, or if the writers are unknown.
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

/// BLAKE2b-256 of the records in order: features, labels or values, writers, image shape; not
/// `source`, so a compressed copy has the same digest. It does not hide the records: whoever knows
/// almost all of them can test guesses of the rest. Cost: O(values), a quarter to a third of
/// reading a9a or MNIST from compressed files.
[[nodiscard]] Digest digest_of_records(const Dataset& data);

}  // namespace sotto
