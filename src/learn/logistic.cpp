#include "learn/logistic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <string_view>

#include "learn/record_objective.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

/// No dense Hessian (d^2 doubles) above this dimension: 128 MiB.
constexpr Eigen::Index largest_hessian_dimension = 4096;

/// log(1 + exp(-z)) without overflow or cancellation.
double logistic_loss(double z) { return std::max(-z, 0.0) + std::log1p(std::exp(-std::abs(z))); }

bool is_correct(double score, double label) { return label > 0 ? score >= 0 : score < 0; }

bool is_power_of_two(double value) {
    int exponent = 0;
    return std::isfinite(value) && value > 0 && std::frexp(value, &exponent) == 0.5;
}

void require_usable(const Dataset& data) {
    const double* values = data.features.valuePtr();
    if (!std::all_of(values, values + data.features.nonZeros(), [](double value) {
            return std::isfinite(value);
        }))
        throw DataError(fmt::format("{}: a feature value is not finite", data.source));
    for (Eigen::Index row = 0; row < data.records(); ++row)
        if (data.labels[row] != 1 && data.labels[row] != -1)
            throw DataError(fmt::format(
                "{}: record {} has label {}; logistic regression needs two classes, -1 and +1",
                data.source,
                row + 1,
                data.labels[row]));
}

std::shared_ptr<const Dataset> compressed(std::shared_ptr<const Dataset> data) {
    if (!data) return std::make_shared<const Dataset>();
    if (!data->dense && data->features.isCompressed()) return data;
    auto copy = std::make_shared<Dataset>(with_sparse_features(*data));
    copy->features.makeCompressed();
    return copy;
}

/// The rows of a usable test set; none if it is empty. Agents of one task share theirs, and looking
/// through it takes longer than a small shard's gradients, so that the latest is remembered.
RowWalker rows_of_test(const std::shared_ptr<const Dataset>& test) {
    static std::mutex mutex;
    static std::weak_ptr<const Dataset> latest;
    static RowWalker rows;
    if (test->records() == 0) return {};
    const std::scoped_lock lock(mutex);
    if (latest.lock() != test) {
        require_usable(*test);
        rows = RowWalker(test->features);
        latest = test;
    }
    return rows;
}

class LogisticObjective final : public Objective {
  public:
    LogisticObjective(Dataset shard, std::shared_ptr<const Dataset> test)
        : shard_(with_sparse_features(std::move(shard))), test_(compressed(std::move(test))) {
        if (shard_.records() == 0)
            throw DataError(fmt::format("{}: an agent's shard has no records", shard_.source));
        shard_.features.makeCompressed();
        require_usable(shard_);
        test_rows_ = rows_of_test(test_);
        require_features_of_shard(*test_);
        rows_ = RowWalker(shard_.features);
    }

    Eigen::Index dimension() const override { return shard_.feature_count() + 1; }
    Eigen::Index records() const override { return shard_.records(); }
    bool record_clipping() const override { return true; }
    bool counts_shortened_records() const override { return true; }

    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd> gradient) override {
        if (rows_.binary())
            add_gradients<true>(model, rows, gradient);
        else
            add_gradients<false>(model, rows, gradient);
        if (!rows.empty()) gradient *= 1 / static_cast<double>(rows.size());
    }

    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>& model,
                              std::span<const Eigen::Index> rows,
                              double clip_norm_l2,
                              double grid_step,
                              Eigen::Ref<Eigen::VectorXd> sum) override {
        require_clip_and_grid(clip_norm_l2, grid_step, rows.size(), largest_batch());
        if (rows_.binary())
            add_clipped_gradients<true>(model, rows, clip_norm_l2, grid_step, sum);
        else
            add_clipped_gradients<false>(model, rows, clip_norm_l2, grid_step, sum);
    }

    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) override {
        return loss_over(rows_, shard_, model, 0, 1);
    }
    LossSum train_loss_of_share(const Eigen::Ref<const Eigen::VectorXd>& model,
                                Eigen::Index stride) override {
        require_evaluated_rows(0, stride);
        return loss_over(rows_, shard_, model, 0, stride);
    }
    Eigen::Index test_records() const override { return test_->records(); }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                      Eigen::Index first,
                      Eigen::Index stride) override {
        require_evaluated_rows(first, stride);
        return loss_over(test_rows_, *test_, model, first, stride);
    }

    Eigen::VectorXd record_losses(const Eigen::Ref<const Eigen::VectorXd>& model,
                                  const Dataset& records) override {
        Dataset data = with_sparse_features(records);
        data.features.makeCompressed();
        require_like_shard(data);
        Eigen::VectorXd losses(data.records());
        if (losses.size() == 0) return losses;
        const RowWalker rows(data.features);
        const double bias = model[dimension() - 1];
        for (Eigen::Index row = 0; row < losses.size(); ++row)
            losses[row] = logistic_loss(data.labels[row] * rows.score(row, model.data(), bias));
        return losses;
    }

    std::optional<Curvature> curvature_sum(
        const Eigen::Ref<const Eigen::VectorXd>& model) override {
        if (dimension() > largest_hessian_dimension) return std::nullopt;
        return rows_.binary() ? curvature<true>(model) : curvature<false>(model);
    }

  private:
    void require_like_shard(const Dataset& data) const {
        require_usable(data);
        require_features_of_shard(data);
    }
    void require_features_of_shard(const Dataset& data) const {
        if (data.records() > 0 && data.feature_count() != shard_.feature_count())
            throw DataError(fmt::format("{} has {} features but {} has {}",
                                        shard_.source,
                                        shard_.feature_count(),
                                        data.source,
                                        data.feature_count()));
    }

    /// slopes_[i] = derivative of the loss of rows[i] by its score: -y / (1 + exp(y score)).
    /// Separate loops for scores, exponentials and the later scatter overlap latencies over many
    /// records.
    template <bool is_binary>
    void compute_slopes(const double* model, std::span<const Eigen::Index> rows) {
        const double bias = model[dimension() - 1];
        const double* labels = shard_.labels.data();
        slopes_.resize(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i)
            slopes_[i] = labels[rows[i]] * rows_.score<is_binary>(rows[i], model, bias);
        for (double& slope : slopes_) slope = 1 / (1 + std::exp(slope));
        for (std::size_t i = 0; i < rows.size(); ++i) slopes_[i] *= -labels[rows[i]];
    }

    template <bool is_binary>
    void add_gradients(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd>& gradient) {
        compute_slopes<is_binary>(model.data(), rows);
        gradient.setZero();
        double* target = gradient.data();
        double bias = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double slope = slopes_[i];
            rows_.for_each<is_binary>(
                rows[i], [&](int column, double value) { target[column] += slope * value; });
            bias += slope;
        }
        target[dimension() - 1] += bias;
    }

    /// sqrt(|a|^2 + 1) of a shard record with every value times `scale`, rounded up by more than
    /// its rounding errors and the three of the clipped coordinates: the clipped norm never exceeds
    /// the clip norm, not even in the last bit.
    double scaled_norm(Eigen::Index row, double scale) const {
        double squares = scale * scale, count = 8;
        rows_.for_each<false>(row, [&](int, double value) {
            squares += (value * scale) * (value * scale);
            count += 1;
        });
        return std::sqrt(squares) * (1 + count * std::numeric_limits<double>::epsilon());
    }
    /// Infinite only if the norm itself is.
    void compute_norms() {
        constexpr double down = 0x1p-600;
        norms_.resize(static_cast<std::size_t>(records()));
        for (Eigen::Index row = 0; row < records(); ++row) {
            double norm = scaled_norm(row, 1);
            if (!std::isfinite(norm)) norm = scaled_norm(row, down) / down;
            norms_[static_cast<std::size_t>(row)] = norm;
        }
    }

    /// The factor of a record's features in its clipped gradient; nothing if it is NaN, or so small
    /// that it would be rounded upward.
    static std::optional<double> clipped_slope(double slope, double norm, double clip_norm) {
        if (std::isnan(slope)) return std::nullopt;
        if (std::abs(slope) * norm <= clip_norm) return slope;
        const double clipped = clip_norm / norm;
        if (!std::isnormal(clipped)) return std::nullopt;
        return std::copysign(clipped, slope);
    }

    template <bool is_binary>
    void add_clipped_gradients(const Eigen::Ref<const Eigen::VectorXd>& model,
                               std::span<const Eigen::Index> rows,
                               double clip_norm,
                               double grid_step,
                               Eigen::Ref<Eigen::VectorXd>& sum) {
        if (norms_.empty()) compute_norms();
        compute_slopes<is_binary>(model.data(), rows);
        // The sum is kept in integer units of the step. That is exact for a power of two; otherwise
        // the factor covers the rounding of the reciprocal and of the product, so that truncation
        // never lengthens a gradient.
        const double steps_per_unit =
            is_power_of_two(grid_step) ? 1 / grid_step : (1 - 0x1p-51) / grid_step;
        sum.setZero();
        double* target = sum.data();
        double bias = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double norm = norms_[static_cast<std::size_t>(rows[i])];
            const auto slope = clipped_slope(slopes_[i], norm, clip_norm);
            if (!slope) {
                count_record_set_to_zero();
                continue;
            }
            if (*slope != slopes_[i]) count_record_shortened();
            const double steps = *slope * steps_per_unit;
            const double whole_steps = std::trunc(steps);
            rows_.for_each<is_binary>(rows[i], [&](int column, double value) {
                target[column] += is_binary ? whole_steps : std::trunc(steps * value);
            });
            bias += whole_steps;
        }
        target[dimension() - 1] = bias;
        sum *= grid_step;
    }

    LossSum loss_over(const RowWalker& rows,
                      const Dataset& data,
                      const Eigen::Ref<const Eigen::VectorXd>& model,
                      Eigen::Index first,
                      Eigen::Index stride) const {
        LossSum sum;
        sum.has_accuracy = true;
        const double bias = model[dimension() - 1];
        for (Eigen::Index row = first; row < data.records(); row += stride) {
            const double score = rows.score(row, model.data(), bias);
            sum.loss += logistic_loss(data.labels[row] * score);
            if (is_correct(score, data.labels[row])) sum.correct += 1;
            ++sum.records;
        }
        return sum;
    }

    template <bool is_binary>
    Curvature curvature(const Eigen::Ref<const Eigen::VectorXd>& model) const {
        const Eigen::Index d = dimension();
        const double bias = model[d - 1];
        Curvature result;
        result.gradient.setZero(d);
        result.hessian.setZero(d, d);
        // Columns ascend in a row and the bias is last: only the lower triangle is written.
        for (Eigen::Index row = 0; row < records(); ++row) {
            const double label = shard_.labels[row];
            const double margin = label * rows_.score<is_binary>(row, model.data(), bias);
            result.loss += logistic_loss(margin);
            const double wrong = 1 / (1 + std::exp(margin));
            const double slope = -label * wrong;
            const double bend = wrong * (1 / (1 + std::exp(-margin)));
            rows_.for_each<is_binary>(row, [&](int i, double value_i) {
                result.gradient[i] += slope * value_i;
                double* column = result.hessian.col(i).data();
                const double weight = bend * value_i;
                rows_.for_each<is_binary>(row, [&](int j, double value_j) {
                    if (j >= i) column[j] += weight * value_j;
                });
                column[d - 1] += weight;
            });
            result.gradient[d - 1] += slope;
            result.hessian(d - 1, d - 1) += bend;
        }
        result.hessian.triangularView<Eigen::StrictlyUpper>() = result.hessian.transpose();
        return result;
    }

    Dataset shard_;
    std::shared_ptr<const Dataset> test_;
    RowWalker rows_, test_rows_;
    std::vector<double> slopes_;
    std::vector<double> norms_;  // of shard records, computed when first needed
};

}  // namespace

std::unique_ptr<Objective> make_logistic_objective(Dataset shard,
                                                   std::shared_ptr<const Dataset> test) {
    return std::make_unique<LogisticObjective>(std::move(shard), std::move(test));
}

Eigen::VectorXd logistic_probabilities(const Eigen::VectorXd& model, const Dataset& data) {
    if (model.size() != data.feature_count() + 1)
        throw DataError(fmt::format("{}: a model of {} parameters needs {} features, it has {}",
                                    data.source,
                                    model.size(),
                                    model.size() - 1,
                                    data.feature_count()));
    Eigen::VectorXd scores = data.features * model.head(data.feature_count());
    scores.array() += model[data.feature_count()];
    return (1 + (-scores.array()).exp()).inverse();
}

}  // namespace sotto
