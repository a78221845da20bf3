#include "learn/canary.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

class CanaryObjective final : public Objective {
  public:
    explicit CanaryObjective(Contributions contributions)
        : contributions_(std::move(contributions)) {
        if (contributions_.values.size() == 0 || contributions_.signs.size() == 0)
            throw ConfigError("contributions: none are given (at least one coordinate and round)");
    }

    Eigen::Index dimension() const override { return contributions_.values.size(); }
    Eigen::Index records() const override { return contributions_.signs.rows(); }

    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>&,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd> gradient) override {
        gradient.setZero();
        if (rows.empty()) return;
        for (const Eigen::Index row : rows)
            for (Eigen::Index i = 0; i < gradient.size(); ++i)
                gradient(i) += contributions_.at(row, i);
        gradient /= static_cast<double>(rows.size());
    }

    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>&,
                              std::span<const Eigen::Index> rows,
                              double clip_norm,
                              double grid_step,
                              Eigen::Ref<Eigen::VectorXd> sum) override {
        sum.setZero();
        for (const Eigen::Index row : rows) {
            const double scale = contributions_.one_model ? scale_to(clip_norm, row) : 1;
            for (Eigen::Index i = 0; i < sum.size(); ++i)
                sum(i) += std::trunc(
                              std::clamp(scale * contributions_.at(row, i), -clip_norm, clip_norm) /
                              grid_step) *
                          grid_step;
        }
    }
    bool record_clipping() const override { return true; }

    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>&) override { return nothing(); }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>&,
                      Eigen::Index,
                      Eigen::Index) override {
        return nothing();
    }

  private:
    /// Scales the round's contribution to norm at most clip_norm, rounding included.
    double scale_to(double clip_norm, Eigen::Index round) const {
        double squared = 0;
        for (Eigen::Index i = 0; i < dimension(); ++i)
            squared += std::pow(contributions_.at(round, i), 2);
        const double margin = 1 - static_cast<double>(dimension() + 16) * 0x1p-53;
        return std::min(1.0, clip_norm * margin / std::sqrt(squared));
    }

    static LossSum nothing() {
        return {.loss = 0, .correct = 0, .records = 1, .has_accuracy = false};
    }

    Contributions contributions_;
};

}  // namespace

std::unique_ptr<Objective> make_canary_objective(Contributions contributions) {
    return std::make_unique<CanaryObjective>(std::move(contributions));
}

}  // namespace sotto
