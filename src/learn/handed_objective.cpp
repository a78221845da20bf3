#include "learn/handed_objective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/column_sums.hpp"
#include "core/numbers.hpp"
#include "learn/clipped_records.hpp"
#include "learn/norm_histogram.hpp"
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

void require_norms(const Eigen::Map<const Eigen::VectorXd>& norms, Eigen::Index count) {
    if (norms.size() != count)
        throw ConfigError(
            fmt::format("norms: {} are not allowed ({}: one for each record of the batch)",
                        norms.size(),
                        count));
    for (const double norm : norms)
        if (norm < 0)
            throw ConfigError(fmt::format(
                "norms: {} is not allowed (at least 0, or not a number for a gradient that is not "
                "finite)",
                norm));
}

/// @throws PrivacyError unless the sum is one that clipped gradients of these norms can have.
void require_short(const HandedGradients& sum,
                   const Eigen::Map<const Eigen::VectorXd>& norms,
                   double clip_norm) {
    constexpr double rounding = 1e-3;
    double most = clip_norm * 0x1p-30;  // squares of shorter gradients may be zero in floats
    for (const double norm : norms)
        if (std::isfinite(norm)) most += std::min(norm, clip_norm);
    const double length = std::visit(
        [](const auto& all) {
            const auto size = static_cast<std::size_t>(all.size());
            return std::sqrt(sum_of_squares(std::span(all.data(), size)));
        },
        sum);
    if (!(length <= most * (1 + rounding)))
        throw PrivacyError(
            fmt::format("gradients: a sum of length {:.6g} is not allowed (at most {:.6g}: what "
                        "records of these norms have together, each clipped to {:.6g}); nothing of "
                        "this round was sent; clip each gradient before the sum, or hand over one "
                        "gradient a record",
                        length,
                        most,
                        clip_norm));
}

/// sum = grid_step trunc(steps values).
template <class Value>
void put_on_grid(const Value* values,
                 double steps,
                 double grid_step,
                 Eigen::Ref<Eigen::VectorXd> sum) {
    const auto size = static_cast<std::size_t>(sum.size());
    truncate_to_units(std::span(values, size), steps, grid_step, {sum.data(), size});
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
    if (functions_.clipped_sum) {
        add_handed_sums(model, rows, clip_norm_l2, grid_step, sum);
        return;
    }
    ClippedRecords clipped(clip_norm_l2, grid_step, sum);
    const auto count = [&](ClippedRecords::Outcome outcome) {
        if (outcome == ClippedRecords::Outcome::set_to_zero) count_record_set_to_zero();
        if (outcome == ClippedRecords::Outcome::shortened) count_record_shortened();
    };
    if (functions_.record_gradients)
        for_each_part(rows, [&](Rows part) {
            std::visit([&](const auto& all) { clipped.add_columns(all, count); },
                       gradients_of(model, part));
        });
    clipped.finish();
}

double HandedObjective::share_of_clip(double clip_norm, double grid_step) const {
    constexpr double smallest_share = 0.9;
    const auto n = static_cast<double>(largest_batch());
    const double parts = std::ceil(n / static_cast<double>(most_at_once()));
    const double grid = grid_step * std::sqrt(static_cast<double>(dimension_));
    const double share = (1 - grid / clip_norm) / (1 + 2 * n * (parts + 2) * 0x1p-53);
    if (!(share >= smallest_share))
        throw ConfigError(fmt::format(
            "clip norm {}: with {} parameters and a grid of {} rounding leaves {:.3g} of "
            "it to sums that the program clips; at least {} must be left (hand over one "
            "gradient a record, or use less noise)",
            clip_norm,
            dimension_,
            grid_step,
            std::max(0.0, share),
            smallest_share));
    return share * (1 - 0x1p-50);
}

void HandedObjective::add_handed_sums(const Eigen::Ref<const Eigen::VectorXd>& model,
                                      Rows rows,
                                      double clip_norm,
                                      double grid_step,
                                      Eigen::Ref<Eigen::VectorXd> sum) {
    const double steps = share_of_clip(clip_norm, grid_step) / grid_step;
    const bool several = std::ssize(rows) > most_at_once();
    Eigen::VectorXd total = Eigen::VectorXd::Zero(several ? dimension_ : 0);
    if (rows.empty()) sum.setZero();
    for_each_part(rows, [&](Rows part) {
        const HandedSum handed = sum_of(model, part, clip_norm);
        for (const double norm : handed.norms) {
            if (!std::isfinite(norm)) count_record_set_to_zero();
            if (std::isfinite(norm) && norm > clip_norm) count_record_shortened();
        }
        const auto use = [&](const auto& all) {
            if (several)
                total += all.col(0).template cast<double>();
            else
                put_on_grid(all.data(), steps, grid_step, sum);
        };
        std::visit(use, *handed.sum);
    });
    if (several) put_on_grid(total.data(), steps, grid_step, sum);
}

Eigen::VectorXd HandedObjective::gradient_norms(const Eigen::Ref<const Eigen::VectorXd>& model,
                                                std::span<const Eigen::Index> rows) {
    Eigen::VectorXd norms = Eigen::VectorXd::Zero(std::ssize(rows));
    Eigen::Index done = 0;
    const auto keep = [&](const auto& all) {
        for (Eigen::Index k = 0; k < all.cols(); ++k)
            norms(done++) = norm_or_nan(all.col(k).template cast<double>());
    };
    for_each_part(rows, [&](Rows part) {
        if (functions_.clipped_sum) {
            const HandedSum handed = sum_of(model, part, not_a_number);
            norms.segment(done, handed.norms.size()) = handed.norms;
            done += handed.norms.size();
        } else if (functions_.record_gradients) {
            std::visit(keep, gradients_of(model, part));
        }
    });
    return norms;
}

void HandedObjective::for_each_part(Rows rows, const std::function<void(Rows)>& use) const {
    const auto most = static_cast<std::size_t>(most_at_once());
    for (std::size_t first = 0; first < rows.size(); first += most)
        use(rows.subspan(first, std::min(most, rows.size() - first)));
}

HandedGradients HandedObjective::gradients_of(const Eigen::Ref<const Eigen::VectorXd>& model,
                                              Rows part) {
    const HandedGradients handed = functions_.record_gradients(model, part);
    require_shape(handed, std::ssize(part), dimension_);
    return handed;
}

HandedSum HandedObjective::sum_of(const Eigen::Ref<const Eigen::VectorXd>& model,
                                  Rows part,
                                  double clip_norm) {
    const HandedSum handed = functions_.clipped_sum(model, part, clip_norm);
    require_norms(handed.norms, std::ssize(part));
    if (std::isnan(clip_norm)) return handed;
    if (!handed.sum) throw ConfigError("gradients: no sum was given (d values, and norms)");
    require_shape(*handed.sum, 1, dimension_);
    require_short(*handed.sum, handed.norms, clip_norm);
    return handed;
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
