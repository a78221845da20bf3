#include "sotto/learn/layered_objective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <typeinfo>

#include "sotto/core/error.hpp"
#include "sotto/learn/record_objective.hpp"

namespace sotto {
namespace {

/// Records go through the layers together, as many as keep values and slopes of all layers in a few
/// mebibytes: more would leave the caches, fewer make products narrow.
constexpr Eigen::Index most_chunk_records = 128;
constexpr Eigen::Index chunk_doubles = 1 << 19;
/// A clip shrunk by more than this part costs more signal than the user asked for.
constexpr double smallest_clip_part = 0.9;

bool features_are_finite(const Dataset& data) {
    if (!data.dense) {
        const double* values = data.features.valuePtr();
        return std::all_of(values, values + data.features.nonZeros(), [](double value) {
            return std::isfinite(value);
        });
    }
    const auto* reals = std::get_if<RealRows>(&*data.dense);
    return reals == nullptr || reals->allFinite();
}

class LayeredObjective final : public Objective {
  public:
    LayeredObjective(Layers layers, Dataset shard, std::shared_ptr<const Dataset> test)
        : layers_(std::move(layers)), shard_(std::move(shard)), test_(std::move(test)) {
        if (!test_) test_ = std::make_shared<const Dataset>();
        require_fitting_layers();
        if (shard_.records() == 0)
            throw DataError(fmt::format("{}: an agent's shard has no records", shard_.source));
        require_usable(shard_);
        if (test_->records() > 0) require_usable(*test_);
    }

    Eigen::Index dimension() const override { return first_parameter_.back(); }
    Eigen::Index records() const override { return shard_.records(); }
    bool record_clipping() const override { return true; }
    Eigen::VectorXd initial_model(std::uint64_t seed) const override {
        return initial_parameters(layers_, seed);
    }

    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd> gradient) override {
        gradient.setZero();
        for_each_chunk(rows, [&](std::span<const Eigen::Index> part) {
            differentiate(model, part);
            add_gradients(gradient);
        });
        if (!rows.empty()) gradient *= 1 / static_cast<double>(rows.size());
    }

    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>& model,
                              std::span<const Eigen::Index> rows,
                              double clip_norm_l2,
                              double grid_step,
                              Eigen::Ref<Eigen::VectorXd> sum) override {
        const double clip = inner_clip(rows.size(), clip_norm_l2, grid_step);
        sum.setZero();
        for_each_chunk(rows, [&](std::span<const Eigen::Index> part) {
            differentiate(model, part);
            clip_records(clip);
            add_gradients(sum);
        });
        // The factor makes up for the rounding of the quotient where the step is no power of two:
        // the sum must not be lengthened.
        for (double& value : sum) value = std::trunc(value / grid_step * (1 - 0x1p-51)) * grid_step;
    }

    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) override {
        return losses_over(shard_, model, 0, 1).front();
    }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                      Eigen::Index first,
                      Eigen::Index stride) override {
        require_test_rows(first, stride);
        return losses_over(*test_, model, first, stride).front();
    }
    std::vector<LossSum> test_losses(const Eigen::Ref<const Eigen::MatrixXd>& models) override {
        return losses_over(*test_, models, 0, 1);
    }
    Eigen::VectorXd record_losses(const Eigen::Ref<const Eigen::VectorXd>& model,
                                  const Dataset& records) override {
        require_usable(records);
        Eigen::VectorXd losses(records.records());
        for (Eigen::Index row = 0; row < losses.size(); ++row) {
            take(records, {&row, 1});
            evaluate(model);
            losses(row) = loss_of(0, records, row);
        }
        return losses;
    }
    bool shares_test(const Objective& other) const override {
        const auto* layered = dynamic_cast<const LayeredObjective*>(&other);
        return layered != nullptr && layered->test_ == test_ &&
               std::ranges::equal(layers_, layered->layers_, [](const auto& a, const auto& b) {
                   const Layer &mine = *a, &theirs = *b;
                   return typeid(mine) == typeid(theirs) && mine.inputs() == theirs.inputs() &&
                          mine.outputs() == theirs.outputs();
               });
    }

  private:
    void require_fitting_layers() {
        if (layers_.empty()) throw ConfigError("a model needs at least one layer");
        Eigen::Index size = shard_.feature_count();
        first_parameter_.push_back(0);
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            if (layers_[l]->inputs() != size)
                throw ConfigError(fmt::format("layer {} of the model has {} inputs; {} come in",
                                              l + 1,
                                              layers_[l]->inputs(),
                                              size));
            size = layers_[l]->outputs();
            first_parameter_.push_back(first_parameter_.back() + layers_[l]->parameters());
        }
        if (shard_.target == Target::value && size != 1)
            throw ConfigError(
                fmt::format("a model with {} outputs cannot predict one number", size));
        outputs_ = size;
        Eigen::Index doubles = 0;
        for (const auto& layer : layers_) doubles += layer->inputs() + layer->outputs();
        chunk_records_ = static_cast<std::size_t>(
            std::clamp<Eigen::Index>(chunk_doubles / doubles, 4, most_chunk_records));
        values_.resize(layers_.size() + 1);
        slopes_.resize(layers_.size() + 1);
    }

    void require_usable(const Dataset& data) const {
        if (data.feature_count() != layers_.front()->inputs())
            throw DataError(fmt::format("{} has {} features but the training data {} have {}",
                                        data.source,
                                        data.feature_count(),
                                        shard_.source,
                                        layers_.front()->inputs()));
        if (data.target != shard_.target)
            throw DataError(fmt::format(
                "{} and {} do not have the same kind of target", shard_.source, data.source));
        if (!features_are_finite(data) || !data.labels.allFinite())
            throw DataError(
                fmt::format("{}: a feature or target value is not finite", data.source));
        if (data.target == Target::label)
            for (const double label : data.labels) (void)class_of(label, outputs_, data);
    }

    template <class Function>
    void for_each_chunk(std::span<const Eigen::Index> rows, Function&& f) const {
        for (std::size_t first = 0; first < rows.size(); first += chunk_records_)
            f(rows.subspan(first, std::min(chunk_records_, rows.size() - first)));
    }

    [[nodiscard]] auto parameters_of(std::size_t layer,
                                     const Eigen::Ref<const Eigen::VectorXd>& model) const {
        return model.segment(first_parameter_[layer], layers_[layer]->parameters());
    }

    /// values_[0] = the records' features.
    void take(const Dataset& data, std::span<const Eigen::Index> rows) {
        values_[0].resize(data.feature_count(), static_cast<Eigen::Index>(rows.size()));
        copy_features(data, rows, values_[0]);
    }

    /// values_[l] = what comes into layer l, of the records taken; values_.back() = the model's
    /// outputs.
    void evaluate(const Eigen::Ref<const Eigen::VectorXd>& model) {
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            values_[l + 1].resize(layers_[l]->outputs(), values_[0].cols());
            layers_[l]->forward(parameters_of(l, model), values_[l], values_[l + 1]);
        }
    }

    /// Loss of the record in column `column` of the outputs. Cross-entropy without overflow.
    [[nodiscard]] double loss_of(Eigen::Index column, const Dataset& data, Eigen::Index row) const {
        const auto out = values_.back().col(column);
        if (data.target == Target::value) {
            const double error = out[0] - data.labels[row];
            return error * error;
        }
        const double largest = out.maxCoeff();
        return largest - out[class_of(data.labels[row], outputs_, data)] +
               std::log((out.array() - largest).exp().sum());
    }

    /// slopes_[l] = derivative of every record's loss by what leaves layer l-1 (comes into l).
    void differentiate(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index> rows) {
        take(shard_, rows);
        evaluate(model);
        slopes_.back() = values_.back();
        for (Eigen::Index i = 0; i < slopes_.back().cols(); ++i) {
            const Eigen::Index row = rows[static_cast<std::size_t>(i)];
            auto slope = slopes_.back().col(i);
            if (shard_.target == Target::value) {
                slope[0] = 2 * (slope[0] - shard_.labels[row]);
                continue;
            }
            slope = (slope.array() - slope.maxCoeff()).exp();
            slope /= slope.sum();
            slope[class_of(shard_.labels[row], outputs_, shard_)] -= 1;
        }
        // Nothing before the first layer with parameters needs a derivative.
        for (std::size_t l = layers_.size() - 1; first_parameter_[l] > 0; --l) {
            slopes_[l].resize(values_[l].rows(), values_[l].cols());
            layers_[l]->backward(
                parameters_of(l, model), values_[l], values_[l + 1], slopes_[l + 1], slopes_[l]);
        }
    }

    void add_gradients(Eigen::Ref<Eigen::VectorXd> gradient) {
        for (std::size_t l = 0; l < layers_.size(); ++l)
            if (layers_[l]->parameters() > 0)
                layers_[l]->add_gradient(
                    values_[l],
                    slopes_[l + 1],
                    gradient.segment(first_parameter_[l], layers_[l]->parameters()));
    }

    /// C' of the header. @throws ConfigError if clip or grid cannot be kept.
    [[nodiscard]] double inner_clip(std::size_t records, double clip_norm, double grid_step) const {
        const auto n = static_cast<double>(records);
        require_clip_and_grid(clip_norm, grid_step, records);
        // Products and sums of n t terms, the clip factor's product, the rounding to the grid.
        double error = 0;
        for (const auto& layer : layers_) {
            if (layer->parameters() == 0) continue;
            const SumRounding rounding = layer->sum_rounding();
            const double operations = n * rounding.terms_per_record + 16;
            error = std::max(error, 1.01 * operations * 0x1p-53 * rounding.amplification);
        }
        const double grid = grid_step * std::sqrt(static_cast<double>(dimension()));
        const double clip = (clip_norm - grid) / (1 + 2 * n * error);
        if (!(clip >= smallest_clip_part * clip_norm))
            throw ConfigError(fmt::format(
                "clip norm {}: with batches of {}, {} parameters and a grid of {} rounding leaves "
                "{:.3g} of it; at least {} must be left (use less noise: fewer rounds, a larger "
                "epsilon; a smaller model, or smaller batches)",
                clip_norm,
                records,
                dimension(),
                grid_step,
                std::max(0.0, clip / clip_norm),
                smallest_clip_part));
        return clip * (1 - 0x1p-50);
    }

    /// Scales every record's slopes so that the norm of its gradient is at most `clip`.
    void clip_records(double clip) {
        const Eigen::Index count = values_.front().cols();
        squares_.setZero(count);
        double operations = 64;
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            if (layers_[l]->parameters() == 0) continue;
            layers_[l]->add_squared_norms(values_[l], slopes_[l + 1], squares_);
            operations += static_cast<double>(layers_[l]->inputs() + layers_[l]->outputs());
        }
        const double up = 1 + operations * std::numeric_limits<double>::epsilon();
        for (Eigen::Index i = 0; i < count; ++i) {
            const double norm = std::sqrt(squares_[i]) * up;
            if (norm <= clip) continue;
            const bool finite = std::isfinite(norm);
            const double factor = clip / norm * (1 - 0x1p-50);
            for (std::size_t l = 0; l < layers_.size(); ++l) {
                if (layers_[l]->parameters() == 0) continue;
                if (finite) {
                    slopes_[l + 1].col(i) *= factor;
                } else {
                    // Zero times what is not a number is none either.
                    slopes_[l + 1].col(i).setZero();
                    values_[l].col(i).setZero();
                }
            }
        }
    }

    /// Of every column of `models`.
    std::vector<LossSum> losses_over(const Dataset& data,
                                     const Eigen::Ref<const Eigen::MatrixXd>& models,
                                     Eigen::Index first,
                                     Eigen::Index stride) {
        std::vector<LossSum> sums(static_cast<std::size_t>(models.cols()));
        for (LossSum& sum : sums) sum.has_accuracy = data.target == Target::label;
        std::vector<Eigen::Index> rows;
        for (Eigen::Index row = first; row < data.records(); row += stride) rows.push_back(row);
        for_each_chunk(rows, [&](std::span<const Eigen::Index> part) {
            take(data, part);
            for (std::size_t m = 0; m < sums.size(); ++m) {
                evaluate(models.col(static_cast<Eigen::Index>(m)));
                add_losses(data, part, sums[m]);
            }
        });
        return sums;
    }

    /// Of the records evaluated last.
    void add_losses(const Dataset& data, std::span<const Eigen::Index> rows, LossSum& sum) const {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto column = static_cast<Eigen::Index>(i);
            sum.loss += loss_of(column, data, rows[i]);
            ++sum.records;
            if (!sum.has_accuracy) continue;
            Eigen::Index best = 0;
            values_.back().col(column).maxCoeff(&best);
            if (best == class_of(data.labels[rows[i]], outputs_, data)) sum.correct += 1;
        }
    }

    Layers layers_;
    std::vector<Eigen::Index> first_parameter_;  // of every layer; then their number
    Eigen::Index outputs_ = 0;
    std::size_t chunk_records_ = 1;
    Dataset shard_;
    std::shared_ptr<const Dataset> test_;
    std::vector<Eigen::MatrixXd> values_, slopes_;  // of one chunk; a record in a column
    Eigen::VectorXd squares_;                       // squared gradient norm of every record of it
};

}  // namespace

Eigen::Index class_of(double label, Eigen::Index classes, const Dataset& data) {
    if (label == -1) return 0;
    if (!(label >= 0 && label < static_cast<double>(classes) && label == std::floor(label)))
        throw DataError(fmt::format(
            "{}: label {} is no class (allowed: whole numbers from 0 to {}, and -1 for 0)",
            data.source,
            label,
            classes - 1));
    return static_cast<Eigen::Index>(label);
}

std::unique_ptr<Objective> make_layered_objective(Layers layers,
                                                  Dataset shard,
                                                  std::shared_ptr<const Dataset> test) {
    return std::make_unique<LayeredObjective>(std::move(layers), std::move(shard), std::move(test));
}

}  // namespace sotto
