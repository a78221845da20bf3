#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sotto/learn/dataset.hpp"

namespace sotto {
/// Losses summed over records, so that agents' sums add up.
struct LossSum {
    double loss = 0;     ///< sum of record losses (regularisation excluded)
    double correct = 0;  ///< records classified correctly
    Eigen::Index records = 0;
    bool has_accuracy = false;

    LossSum& operator+=(const LossSum& other);
};

/// Value and derivatives at a point, of the training loss summed over one agent's records.
struct Curvature {
    double loss = 0;
    Eigen::VectorXd gradient;
    Eigen::MatrixXd hessian;
};

/// What one agent minimises: its own data and loss. Not thread-safe (it keeps scratch memory); one
/// object per agent. Regularisation is not part of it: it depends on the model alone and is added
/// outside the clip.
class Objective {
  public:
    virtual ~Objective() = default;
    /// Number of model parameters d.
    [[nodiscard]] virtual Eigen::Index dimension() const = 0;
    /// Training records of the shard; rows in batches count from 0 to records()-1.
    [[nodiscard]] virtual Eigen::Index records() const = 0;

    /// Model that training starts from, the same for every agent. Deterministic in the seed. Zero
    /// unless a task says otherwise.
    [[nodiscard]] virtual Eigen::VectorXd initial_model(std::uint64_t seed) const;

    /// gradient = (1/|rows|) sum over rows of the gradient of the record's loss; zero for no rows.
    /// No clipping.  @param model d.  @param gradient d, overwritten.
    virtual void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                               std::span<const Eigen::Index> rows,
                               Eigen::Ref<Eigen::VectorXd> gradient) = 0;

    /// Sum over rows of every record's gradient, clipped to L2 norm at most `clip`, every
    /// coordinate a multiple of `grid_step`. For any data, one record of `rows` changes the sum by
    /// at most clip in L2 norm where it joins or leaves them, or its gradient is replaced by zero,
    /// and by at most 2 clip where the record is replaced; rounding is part of that, to the last
    /// bit. A record whose gradient is not finite adds zero, and is counted
    /// (count_record_set_to_zero). No per-record gradient vector is stored. Two ways to keep this
    /// bound:
    ///   - every record's clipped gradient is rounded toward zero to the grid before an exact sum
    ///     (logistic);
    ///   - records are clipped to a little less than `clip`, which leaves room for what rounding
    ///   the
    ///     sum instead can add (layered_objective.hpp): where the records' own gradients are never
    ///     formed.
    /// @param clip_norm_l2 > 0.  @param grid_step an integer times a power of two (B_u * gamma),
    /// above clip largest_batch() 2^-53 (so that the sum is exact, whatever the batch).  @param sum
    /// d, overwritten.
    /// @throws ConfigError if clip or grid are not as above.
    /// @throws ConfigError if the task has no records to clip (record_clipping() is false).
    virtual void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>& model,
                                      std::span<const Eigen::Index> rows,
                                      double clip_norm_l2,
                                      double grid_step,
                                      Eigen::Ref<Eigen::VectorXd> sum) = 0;
    [[nodiscard]] virtual bool record_clipping() const = 0;
    /// No batch will have more rows; clipped_gradient_sum treats records alike in all such batches.
    void set_largest_batch(Eigen::Index rows) { largest_batch_ = rows; }
    /// As set; records() before.
    [[nodiscard]] Eigen::Index largest_batch() const { return largest_batch_.value_or(records()); }
    /// Records that clipped_gradient_sum has counted as zero so far, because their gradient was not
    /// finite. It depends on the data: for the agent's own report only.
    [[nodiscard]] std::int64_t records_set_to_zero() const { return records_set_to_zero_; }
    /// Records that clipped_gradient_sum has shortened to the clip so far: a record's own gradient
    /// alone decides whether it is one of them. It depends on the data.
    [[nodiscard]] std::int64_t records_shortened() const { return records_shortened_; }
    /// Whether clipped_gradient_sum counts them.
    [[nodiscard]] virtual bool counts_shortened_records() const { return false; }
    /// So many of the d coordinates, the first, are the model; others are learnt beside it
    /// (quantile_clipping.hpp).
    [[nodiscard]] virtual Eigen::Index model_parameters() const { return dimension(); }

    /// Losses over the shard's training records.
    [[nodiscard]] virtual LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) = 0;
    /// Losses over training records 0, stride, 2 stride, ... of the shard; train_loss where a task
    /// does not say otherwise.  @throws ConfigError unless stride >= 1.
    [[nodiscard]] virtual LossSum train_loss_of_share(
        const Eigen::Ref<const Eigen::VectorXd>& model, Eigen::Index stride);
    /// Records of the test set; 0 also where the losses of test_loss are not those of records.
    [[nodiscard]] virtual Eigen::Index test_records() const;
    /// Losses over rows first, first+stride, ... of the test set. @throws ConfigError unless first
    /// >= 0 and stride >= 1.
    [[nodiscard]] virtual LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                                            Eigen::Index first,
                                            Eigen::Index stride) = 0;
    /// test_loss(model, 0, 1) of every column of `models`, to the last bit. Models of
    /// layers read the test set once for all of them.
    [[nodiscard]] virtual std::vector<LossSum> test_losses(
        const Eigen::Ref<const Eigen::MatrixXd>& models);
    /// Loss of every single record of other data (of the kind of the shard, any number), one at a
    /// time: equal records have equal losses, whatever stands beside them.
    /// @return one per record.  @throws ConfigError if the task's losses are not those of records;
    /// DataError for data that do not fit the model.
    [[nodiscard]] virtual Eigen::VectorXd record_losses(
        const Eigen::Ref<const Eigen::VectorXd>& model, const Dataset& records);
    /// Whether test_losses of the other is the same function of the models. True only where a task
    /// says so.
    [[nodiscard]] virtual bool shares_test(const Objective& other) const;
    /// Loss, gradient and Hessian over the shard, summed over its records (so that agents' sums add
    /// up); nothing when the task does not offer them (the optimality gap is then not reported).
    /// Logistic: up to d = 4096; cost O(sum of squared row lengths).
    [[nodiscard]] virtual std::optional<Curvature> curvature_sum(
        const Eigen::Ref<const Eigen::VectorXd>& model);

  protected:
    /// Of clipped_gradient_sum, for every record whose gradient is not finite.
    void count_record_set_to_zero() { ++records_set_to_zero_; }
    void count_record_shortened() { ++records_shortened_; }

  private:
    std::int64_t records_set_to_zero_ = 0;
    std::int64_t records_shortened_ = 0;
    std::optional<Eigen::Index> largest_batch_;
};
}  // namespace sotto

namespace sotto {

/// An objective that is given record by record: a derived class says what one record's loss and
/// gradient are; this class averages, clips and rounds. Every record's clipped gradient is rounded
/// toward zero to the grid before an exact sum. Cost: O(d) a record beside the gradient itself, and
/// one vector of d. The short way to a task of one's own (SOTTO_OWN_TASK).
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

/// What `sotto train --task FILE` gives a task of its own, once per agent of the process.
struct OwnTaskOptions {
    int agent = 0;                    ///< from 0
    int agents = 1;                   ///< of the whole network
    const char* data = "";            ///< --data, as given
    const char* test_data = nullptr;  ///< --test-data; null: not given
    double test_fraction = 0.2;       ///< --test-fraction
    std::uint64_t seed = 1;           ///< --seed
};

/// Changes whenever a library made for an older version can no longer be used: when Objective,
/// Dataset or OwnTaskOptions change.
inline constexpr int own_task_version = 4;

}  // namespace sotto

/// Makes a shared library a task. Once, outside any namespace, with the name of a function
/// `std::unique_ptr<sotto::Objective> make(const sotto::OwnTaskOptions&)`. It may throw
/// sotto::ConfigError and sotto::DataError, which end the job with their message. The library must
/// be compiled by the same compiler, with the same options that change the layout of Eigen's types
/// (-march, EIGEN_MAX_ALIGN_BYTES), as sotto; it stays loaded until the process ends.
#define SOTTO_OWN_TASK(make)                                                             \
    extern "C" __attribute__((visibility("default"))) const int sotto_own_task_version = \
        sotto::own_task_version;                                                         \
    extern "C" __attribute__((visibility("default"))) sotto::Objective* sotto_own_task(  \
        const sotto::OwnTaskOptions* options) {                                          \
        return make(*options).release();                                                 \
    }
