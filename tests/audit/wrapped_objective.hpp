#pragma once

// An objective that passes everything on to another, for sabotages that change some of it.

#include <memory>
#include <utility>

#include "sotto/learn/objective.hpp"

namespace sotto::test {

class WrappedObjective : public Objective {
  public:
    explicit WrappedObjective(std::unique_ptr<Objective> inner) : inner_(std::move(inner)) {}
    Eigen::Index dimension() const override { return inner_->dimension(); }
    Eigen::Index records() const override { return inner_->records(); }
    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd> gradient) override {
        inner_->mean_gradient(model, rows, gradient);
    }
    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>& model,
                              std::span<const Eigen::Index> rows,
                              double clip_norm,
                              double grid_step,
                              Eigen::Ref<Eigen::VectorXd> sum) override {
        inner_->clipped_gradient_sum(model, rows, clip_norm, grid_step, sum);
    }
    bool record_clipping() const override { return true; }
    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) override {
        return inner_->train_loss(model);
    }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                      Eigen::Index first,
                      Eigen::Index stride) override {
        return inner_->test_loss(model, first, stride);
    }

  private:
    std::unique_ptr<Objective> inner_;
};

}  // namespace sotto::test
