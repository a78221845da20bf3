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

/// Rows that belong together, one list a unit (a person): disjoint, none empty.
using Units = std::vector<std::vector<Eigen::Index>>;

/// The units of records that say who each is of (Dataset::writers), in the order of their first
/// records. @param rows of the data set, of which the units are made. Cost O(rows log rows).
/// @throws DataError where the data do not say it.
[[nodiscard]] Units units_of(const Dataset& data, std::span<const Eigen::Index> rows);

/// The same objective with units in the place of records: row k of a batch is unit k, whose
/// gradient is the mean of its records' gradients, clipped as one. So whatever one unit's records
/// are, and however many, they change a clipped sum by as much as one record does otherwise
/// (objective.hpp). Losses stay those of records. Cost of a clipped sum: O(d) a unit beside its
/// records' gradients.
/// @param units rows of the inner objective's shard.
[[nodiscard]] std::unique_ptr<Objective> make_unit_objective(std::unique_ptr<Objective> records,
                                                             Units units);

// Records side by side, so that what is computed for one does not depend on the others that are
// there.

/// Numbers of records, the largest first and the last one small, such that a chain that always gets
/// one of these computes the same bits for a record in every place of each: then a record that
/// leaves or joins moves others, and changes nothing of what is computed for them. How products are
/// carried out decides it, and that belongs to the library and the processor: so it is measured, on
/// this chain, with random numbers. {1} where nothing larger passes, and that always does.
/// Cost: a few passes of the largest number.
[[nodiscard]] std::vector<Eigen::Index> place_independent_tiles(LayerChain& chain);

// Gradients of single records, made short and added up exactly.

/// A sum of clipped record gradients, each rounded toward zero to the grid (see
/// Objective::clipped_gradient_sum, the first way). Pure; cost O(d) a record.
class ClippedRecords {
  public:
    enum class Outcome { whole, shortened, set_to_zero };

    /// @param clip_norm_l2, grid_step that require_clip_and_grid allows.
    /// @param sum d, overwritten; borrowed.
    ClippedRecords(double clip_norm_l2, double grid_step, Eigen::Ref<Eigen::VectorXd> sum);

    /// @param gradient d; scaled by a power of two where doubles do not hold its norm.
    Outcome add(Eigen::Ref<Eigen::VectorXd> gradient);
    /// After the last one: the sum is complete.
    void finish() { sum_ *= grid_step_; }

  private:
    double clip_, grid_step_;
    double margin_;  // covers the rounding of norm and products, so that truncation never lengthens
    Eigen::Ref<Eigen::VectorXd> sum_;  // in units of the step: integers, until the end
};

// Sparse records in the innermost loops.

/// The arrays of a compressed sparse matrix, without Eigen's iterators: they are walked in the
/// innermost loops of every round.
class RowWalker {
  public:
    RowWalker() = default;
    /// `features` must stay where it is, unchanged and compressed.
    explicit RowWalker(const Eigen::SparseMatrix<double, Eigen::RowMajor>& features)
        : starts_(features.outerIndexPtr()),
          columns_(features.innerIndexPtr()),
          values_(features.valuePtr()),
          binary_(std::all_of(
              values_, values_ + features.nonZeros(), [](double value) { return value == 1; })) {}

    /// Every stored value is 1, so that values need not be read.
    [[nodiscard]] bool binary() const { return binary_; }

    /// Calls f(column, value) for the stored values of a row; the value is the constant 1 when
    /// `is_binary` (which must then be what binary() says).
    template <bool is_binary, class Function>
    void for_each(Eigen::Index row, Function&& f) const {
        const int end = starts_[row + 1];
        for (int k = starts_[row]; k < end; ++k) f(columns_[k], is_binary ? 1.0 : values_[k]);
    }

    /// w.a + b, added in two interleaved chains: one would wait for every addition.
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
