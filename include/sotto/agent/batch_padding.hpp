#pragma once

#include <Eigen/Core>
#include <vector>

#include "sotto/learn/objective.hpp"

namespace sotto {

/// Work that hides how many records a sampled batch has: of rounds that compute the gradients of at
/// least as many records as this the time does not tell. (Records that differ in time themselves,
/// as sparse ones, still show.)
class BatchPadding {
  public:
    /// @param least records a round works through; 0: as many as its batch has.
    explicit BatchPadding(Eigen::Index least = 0) : least_(least) {}

    [[nodiscard]] Eigen::Index least() const { return least_; }
    /// Room for the work. Before the first round.
    void prepare(Eigen::Index dimension);
    /// Clipped gradients, for nothing, of as many records as a batch of this size lacks.
    /// @param clip_norm, grid_step as Objective::clipped_gradient_sum takes them.
    void work(Objective& objective,
              const Eigen::Ref<const Eigen::VectorXd>& model,
              Eigen::Index batch,
              double clip_norm,
              double grid_step);

  private:
    Eigen::Index least_;
    std::vector<Eigen::Index> rows_;
    Eigen::VectorXd sum_;
};

}  // namespace sotto
