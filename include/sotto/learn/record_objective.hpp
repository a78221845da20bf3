#pragma once

#include <memory>

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

}  // namespace sotto
