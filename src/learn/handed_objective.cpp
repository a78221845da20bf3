#include "learn/handed_objective.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "learn/norm_histogram.hpp"
#include "learn/record_objective.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

void require_at_least(const char* name, Eigen::Index value, Eigen::Index least) {
    if (value < least)
        throw ConfigError(fmt::format("{}: {} is not allowed (at least {})", name, value, least));
}

/// @throws ConfigError unless they are `count` gradients of d values.
void require_shape(const HandedGradients& gradients, Eigen::Index count, Eigen::Index dimension) {
    std::visit(
        [&](const auto& values) {
            if (values.rows() != dimension || values.cols() != count)
                throw ConfigError(
                    fmt::format("gradients: {} x {} is not allowed ({} x {}: one for each of so "
                                "many records, with so many parameters)",
                                values.cols(),
                                values.rows(),
                                count,
                                dimension));
        },
        gradients);
}

}  // namespace

HandedObjective::HandedObjective(Eigen::Index dimension,
                                 Eigen::Index records,
                                 Eigen::Index most_rows,
                                 Eigen::Index test_records)
    : dimension_(dimension), records_(records), most_rows_(most_rows), test_records_(test_records) {
    require_at_least("dimension", dimension, 1);
    require_at_least("records", records, 1);
    require_at_least("rows of a call", most_rows, 1);
    require_at_least("test records", test_records, 0);
}

void HandedObjective::mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                                    std::span<const Eigen::Index> rows,
                                    Eigen::Ref<Eigen::VectorXd> gradient) {
    gradient.setZero();
    if (!functions_.batch_gradient) return;
    const HandedGradients handed = functions_.batch_gradient(model, rows);
    require_shape(handed, 1, dimension_);
    std::visit([&](const auto& values) { gradient = values.col(0).template cast<double>(); },
               handed);
}

void HandedObjective::clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>& model,
                                           std::span<const Eigen::Index> rows,
                                           double clip_norm_l2,
                                           double grid_step,
                                           Eigen::Ref<Eigen::VectorXd> sum) {
    require_clip_and_grid(clip_norm_l2, grid_step, rows.size(), largest_batch());
    ClippedRecords clipped(clip_norm_l2, grid_step, sum);
    for_each_gradient(model, rows, [&](Eigen::Ref<Eigen::VectorXd> gradient) {
        const auto outcome = clipped.add(gradient);
        if (outcome == ClippedRecords::Outcome::set_to_zero) count_record_set_to_zero();
        if (outcome == ClippedRecords::Outcome::shortened) count_record_shortened();
    });
    clipped.finish();
}

Eigen::VectorXd HandedObjective::gradient_norms(const Eigen::Ref<const Eigen::VectorXd>& model,
                                                std::span<const Eigen::Index> rows) {
    Eigen::VectorXd norms = Eigen::VectorXd::Zero(std::ssize(rows));
    Eigen::Index next = 0;
    for_each_gradient(model, rows, [&](const Eigen::Ref<Eigen::VectorXd>& gradient) {
        norms(next++) = norm_or_nan(gradient);
    });
    return norms;
}

void HandedObjective::for_each_gradient(
    const Eigen::Ref<const Eigen::VectorXd>& model,
    std::span<const Eigen::Index> rows,
    const std::function<void(Eigen::Ref<Eigen::VectorXd>)>& use) {
    gradient_.resize(dimension_);
    const auto count = std::ssize(rows);
    for (Eigen::Index first = 0; functions_.record_gradients && first < count;
         first += most_rows_) {
        const auto part =
            rows.subspan(static_cast<std::size_t>(first),
                         static_cast<std::size_t>(std::min(most_rows_, count - first)));
        const HandedGradients handed = functions_.record_gradients(model, part);
        require_shape(handed, std::ssize(part), dimension_);
        for (Eigen::Index k = 0; k < std::ssize(part); ++k) {
            std::visit(
                [&](const auto& values) { gradient_ = values.col(k).template cast<double>(); },
                handed);
            use(gradient_);
        }
    }
}

LossSum HandedObjective::train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) {
    return train_loss_of_share(model, 1);
}

LossSum HandedObjective::train_loss_of_share(const Eigen::Ref<const Eigen::VectorXd>& model,
                                             Eigen::Index stride) {
    require_evaluated_rows(0, stride);
    return functions_.train_losses ? functions_.train_losses(model, 0, stride) : LossSum{};
}

LossSum HandedObjective::test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                                   Eigen::Index first,
                                   Eigen::Index stride) {
    require_evaluated_rows(first, stride);
    return functions_.test_losses ? functions_.test_losses(model, first, stride) : LossSum{};
}

}  // namespace sotto
