#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sotto/learn/dataset.hpp"

namespace sotto {
/// Losses summed over records, so that the sums of agents add up.
struct LossSum {
    double loss = 0;     ///< sum of record losses (regularisation excluded)
    double correct = 0;  ///< records classified correctly
    Eigen::Index records = 0;
    bool has_accuracy = false;

    LossSum& operator+=(const LossSum& other);
};

/// Value and derivatives of the training loss summed over one agent's records.
struct Curvature {
    double loss = 0;
    Eigen::VectorXd gradient;
    Eigen::MatrixXd hessian;
};

/// What one agent minimises: its own data and loss. Not thread-safe; one object per agent.
/// Regularisation is not included: it depends on the model alone and is added outside the clip.
class Objective {
  public:
    virtual ~Objective() = default;
    /// Number of model parameters d.
    [[nodiscard]] virtual Eigen::Index dimension() const = 0;
    /// Training records of the shard; rows of batches are 0 to records()-1.
    [[nodiscard]] virtual Eigen::Index records() const = 0;

    /// Model that training starts from: the same for every agent, deterministic in the seed, zero
    /// by default.
    [[nodiscard]] virtual Eigen::VectorXd initial_model(std::uint64_t seed) const;

    /// gradient = (1/|rows|) sum over rows of the record gradients, not clipped; zero for no rows.
    /// @param model d.  @param gradient d, overwritten.
    virtual void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                               std::span<const Eigen::Index> rows,
                               Eigen::Ref<Eigen::VectorXd> gradient) = 0;

    /// Sum over rows of the record gradients, each clipped to L2 norm at most `clip`; every
    /// coordinate is a multiple of `grid_step`. For any data, including rounding to the last bit,
    /// one record changes the sum by at most clip in L2 norm if it is added, removed, or its
    /// gradient is replaced by zero, and by at most 2 clip if it is replaced. A record whose
    /// gradient is not finite adds zero and is counted (count_record_set_to_zero). Two ways to keep
    /// this bound:
    ///   - round every clipped record gradient toward zero to the grid, sum exactly (logistic);
    ///   - clip to a little less than `clip`, which leaves room for rounding the sum
    ///     (layered_objective.hpp), where record gradients are never formed.
    /// @param clip_norm_l2 > 0.  @param grid_step an integer times a power of two (B_u * gamma),
    /// above clip largest_batch() 2^-53 so that the sum is exact for every batch.  @param sum d,
    /// overwritten.
    /// @throws ConfigError if clip or grid are out of range, or if record_clipping() is false.
    virtual void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>& model,
                                      std::span<const Eigen::Index> rows,
                                      double clip_norm_l2,
                                      double grid_step,
                                      Eigen::Ref<Eigen::VectorXd> sum) = 0;
    [[nodiscard]] virtual bool record_clipping() const = 0;
    /// L2 norm of the gradient of each of these records, from that record alone; not a number if
    /// the gradient is not finite. By default one mean_gradient a record.
    [[nodiscard]] virtual Eigen::VectorXd gradient_norms(
        const Eigen::Ref<const Eigen::VectorXd>& model, std::span<const Eigen::Index> rows);
    /// Upper bound on the rows of every batch; records are treated alike in all such batches.
    void set_largest_batch(Eigen::Index rows) { largest_batch_ = rows; }
    /// The value set, or records() if none was set.
    [[nodiscard]] Eigen::Index largest_batch() const { return largest_batch_.value_or(records()); }
    /// Records that clipped_gradient_sum has counted as zero because their gradient was not finite.
    /// Depends on the data: for the agent's own report only.
    [[nodiscard]] std::int64_t records_set_to_zero() const { return records_set_to_zero_; }
    /// Records that clipped_gradient_sum has shortened to the clip, decided by each record's own
    /// gradient alone. Depends on the data.
    [[nodiscard]] std::int64_t records_shortened() const { return records_shortened_; }
    /// Whether clipped_gradient_sum counts shortened records.
    [[nodiscard]] virtual bool counts_shortened_records() const { return false; }
    /// Number of leading coordinates that are the model; the others are learnt beside it
    /// (quantile_clipping.hpp).
    [[nodiscard]] virtual Eigen::Index model_parameters() const { return dimension(); }

    /// Losses over the shard's training records.
    [[nodiscard]] virtual LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) = 0;
    /// Losses over training records 0, stride, 2 stride, ... of the shard; train_loss by default.
    /// @throws ConfigError unless stride >= 1.
    [[nodiscard]] virtual LossSum train_loss_of_share(
        const Eigen::Ref<const Eigen::VectorXd>& model, Eigen::Index stride);
    /// Records of the test set; 0 also if test_loss is not a sum over records.
    [[nodiscard]] virtual Eigen::Index test_records() const;
    /// Losses over rows first, first+stride, ... of the test set.
    /// @throws ConfigError unless first >= 0 and stride >= 1.
    [[nodiscard]] virtual LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                                            Eigen::Index first,
                                            Eigen::Index stride) = 0;
    /// test_loss(model, 0, 1) of every column of `models`, to the last bit. Models with layers read
    /// the test set once for all of them.
    [[nodiscard]] virtual std::vector<LossSum> test_losses(
        const Eigen::Ref<const Eigen::MatrixXd>& models);
    /// Loss of every record of other data of the same kind, one at a time: equal records have equal
    /// losses, whatever other records are given. @return one per record.
    /// @throws ConfigError if the task's losses are not those of records; DataError for data that
    /// do not fit the model.
    [[nodiscard]] virtual Eigen::VectorXd record_losses(
        const Eigen::Ref<const Eigen::VectorXd>& model, const Dataset& records);
    /// Whether test_losses of the other objective is the same function; false by default.
    [[nodiscard]] virtual bool shares_test(const Objective& other) const;
    /// Loss, gradient and Hessian summed over the shard; nothing if the task does not offer them
    /// (the optimality gap is then not reported). Logistic: up to d = 4096; cost O(sum of squared
    /// row lengths).
    [[nodiscard]] virtual std::optional<Curvature> curvature_sum(
        const Eigen::Ref<const Eigen::VectorXd>& model);

  protected:
    /// clipped_gradient_sum calls this for every record whose gradient is not finite.
    void count_record_set_to_zero() { ++records_set_to_zero_; }
    void count_record_shortened() { ++records_shortened_; }

  private:
    std::int64_t records_set_to_zero_ = 0;
    std::int64_t records_shortened_ = 0;
    std::optional<Eigen::Index> largest_batch_;
};
}  // namespace sotto

namespace sotto {

/// Base class for objectives given record by record: a derived class computes one record's loss and
/// gradient; this class averages, clips and rounds. Every clipped record gradient is rounded toward
/// zero to the grid before an exact sum. Cost beside the gradient: O(d) a record and one vector of
/// d. The short way to write an own task (SOTTO_OWN_TASK).
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
    /// Called once before losses or gradients at a model are computed; the model stays the same
    /// until the next call.
    virtual void prepare(const Eigen::Ref<const Eigen::VectorXd>& /*model*/) {}
    /// Loss of one record of the training or test data.
    [[nodiscard]] virtual Loss record_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                                           const Dataset& data,
                                           Eigen::Index row) = 0;
    /// Gradient of one record of the shard. It must depend on the model and this record only.
    /// @param gradient d, overwritten.
    virtual void record_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                                 const Dataset& data,
                                 Eigen::Index row,
                                 Eigen::Ref<Eigen::VectorXd> gradient) = 0;
    [[nodiscard]] virtual bool has_accuracy() const { return false; }
    /// Losses of rows first, first + stride, ... of the training or test data, record by record by
    /// default.
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

/// Checks the arguments that every clipped_gradient_sum requires. Whether it throws does not depend
/// on which batch is drawn. @throws ConfigError with what is allowed.
void require_clip_and_grid(double clip_norm_l2,
                           double grid_step,
                           std::size_t rows,
                           Eigen::Index largest_batch);

/// Checks the rows given to test_loss or train_loss_of_share. @throws ConfigError.
void require_evaluated_rows(Eigen::Index first, Eigen::Index stride);

/// What `sotto train --task FILE` passes to an own task, once per agent of the process.
struct OwnTaskOptions {
    int agent = 0;                    ///< from 0
    int agents = 1;                   ///< of the whole network
    const char* data = "";            ///< --data, as given
    const char* test_data = nullptr;  ///< --test-data; null: not given
    double test_fraction = 0.2;       ///< --test-fraction
    std::uint64_t seed = 1;           ///< --seed
};

/// Changes whenever Objective, Dataset or OwnTaskOptions change, so that libraries built for
/// another version are refused.
inline constexpr int own_task_version = 5;

}  // namespace sotto

/// Makes a shared library a task. Use it once, outside any namespace, with the name of a function
/// `std::unique_ptr<sotto::Objective> make(const sotto::OwnTaskOptions&)`. The function may throw
/// sotto::ConfigError and sotto::DataError, which end the job with their message. Compile the
/// library with the same compiler as sotto and the same options that affect the layout of Eigen's
/// types (-march, EIGEN_MAX_ALIGN_BYTES). It stays loaded until the process ends.
#define SOTTO_OWN_TASK(make)                                                             \
    extern "C" __attribute__((visibility("default"))) const int sotto_own_task_version = \
        sotto::own_task_version;                                                         \
    extern "C" __attribute__((visibility("default"))) sotto::Objective* sotto_own_task(  \
        const sotto::OwnTaskOptions* options) {                                          \
        return make(*options).release();                                                 \
    }
