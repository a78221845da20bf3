#include "learn/quadratic.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "learn/record_objective.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

/// f(x) = 15 u1^2 + u2^2 with u = rotation (x - minimiser), that is (1/2) u^T diag(30, 2) u.
class QuadraticObjective final : public Objective {
  public:
    QuadraticObjective(double angle, double minimiser) : minimiser_(minimiser, 0) {
        Eigen::Matrix2d rotation;
        rotation << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
        hessian_ = rotation.transpose() * Eigen::Vector2d(30, 2).asDiagonal() * rotation;
        hessian_(0, 1) = hessian_(1, 0);
    }

    Eigen::Index dimension() const override { return 2; }
    Eigen::Index records() const override { return 1; }

    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index>,
                       Eigen::Ref<Eigen::VectorXd> gradient) override {
        gradient = gradient_at(model);
    }

    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>&,
                              std::span<const Eigen::Index>,
                              double,
                              double,
                              Eigen::Ref<Eigen::VectorXd>) override {
        throw ConfigError(
            "the quadratic task has no records to clip: use clipping at agent level (adjacency "
            "\"agent\")");
    }
    bool record_clipping() const override { return false; }

    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) override {
        return {.loss = value_at(model), .correct = 0, .records = 1, .has_accuracy = false};
    }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                      Eigen::Index,
                      Eigen::Index) override {
        return train_loss(model);
    }
    std::optional<Curvature> curvature_sum(
        const Eigen::Ref<const Eigen::VectorXd>& model) override {
        return Curvature{value_at(model), gradient_at(model), hessian_};
    }

  private:
    Eigen::Vector2d gradient_at(const Eigen::Ref<const Eigen::VectorXd>& model) const {
        return hessian_ * (Eigen::Vector2d(model) - minimiser_);
    }
    double value_at(const Eigen::Ref<const Eigen::VectorXd>& model) const {
        const Eigen::Vector2d offset = Eigen::Vector2d(model) - minimiser_;
        return 0.5 * offset.dot(hessian_ * offset);
    }

    Eigen::Vector2d minimiser_;
    Eigen::Matrix2d hessian_;
};

}  // namespace

std::unique_ptr<Objective> make_quadratic_objective(int agent, int agents) {
    if (!(agents >= 1 && agent >= 0 && agent < agents))
        throw ConfigError(
            fmt::format("quadratic task: agent {} of {}: agents count from 0 to their number - 1",
                        agent,
                        agents));
    const int i = agent + 1;
    if (2 * i <= agents) return std::make_unique<QuadraticObjective>(0, -i);
    return std::make_unique<QuadraticObjective>(15 * std::numbers::pi / 180, i);
}

namespace {

class AveragingObjective final : public RecordObjective {
  public:
    AveragingObjective(Dataset shard, std::optional<Eigen::VectorXd> mean)
        : RecordObjective(std::move(shard), nullptr), mean_(std::move(mean)) {
        if (mean_ && mean_->size() != dimension())
            throw DataError(fmt::format("{}: records of {} values, their mean has {}",
                                        this->shard().source,
                                        dimension(),
                                        mean_->size()));
        value_.resize(dimension());
    }

    Eigen::Index dimension() const override { return shard().feature_count(); }

    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                      Eigen::Index first,
                      Eigen::Index stride) override {
        require_evaluated_rows(first, stride);
        if (!mean_ || first > 0) return {};
        return {.loss = 0.5 * (model - *mean_).squaredNorm(),
                .correct = 0,
                .records = 1,
                .has_accuracy = false};
    }

    std::optional<Curvature> curvature_sum(
        const Eigen::Ref<const Eigen::VectorXd>& model) override {
        const Eigen::Index d = dimension();
        std::vector<Eigen::Index> rows(static_cast<std::size_t>(records()));
        std::iota(rows.begin(), rows.end(), Eigen::Index{0});
        Curvature result{train_loss(model).loss, Eigen::VectorXd(d), Eigen::MatrixXd::Zero(d, d)};
        mean_gradient(model, rows, result.gradient);
        result.gradient *= static_cast<double>(records());
        return result;
    }

  protected:
    Loss record_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                     const Dataset& data,
                     Eigen::Index row) override {
        copy_features(data, {&row, 1}, value_);
        return {.loss = 0.5 * value_.squaredNorm() - model.dot(value_), .correct = false};
    }
    void record_gradient(const Eigen::Ref<const Eigen::VectorXd>&,
                         const Dataset& data,
                         Eigen::Index row,
                         Eigen::Ref<Eigen::VectorXd> gradient) override {
        copy_features(data, {&row, 1}, gradient);
        gradient = -gradient;
    }

  private:
    std::optional<Eigen::VectorXd> mean_;
    Eigen::VectorXd value_;
};

}  // namespace

std::unique_ptr<Objective> make_averaging_objective(Dataset shard,
                                                    std::optional<Eigen::VectorXd> mean) {
    return std::make_unique<AveragingObjective>(std::move(shard), std::move(mean));
}

}  // namespace sotto
