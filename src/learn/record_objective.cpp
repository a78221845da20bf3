#include "sotto/learn/record_objective.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "clipped_records.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

void require_clip_and_grid(double clip_norm_l2,
                           double grid_step,
                           std::size_t rows,
                           Eigen::Index largest_batch) {
    if (std::cmp_greater(rows, largest_batch))
        throw ConfigError(
            fmt::format("a batch of {}: at most {} were announced", rows, largest_batch));
    if (!(clip_norm_l2 > 0 && std::isfinite(clip_norm_l2)))
        throw ConfigError(fmt::format("clip norm {}: must be positive", clip_norm_l2));
    if (!(grid_step > 0 && std::isfinite(1 / grid_step)))
        throw ConfigError(fmt::format("grid step {}: must be positive and normal", grid_step));
    // Below this every partial sum is an integer multiple of the step that fits 53 bits.
    const auto count = static_cast<double>(largest_batch);
    if (!(clip_norm_l2 / grid_step * count < 0x1p53))
        throw ConfigError(
            fmt::format("clip-norm: {} is too large to add up {} clipped gradients exactly on the "
                        "noise's grid of {:.3g} (allowed: below {:.6g}, or a plan with more noise)",
                        clip_norm_l2,
                        largest_batch,
                        grid_step,
                        0x1p53 * grid_step / count));
}

void require_evaluated_rows(Eigen::Index first, Eigen::Index stride) {
    if (first < 0 || stride < 1)
        throw ConfigError(fmt::format(
            "evaluated rows {}, {}+{}, ...: first must be at least 0, the stride at least 1",
            first,
            first,
            stride));
}

RecordObjective::RecordObjective(Dataset shard, std::shared_ptr<const Dataset> test)
    : shard_(std::move(shard)), test_(test ? std::move(test) : std::make_shared<const Dataset>()) {
    if (shard_.records() == 0)
        throw DataError(fmt::format("{}: an agent's shard has no records", shard_.source));
}

void RecordObjective::mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                                    std::span<const Eigen::Index> rows,
                                    Eigen::Ref<Eigen::VectorXd> gradient) {
    prepare(model);
    gradient_.resize(dimension());
    gradient.setZero();
    for (const Eigen::Index row : rows) {
        record_gradient(model, shard_, row, gradient_);
        gradient += gradient_;
    }
    if (!rows.empty()) gradient *= 1 / static_cast<double>(rows.size());
}

void RecordObjective::clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>& model,
                                           std::span<const Eigen::Index> rows,
                                           double clip_norm_l2,
                                           double grid_step,
                                           Eigen::Ref<Eigen::VectorXd> sum) {
    require_clip_and_grid(clip_norm_l2, grid_step, rows.size(), largest_batch());
    prepare(model);
    gradient_.resize(dimension());
    ClippedRecords clipped(clip_norm_l2, grid_step, sum);
    for (const Eigen::Index row : rows) {
        record_gradient(model, shard_, row, gradient_);
        const auto outcome = clipped.add(gradient_);
        if (outcome == ClippedRecords::Outcome::set_to_zero) count_record_set_to_zero();
        if (outcome == ClippedRecords::Outcome::shortened) count_record_shortened();
    }
    clipped.finish();
}

LossSum RecordObjective::train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) {
    return loss_over(shard_, model, 0, 1);
}

LossSum RecordObjective::train_loss_of_share(const Eigen::Ref<const Eigen::VectorXd>& model,
                                             Eigen::Index stride) {
    require_evaluated_rows(0, stride);
    return loss_over(shard_, model, 0, stride);
}

LossSum RecordObjective::test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                                   Eigen::Index first,
                                   Eigen::Index stride) {
    require_evaluated_rows(first, stride);
    return loss_over(*test_, model, first, stride);
}

Eigen::VectorXd RecordObjective::record_losses(const Eigen::Ref<const Eigen::VectorXd>& model,
                                               const Dataset& records) {
    prepare(model);
    Eigen::VectorXd losses(records.records());
    for (Eigen::Index row = 0; row < losses.size(); ++row)
        losses(row) = record_loss(model, records, row).loss;
    return losses;
}

LossSum RecordObjective::loss_over(const Dataset& data,
                                   const Eigen::Ref<const Eigen::VectorXd>& model,
                                   Eigen::Index first,
                                   Eigen::Index stride) {
    prepare(model);
    LossSum sum;
    sum.has_accuracy = has_accuracy();
    for (Eigen::Index row = first; row < data.records(); row += stride) {
        const Loss one = record_loss(model, data, row);
        sum.loss += one.loss;
        if (one.correct) sum.correct += 1;
        ++sum.records;
    }
    return sum;
}

}  // namespace sotto
