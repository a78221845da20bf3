#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/hash.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto {

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
