#include "sotto/learn/unit_objective.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "clipped_records.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learn/record_objective.hpp"

namespace sotto {

namespace {

class UnitObjective final : public Objective {
  public:
    UnitObjective(std::unique_ptr<Objective> inner, Units units)
        : inner_(std::move(inner)), units_(std::move(units)), gradient_(inner_->dimension()) {}

    Eigen::Index dimension() const override { return inner_->dimension(); }
    Eigen::Index records() const override { return std::ssize(units_); }
    bool record_clipping() const override { return true; }
    bool counts_shortened_records() const override { return true; }
    Eigen::Index model_parameters() const override { return inner_->model_parameters(); }
    Eigen::VectorXd initial_model(std::uint64_t seed) const override {
        return inner_->initial_model(seed);
    }

    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd> gradient) override {
        gradient.setZero();
        for (const Eigen::Index unit : rows) {
            inner_->mean_gradient(model, rows_of(unit), gradient_);
            gradient += gradient_;
        }
        if (!rows.empty()) gradient *= 1 / static_cast<double>(rows.size());
    }

    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>& model,
                              std::span<const Eigen::Index> rows,
                              double clip_norm_l2,
                              double grid_step,
                              Eigen::Ref<Eigen::VectorXd> sum) override {
        require_clip_and_grid(clip_norm_l2, grid_step, rows.size(), largest_batch());
        ClippedRecords clipped(clip_norm_l2, grid_step, sum);
        for (const Eigen::Index unit : rows) {
            // Of this unit alone: nothing of it depends on who else is in the batch.
            inner_->mean_gradient(model, rows_of(unit), gradient_);
            const auto outcome = clipped.add(gradient_);
            if (outcome == ClippedRecords::Outcome::set_to_zero) count_record_set_to_zero();
            if (outcome == ClippedRecords::Outcome::shortened) count_record_shortened();
        }
        clipped.finish();
    }

    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) override {
        return inner_->train_loss(model);
    }
    LossSum train_loss_of_share(const Eigen::Ref<const Eigen::VectorXd>& model,
                                Eigen::Index stride) override {
        return inner_->train_loss_of_share(model, stride);
    }
    Eigen::Index test_records() const override { return inner_->test_records(); }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                      Eigen::Index first,
                      Eigen::Index stride) override {
        return inner_->test_loss(model, first, stride);
    }
    std::vector<LossSum> test_losses(const Eigen::Ref<const Eigen::MatrixXd>& models) override {
        return inner_->test_losses(models);
    }
    Eigen::VectorXd record_losses(const Eigen::Ref<const Eigen::VectorXd>& model,
                                  const Dataset& records) override {
        return inner_->record_losses(model, records);
    }
    bool shares_test(const Objective& other) const override {
        const auto* unit = dynamic_cast<const UnitObjective*>(&other);
        return unit != nullptr && inner_->shares_test(*unit->inner_);
    }
    std::optional<Curvature> curvature_sum(
        const Eigen::Ref<const Eigen::VectorXd>& model) override {
        return inner_->curvature_sum(model);
    }

  private:
    [[nodiscard]] std::span<const Eigen::Index> rows_of(Eigen::Index unit) const {
        return units_.at(static_cast<std::size_t>(unit));
    }

    std::unique_ptr<Objective> inner_;
    Units units_;
    Eigen::VectorXd gradient_;
};

}  // namespace

Units units_of(const Dataset& data, std::span<const Eigen::Index> rows) {
    if (data.writers.empty())
        throw DataError(fmt::format("{}: does not say which records are of one unit", data.source));
    Units units;
    std::map<int, std::size_t> places;
    for (const Eigen::Index row : rows) {
        const int who = data.writers.at(static_cast<std::size_t>(row));
        const auto [place, is_new] = places.try_emplace(who, units.size());
        if (is_new) units.emplace_back();
        units[place->second].push_back(row);
    }
    return units;
}

std::unique_ptr<Objective> make_unit_objective(std::unique_ptr<Objective> records, Units units) {
    return std::make_unique<UnitObjective>(std::move(records), std::move(units));
}

}  // namespace sotto
