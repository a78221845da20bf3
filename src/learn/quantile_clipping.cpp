#include "learn/quantile_clipping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/value_range.hpp"
#include "learn/record_objective.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

/// C stays within this factor of C_0.
const double largest_log_ratio = std::log(1e13);

/// Covers the rounding of the products that follow, so nothing is lengthened.
constexpr double margin = 1 - 0x1p-40;

double larger_part(double quantile) { return std::max(quantile, 1 - quantile); }

double truncated(double value, double grid_step) {
    return std::trunc(value / grid_step * margin) * grid_step;
}

/// The whole number k with `value` = k step up to rounding; below 2^52.
double whole_steps(double value, double step) {
    const double near = std::nearbyint(value / step);
    if (std::abs(near) < 0x1p50) return near;
    // The quotient may be a step off; the remainder corrects it.
    return near + std::nearbyint(std::fma(-near, step, value) / step);
}

class QuantileClipping final : public Objective {
  public:
    QuantileClipping(std::unique_ptr<Objective> inner, const QuantileClip& clip)
        : inner_(std::move(inner)), clip_(clip) {
        if (inner_->record_clipping() && !inner_->counts_shortened_records())
            throw ConfigError(
                "clip-norm: learnt is not possible with this task, which does not count the records "
                "that it shortens (allowed: a number)");
    }

    Eigen::Index dimension() const override { return inner_->dimension() + 1; }
    Eigen::Index model_parameters() const override { return inner_->model_parameters(); }
    Eigen::Index records() const override { return inner_->records(); }
    bool record_clipping() const override { return inner_->record_clipping(); }
    bool counts_shortened_records() const override { return inner_->counts_shortened_records(); }

    Eigen::VectorXd initial_model(std::uint64_t seed) const override {
        Eigen::VectorXd model(dimension());
        model << inner_->initial_model(seed), 0;
        return model;
    }

    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd> gradient) override {
        auto own = gradient.head(inner_->dimension());
        inner_->mean_gradient(of_inner(model), rows, own);
        const auto norm = ranged_norm(own, false);
        if (!norm) {  // clipping to the grid makes it zero and counts it
            gradient.setConstant(std::numeric_limits<double>::quiet_NaN());
            return;
        }
        const double clip = clip_.clip_norm(model[model.size() - 1]);
        const double bound = clip_.gradient_bound(clip_.start) * margin;
        const bool longer = norm->longer_than(clip);
        own *= longer ? bound / norm->value : std::ldexp(bound / clip, norm->exponent);
        gradient[own.size()] =
            margin * (longer ? -clip_.beyond(clip_.start) : clip_.within(clip_.start));
    }

    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>& model,
                              std::span<const Eigen::Index> rows,
                              double clip_norm_l2,
                              double grid_step,
                              Eigen::Ref<Eigen::VectorXd> sum) override {
        require_clip_and_grid(clip_norm_l2, grid_step, rows.size(), largest_batch());
        const double bound = clip_.gradient_bound(clip_norm_l2) * margin;
        const double clip = clip_.clip_norm(model[model.size() - 1]);
        const double inner_step = grid_step / bound * clip;
        require_whole_steps(bound / grid_step);
        inner_->set_largest_batch(largest_batch());
        const std::int64_t zero_before = inner_->records_set_to_zero();
        const std::int64_t shortened_before = inner_->records_shortened();
        auto own = sum.head(inner_->dimension());
        inner_->clipped_gradient_sum(of_inner(model), rows, clip, inner_step, own);
        for (double& value : own) value = whole_steps(value, inner_step) * grid_step;
        const std::int64_t zero = inner_->records_set_to_zero() - zero_before;
        const std::int64_t shortened = inner_->records_shortened() - shortened_before;
        const auto within = static_cast<double>(std::ssize(rows) - zero - shortened);
        sum[own.size()] =
            within * truncated(clip_.within(clip_norm_l2), grid_step) -
            static_cast<double>(shortened) * truncated(clip_.beyond(clip_norm_l2), grid_step);
        for (std::int64_t i = 0; i < zero; ++i) count_record_set_to_zero();
        for (std::int64_t i = 0; i < shortened; ++i) count_record_shortened();
    }

    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) override {
        return inner_->train_loss(of_inner(model));
    }
    LossSum train_loss_of_share(const Eigen::Ref<const Eigen::VectorXd>& model,
                                Eigen::Index stride) override {
        return inner_->train_loss_of_share(of_inner(model), stride);
    }
    Eigen::Index test_records() const override { return inner_->test_records(); }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                      Eigen::Index first,
                      Eigen::Index stride) override {
        return inner_->test_loss(of_inner(model), first, stride);
    }
    std::vector<LossSum> test_losses(const Eigen::Ref<const Eigen::MatrixXd>& models) override {
        return inner_->test_losses(models.topRows(inner_->dimension()));
    }
    Eigen::VectorXd record_losses(const Eigen::Ref<const Eigen::VectorXd>& model,
                                  const Dataset& records) override {
        return inner_->record_losses(of_inner(model), records);
    }
    bool shares_test(const Objective& other) const override {
        const auto* same = dynamic_cast<const QuantileClipping*>(&other);
        return same != nullptr && inner_->shares_test(*same->inner_);
    }
    std::optional<Curvature> curvature_sum(
        const Eigen::Ref<const Eigen::VectorXd>& model) override {
        const auto inner = inner_->curvature_sum(of_inner(model));
        if (!inner) return std::nullopt;
        const Eigen::Index d = inner_->dimension();
        Curvature result{inner->loss,
                         Eigen::VectorXd::Zero(dimension()),
                         Eigen::MatrixXd::Zero(dimension(), dimension())};
        result.gradient.head(d) = inner->gradient;
        result.hessian.topLeftCorner(d, d) = inner->hessian;
        return result;
    }

  private:
    [[nodiscard]] Eigen::Ref<const Eigen::VectorXd> of_inner(
        const Eigen::Ref<const Eigen::VectorXd>& model) const {
        return model.head(inner_->dimension());
    }

    /// @throws ConfigError unless whole_steps is exact for sums of gradients of this many steps.
    void require_whole_steps(double steps) const {
        constexpr double most = 0x1p52;
        if (!(steps * static_cast<double>(largest_batch()) < most))
            throw ConfigError(fmt::format(
                "clip-norm: learnt needs sums of {} contributions of up to {:.3g} grid steps to stay "
                "below {:.3g} steps (use a plan with more noise, or smaller batches)",
                largest_batch(),
                steps,
                most));
    }

    std::unique_ptr<Objective> inner_;
    QuantileClip clip_;
};

}  // namespace

double QuantileClip::gradient_bound(double bound) const { return std::sqrt(1 - share) * bound; }

double QuantileClip::within(double bound) const {
    return std::sqrt(share) * bound * ((1 - quantile) / larger_part(quantile));
}

double QuantileClip::beyond(double bound) const {
    return std::sqrt(share) * bound * (quantile / larger_part(quantile));
}

double QuantileClip::clip_norm(double coordinate) const {
    return start * std::exp(std::clamp(gain * coordinate, -largest_log_ratio, largest_log_ratio));
}

double gain_of(const QuantileClip& clip, double rate, double step_size, double momentum) {
    return rate * larger_part(clip.quantile) / (std::sqrt(clip.share) * clip.start) *
           ((1 - momentum) / step_size);
}

std::unique_ptr<Objective> make_quantile_clipping(std::unique_ptr<Objective> inner,
                                                  const QuantileClip& clip) {
    return std::make_unique<QuantileClipping>(std::move(inner), clip);
}

}  // namespace sotto
