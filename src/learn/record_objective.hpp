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

/// An objective that is given record by record: a derived class says what one record's loss and
/// gradient are; this class averages, clips and rounds. Every record's clipped gradient is rounded
/// toward zero to the grid before an exact sum. Cost: O(d) a record beside the gradient itself, and
/// one vector of d. The short way to a task of one's own (own_task.hpp).
class RecordObjective : public Objective {
  public:
    /// @param test may be empty (0 records) or null.  @throws DataError if the shard is empty.
    RecordObjective(Dataset shard, std::shared_ptr<const Dataset> test);

    Eigen::Index records() const final { return shard_.records(); }
    bool record_clipping() const final { return true; }
    bool counts_shortened_records() const final { return true; }
    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd> gradient) override;
    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>& model,
                              std::span<const Eigen::Index> rows,
                              double clip_norm_l2,
                              double grid_step,
                              Eigen::Ref<Eigen::VectorXd> sum) final;
    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) final;
    LossSum train_loss_of_share(const Eigen::Ref<const Eigen::VectorXd>& model,
                                Eigen::Index stride) final;
    Eigen::Index test_records() const override { return test_->records(); }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                      Eigen::Index first,
                      Eigen::Index stride) override;
    Eigen::VectorXd record_losses(const Eigen::Ref<const Eigen::VectorXd>& model,
                                  const Dataset& records) final;

  protected:
    struct Loss {
        double loss = 0;
        bool correct = false;  ///< counted where has_accuracy()
    };
    /// Called once before losses or gradients at a model are asked for; the model they are given is
    /// this one until the next call.
    virtual void prepare(const Eigen::Ref<const Eigen::VectorXd>& /*model*/) {}
    /// Loss of one record of the training or test data.
    [[nodiscard]] virtual Loss record_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                                           const Dataset& data,
                                           Eigen::Index row) = 0;
    /// Its gradient, of one record of the shard. It must depend on the model and this record only.
    /// @param gradient d, overwritten.
    virtual void record_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                                 const Dataset& data,
                                 Eigen::Index row,
                                 Eigen::Ref<Eigen::VectorXd> gradient) = 0;
    [[nodiscard]] virtual bool has_accuracy() const { return false; }
    /// Losses of rows first, first + stride, ... of the training or test data: record by record
    /// unless a derived class has a faster way.
    [[nodiscard]] virtual LossSum loss_over(const Dataset& data,
                                            const Eigen::Ref<const Eigen::VectorXd>& model,
                                            Eigen::Index first,
                                            Eigen::Index stride);
    [[nodiscard]] const Dataset& shard() const { return shard_; }
    [[nodiscard]] const Dataset& test() const { return *test_; }

  private:
    Dataset shard_;
    std::shared_ptr<const Dataset> test_;
    Eigen::VectorXd gradient_;
};

/// Checks what every clipped_gradient_sum asks of its clip, grid and batch (objective.hpp): whether
/// it throws for one batch does not depend on which it is.
/// @throws ConfigError with what is allowed.
void require_clip_and_grid(double clip_norm_l2,
                           double grid_step,
                           std::size_t rows,
                           Eigen::Index largest_batch);

/// Checks the rows that test_loss or train_loss_of_share is asked for. @throws ConfigError.
void require_evaluated_rows(Eigen::Index first, Eigen::Index stride);

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
