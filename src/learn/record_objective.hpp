#pragma once

#include <Eigen/Core>
#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "learn/layered_objective.hpp"
#include "sotto/learn/dataset.hpp"
#include "sotto/learn/objective.hpp"

namespace sotto {

/// Rows of each privacy unit (a person): disjoint, none empty.
using Units = std::vector<std::vector<Eigen::Index>>;

/// The units of records by Dataset::writers, in the order of their first records. Cost O(rows log
/// rows).
/// @throws DataError if the data do not name writers.
[[nodiscard]] Units units_of(const Dataset& data, std::span<const Eigen::Index> rows);

/// At most so many of a unit's records in one gradient. Which ones depends on the model and on the
/// unit's own records alone: a unit that leaves or joins changes no other unit's choice.
struct UnitSample {
    long most = 0;                      ///< 0: all
    std::vector<std::uint64_t> keys{};  ///< of every unit, from its own records
};
/// @param units rows of `data`. Cost: a hash of every record; nothing for `most` 0.
[[nodiscard]] UnitSample sample_of(const Dataset& data, const Units& units, long most);

/// The same objective with units for records: row k of a batch is unit k, whose gradient is the
/// mean of its records' gradients, clipped as one. So a unit, however many records it has, changes
/// a clipped sum by no more than one record would (objective.hpp). Losses stay per record. Cost of
/// a clipped sum: O(d) per unit beside its records' gradients.
/// @param units rows of the inner objective's shard.
[[nodiscard]] std::unique_ptr<Objective> make_unit_objective(std::unique_ptr<Objective> records,
                                                             Units units,
                                                             UnitSample sample = {});

/// Batch sizes, the largest first and the last one small, for which a chain computes the same bits
/// for a record in every place of each size: a record that leaves or joins may move others, and
/// must not change what is computed for them. This depends on how library and processor carry out
/// products, so it is measured on this chain with random numbers. {1} if nothing larger passes.
/// Cost: a few passes of the largest number.
[[nodiscard]] std::vector<Eigen::Index> place_independent_tiles(LayerChain& chain);

/// The arrays of a compressed sparse matrix, without the cost of Eigen's iterators.
class RowWalker {
  public:
    RowWalker() = default;
    /// `features` must outlive this, unchanged and compressed.
    explicit RowWalker(const Eigen::SparseMatrix<double, Eigen::RowMajor>& features)
        : starts_(features.outerIndexPtr()),
          columns_(features.innerIndexPtr()),
          values_(features.valuePtr()),
          binary_(std::all_of(
              values_, values_ + features.nonZeros(), [](double value) { return value == 1; })) {}

    /// Every stored value is 1.
    [[nodiscard]] bool binary() const { return binary_; }

    /// Calls f(column, value) for the stored values of a row. @param is_binary must equal binary();
    /// then the value is the constant 1.
    template <bool is_binary, class Function>
    void for_each(Eigen::Index row, Function&& f) const {
        const int end = starts_[row + 1];
        for (int k = starts_[row]; k < end; ++k) f(columns_[k], is_binary ? 1.0 : values_[k]);
    }

    /// w.a + b, in two interleaved chains of additions that do not wait for each other.
    template <bool is_binary>
    [[nodiscard]] double score(Eigen::Index row, const double* weights, double bias) const {
        int k = starts_[row];
        const int end = starts_[row + 1];
        double even = bias, odd = 0;
        for (; k + 1 < end; k += 2) {
            even += is_binary ? weights[columns_[k]] : weights[columns_[k]] * values_[k];
            odd += is_binary ? weights[columns_[k + 1]] : weights[columns_[k + 1]] * values_[k + 1];
        }
        if (k < end) even += is_binary ? weights[columns_[k]] : weights[columns_[k]] * values_[k];
        return even + odd;
    }
    [[nodiscard]] double score(Eigen::Index row, const double* weights, double bias) const {
        return binary_ ? score<true>(row, weights, bias) : score<false>(row, weights, bias);
    }

  private:
    const int* starts_ = nullptr;
    const int* columns_ = nullptr;
    const double* values_ = nullptr;
    bool binary_ = false;
};

}  // namespace sotto
