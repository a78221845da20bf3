#include "sotto/learn/averaging.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/learn/record_objective.hpp"

namespace sotto {
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
