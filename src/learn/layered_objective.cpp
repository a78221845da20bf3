#include "learn/layered_objective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <typeinfo>
#include <utility>

#include "learn/layers.hpp"
#include "learn/record_objective.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

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

void require_values(const Dataset& data, Eigen::Index outputs) {
    if (!features_are_finite(data) || !data.labels.allFinite())
        throw DataError(fmt::format("{}: a feature or target value is not finite", data.source));
    if (data.target == Target::label)
        for (const double label : data.labels) (void)class_of(label, outputs, data);
}

/// The same for a test set, which agents of one task share: the latest is remembered, since a pass
/// over it takes longer than over a small shard.
void require_values_of_test(const std::shared_ptr<const Dataset>& test, Eigen::Index outputs) {
    static std::mutex mutex;
    static std::weak_ptr<const Dataset> latest;
    static Eigen::Index latest_outputs = 0;
    const std::scoped_lock lock(mutex);
    if (latest.lock() == test && latest_outputs == outputs) return;
    require_values(*test, outputs);
    latest = test;
    latest_outputs = outputs;
}

class LayeredObjective final : public Objective {
  public:
    LayeredObjective(Layers layers, Dataset shard, std::shared_ptr<const Dataset> test)
        : chain_(std::move(layers), shard.feature_count()),
          shard_(std::move(shard)),
          test_(std::move(test)) {
        if (!test_) test_ = std::make_shared<const Dataset>();
        if (shard_.target == Target::value && chain_.outputs() != 1)
            throw ConfigError(
                fmt::format("a model with {} outputs cannot predict one number", chain_.outputs()));
        if (shard_.records() == 0)
            throw DataError(fmt::format("{}: an agent's shard has no records", shard_.source));
        require_like_shard(shard_);
        require_values(shard_, chain_.outputs());
        if (test_->records() == 0) return;
        require_like_shard(*test_);
        require_values_of_test(test_, chain_.outputs());
    }

    Eigen::Index dimension() const override { return chain_.parameters(); }
    Eigen::Index records() const override { return shard_.records(); }
    bool record_clipping() const override { return true; }
    bool counts_shortened_records() const override { return true; }
    Eigen::VectorXd initial_model(std::uint64_t seed) const override {
        return initial_parameters(chain_.layers(), seed);
    }

    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd> gradient) override {
        gradient.setZero();
        for_each_chunk(rows, [&](std::span<const Eigen::Index> part) {
            differentiate(model, part, std::ssize(part));
            chain_.add_gradients(gradient);
        });
        if (!rows.empty()) gradient *= 1 / static_cast<double>(rows.size());
    }

    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>& model,
                              std::span<const Eigen::Index> rows,
                              double clip_norm_l2,
                              double grid_step,
                              Eigen::Ref<Eigen::VectorXd> sum) override {
        if (tiles_.empty()) prepare();
        const double clip = inner_clip(rows.size(), clip_norm_l2, grid_step);
        // Summing few records at a time reduces rounding.
        const auto together = std::min(static_cast<std::size_t>(tiles_.front()), rows.size());
        sum_clipped(model, rows.first(together), clip, sum);
        for (rows = rows.subspan(together); !rows.empty();) {
            partial_.resize(sum.size());
            const auto next = rows.first(std::min(together, rows.size()));
            sum_clipped(model, next, clip, partial_);
            sum += partial_;
            rows = rows.subspan(next.size());
        }
        // For a step that is no power of two the factor covers the rounding of the quotient, so
        // that the sum is never lengthened.
        for (double& value : sum) value = std::trunc(value / grid_step * (1 - 0x1p-51)) * grid_step;
    }

    Eigen::VectorXd gradient_norms(const Eigen::Ref<const Eigen::VectorXd>& model,
                                   std::span<const Eigen::Index> rows) override {
        if (tiles_.empty()) prepare();
        Eigen::VectorXd norms(std::ssize(rows));
        Eigen::Index done = 0;
        for_each_tile(rows, [&](std::span<const Eigen::Index> part, Eigen::Index tile) {
            differentiate(model, part, tile);
            const Eigen::Index count = std::ssize(part);
            norms.segment(done, count) = chain_.gradient_norms().head(count);
            done += count;
        });
        return norms;
    }

    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) override {
        return losses_over(shard_, model, 0, 1).front();
    }
    LossSum train_loss_of_share(const Eigen::Ref<const Eigen::VectorXd>& model,
                                Eigen::Index stride) override {
        require_evaluated_rows(0, stride);
        return losses_over(shard_, model, 0, stride).front();
    }
    Eigen::Index test_records() const override { return test_->records(); }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                      Eigen::Index first,
                      Eigen::Index stride) override {
        require_evaluated_rows(first, stride);
        return losses_over(*test_, model, first, stride).front();
    }
    std::vector<LossSum> test_losses(const Eigen::Ref<const Eigen::MatrixXd>& models) override {
        return losses_over(*test_, models, 0, 1);
    }
    Eigen::VectorXd record_losses(const Eigen::Ref<const Eigen::VectorXd>& model,
                                  const Dataset& records) override {
        require_like_shard(records);
        require_values(records, chain_.outputs());
        Eigen::VectorXd losses(records.records());
        for (Eigen::Index row = 0; row < losses.size(); ++row) {
            take(records, {&row, 1});
            losses(row) = output_loss(chain_.forward(model).col(0), records, row);
        }
        return losses;
    }
    bool shares_test(const Objective& other) const override {
        const auto* layered = dynamic_cast<const LayeredObjective*>(&other);
        return layered != nullptr && layered->test_ == test_ &&
               std::ranges::equal(
                   chain_.layers(), layered->chain_.layers(), [](const auto& a, const auto& b) {
                       const Layer &mine = *a, &theirs = *b;
                       return typeid(mine) == typeid(theirs) && mine.inputs() == theirs.inputs() &&
                              mine.outputs() == theirs.outputs();
                   });
    }

  private:
    void require_like_shard(const Dataset& data) const {
        if (data.feature_count() != shard_.feature_count())
            throw DataError(fmt::format("{} has {} features but the training data {} have {}",
                                        data.source,
                                        data.feature_count(),
                                        shard_.source,
                                        shard_.feature_count()));
        if (data.target != shard_.target)
            throw DataError(fmt::format(
                "{} and {} do not have the same kind of target", shard_.source, data.source));
    }

    template <class Function>
    void for_each_chunk(std::span<const Eigen::Index> rows, Function&& f) const {
        const std::size_t chunk = chain_.chunk_records();
        for (std::size_t first = 0; first < rows.size(); first += chunk)
            f(rows.subspan(first, std::min(chunk, rows.size() - first)));
    }

    /// f(rows, width of the tile, which is at least the number of rows).
    template <class Function>
    void for_each_tile(std::span<const Eigen::Index> rows, Function&& f) const {
        for (const Eigen::Index tile : tiles_) {
            const auto width = static_cast<std::size_t>(tile);
            for (; rows.size() >= width; rows = rows.subspan(width)) f(rows.first(width), tile);
        }
        if (!rows.empty()) f(rows, tiles_.back());
    }

    /// Features of these records, zeros in the other columns.
    void take(const Dataset& data, std::span<const Eigen::Index> rows, Eigen::Index columns) {
        auto features = chain_.features(columns);
        const auto there = static_cast<Eigen::Index>(rows.size());
        copy_features(data, rows, features.leftCols(there));
        features.rightCols(columns - there).setZero();
    }
    void take(const Dataset& data, std::span<const Eigen::Index> rows) {
        take(data, rows, std::ssize(rows));
    }

    /// Derivatives of every record's loss by everything in the chain.
    void differentiate(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index> rows,
                       Eigen::Index columns) {
        take(shard_, rows, columns);
        (void)chain_.forward(model);
        auto slopes = chain_.output_slopes();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            auto column = slopes.col(static_cast<Eigen::Index>(i));
            turn_into_slopes(column, shard_, rows[i]);
        }
        slopes.rightCols(columns - std::ssize(rows)).setZero();
        chain_.backward(model);
    }

    void prepare() {
        tiles_ = place_independent_tiles(chain_);
        // Written now, so memory use does not reveal a large batch.
        if (largest_batch() > tiles_.front()) partial_.setZero(dimension());
    }

    void sum_clipped(const Eigen::Ref<const Eigen::VectorXd>& model,
                     std::span<const Eigen::Index> rows,
                     double clip,
                     Eigen::Ref<Eigen::VectorXd> sum) {
        sum.setZero();
        for_each_tile(rows, [&](std::span<const Eigen::Index> part, Eigen::Index tile) {
            differentiate(model, part, tile);
            clip_records(clip);
            for (auto empty = std::ssize(part); empty < tile; ++empty) chain_.drop_record(empty);
            chain_.add_gradients(sum);
        });
    }

    /// C' of the header. @throws ConfigError if it would be too small.
    [[nodiscard]] double inner_clip(std::size_t rows, double clip_norm, double grid_step) const {
        // A smaller remaining part of the clip costs too much signal.
        constexpr double smallest_clip_part = 0.9;
        const auto n = static_cast<double>(largest_batch());
        require_clip_and_grid(clip_norm, grid_step, rows, largest_batch());
        const double grid = grid_step * std::sqrt(static_cast<double>(dimension()));
        const double together = std::min(n, static_cast<double>(tiles_.front()));
        const double error = chain_.sum_error(together) + 1.01 * (n / together + 1) * 0x1p-53;
        const double clip = (clip_norm - grid) / (1 + 2 * n * error);
        if (!(clip >= smallest_clip_part * clip_norm))
            throw ConfigError(fmt::format(
                "clip norm {}: with batches of up to {}, {} parameters and a grid of {} rounding "
                "leaves {:.3g} of it; at least {} must be left (use less noise: fewer rounds, a "
                "larger epsilon; a smaller model, or smaller batches)",
                clip_norm,
                largest_batch(),
                dimension(),
                grid_step,
                std::max(0.0, clip / clip_norm),
                smallest_clip_part));
        return clip * (1 - 0x1p-50);
    }

    void clip_records(double clip) {
        const Eigen::Ref<const Eigen::VectorXd> norms = chain_.gradient_norms();
        for (Eigen::Index i = 0; i < norms.size(); ++i) {
            if (norms[i] <= clip) continue;
            if (std::isfinite(norms[i])) {
                chain_.scale_record(i, clip / norms[i] * (1 - 0x1p-50));
                count_record_shortened();
            } else {
                chain_.drop_record(i);
                count_record_set_to_zero();
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
            for (std::size_t m = 0; m < sums.size(); ++m)
                add_losses(
                    chain_.forward(models.col(static_cast<Eigen::Index>(m))), data, part, sums[m]);
        });
        return sums;
    }

    static void add_losses(const LayerChain::ConstColumns& outputs,
                           const Dataset& data,
                           std::span<const Eigen::Index> rows,
                           LossSum& sum) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto out = outputs.col(static_cast<Eigen::Index>(i));
            sum.loss += output_loss(out, data, rows[i]);
            ++sum.records;
            if (sum.has_accuracy && is_hit(out, data, rows[i])) sum.correct += 1;
        }
    }

    LayerChain chain_;
    std::vector<Eigen::Index> tiles_;  // place_independent_tiles, once records are clipped
    Eigen::VectorXd partial_;          // of batches wider than the widest tile
    Dataset shard_;
    std::shared_ptr<const Dataset> test_;
};

}  // namespace

std::unique_ptr<Objective> make_layered_objective(Layers layers,
                                                  Dataset shard,
                                                  std::shared_ptr<const Dataset> test) {
    return std::make_unique<LayeredObjective>(std::move(layers), std::move(shard), std::move(test));
}

LayerChain::LayerChain(Layers layers, Eigen::Index features) : layers_(std::move(layers)) {
    constexpr Eigen::Index most_chunk_records = 128;
    constexpr Eigen::Index chunk_doubles = 1 << 19;
    if (layers_.empty()) throw ConfigError("a model needs at least one layer");
    Eigen::Index size = features;
    Eigen::Index doubles = 0;
    first_parameter_.push_back(0);
    sizes_.push_back(size);
    for (std::size_t l = 0; l < layers_.size(); ++l) {
        if (layers_[l]->inputs() != size)
            throw ConfigError(fmt::format("layer {} of the model has {} inputs; {} come in",
                                          l + 1,
                                          layers_[l]->inputs(),
                                          size));
        size = layers_[l]->outputs();
        sizes_.push_back(size);
        first_parameter_.push_back(first_parameter_.back() + layers_[l]->parameters());
        doubles += layers_[l]->inputs() + layers_[l]->outputs();
    }
    chunk_records_ = static_cast<std::size_t>(
        std::clamp<Eigen::Index>(chunk_doubles / doubles / 8 * 8, 4, most_chunk_records));
    const auto room = static_cast<Eigen::Index>(chunk_records_);
    constexpr Eigen::Index aligned_doubles = 8;
    for (const Eigen::Index rows : sizes_) {
        const Eigen::Index leading = (rows + aligned_doubles - 1) / aligned_doubles;
        values_.emplace_back(leading * aligned_doubles, room);
        slopes_.emplace_back(leading * aligned_doubles, room);
    }
    norms_.resize(room);
}

LayerChain::Columns LayerChain::features(Eigen::Index records) {
    columns_ = records;
    return values(0);
}

LayerChain::ConstColumns LayerChain::forward(const Eigen::Ref<const Eigen::VectorXd>& model) {
    for (std::size_t l = 0; l < layers_.size(); ++l)
        layers_[l]->forward(parameters_of(l, model), values(l), values(l + 1));
    return values(layers_.size());
}

LayerChain::Columns LayerChain::output_slopes() {
    Columns result = slopes(layers_.size());
    result = values(layers_.size());
    return result;
}

void LayerChain::backward(const Eigen::Ref<const Eigen::VectorXd>& model) {
    // Layers before the first one with parameters need no derivative.
    for (std::size_t l = layers_.size() - 1; first_parameter_[l] > 0; --l)
        layers_[l]->backward(
            parameters_of(l, model), values(l), values(l + 1), slopes(l + 1), slopes(l));
}

void LayerChain::add_gradients(Eigen::Ref<Eigen::VectorXd> gradient) {
    for (std::size_t l = 0; l < layers_.size(); ++l)
        if (layers_[l]->parameters() > 0)
            layers_[l]->add_gradient(
                values(l),
                slopes(l + 1),
                gradient.segment(first_parameter_[l], layers_[l]->parameters()));
}

Eigen::Ref<const Eigen::VectorXd> LayerChain::gradient_norms() {
    auto norms = norms_.head(columns_);
    norms.setZero();
    double operations = 64;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
        if (layers_[l]->parameters() == 0) continue;
        layers_[l]->add_squared_norms(values(l), slopes(l + 1), norms);
        operations += static_cast<double>(layers_[l]->inputs() + layers_[l]->outputs());
    }
    const double up = 1 + operations * std::numeric_limits<double>::epsilon();
    for (double& norm : norms) norm = std::sqrt(norm) * up;
    return norms;
}

void LayerChain::scale_record(Eigen::Index record, double factor) {
    for (std::size_t l = 0; l < layers_.size(); ++l)
        if (layers_[l]->parameters() > 0) slopes(l + 1).col(record) *= factor;
}

void LayerChain::drop_record(Eigen::Index record) {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
        if (layers_[l]->parameters() == 0) continue;
        // Zero times NaN or infinity is not zero.
        slopes(l + 1).col(record).setZero();
        values(l).col(record).setZero();
    }
}

std::optional<Eigen::VectorXd> LayerChain::same_in_every_place(
    Eigen::Index records,
    const Eigen::Ref<const Eigen::VectorXd>& model,
    const Eigen::Ref<const Eigen::VectorXd>& features_of_record,
    const Eigen::Ref<const Eigen::VectorXd>& slopes_of_record) {
    features(records).colwise() = Eigen::VectorXd(features_of_record);
    (void)forward(model);
    output_slopes().colwise() = Eigen::VectorXd(slopes_of_record);
    backward(model);
    std::vector<double> first;
    bool same = true;
    const auto compare = [&](const ConstColumns& columns) {
        for (Eigen::Index row = 0; row < columns.rows(); ++row) {
            same = same && (columns.row(row).array() == columns(row, 0)).all();
            first.push_back(columns(row, 0));
        }
    };
    for (std::size_t l = 0; l < layers_.size(); ++l) {
        compare(values(l + 1));
        if (layers_[l]->parameters() > 0) compare(slopes(l + 1));
    }
    compare(gradient_norms().transpose());
    if (!same) return std::nullopt;
    return Eigen::Map<const Eigen::VectorXd>(first.data(), std::ssize(first));
}

double LayerChain::sum_error(double records) const {
    // Products and sums of n t terms, the clip factor, rounding to the grid.
    double error = 0;
    for (const auto& layer : layers_) {
        if (layer->parameters() == 0) continue;
        const SumRounding rounding = layer->sum_rounding();
        const double operations = records * rounding.terms_per_record + 16;
        error = std::max(error, 1.01 * operations * 0x1p-53 * rounding.amplification);
    }
    return error;
}

Eigen::Index class_of(double label, Eigen::Index classes, const Dataset& data) {
    if (label == -1) return 0;
    if (!(label >= 0 && label < static_cast<double>(classes) && label == std::floor(label)))
        throw DataError(fmt::format(
            "{}: label {} is not a class (allowed: whole numbers from 0 to {}, and -1 for 0)",
            data.source,
            label,
            classes - 1));
    return static_cast<Eigen::Index>(label);
}

double output_loss(const Eigen::Ref<const Eigen::VectorXd>& out,
                   const Dataset& data,
                   Eigen::Index row) {
    if (data.target == Target::value) {
        const double error = out[0] - data.labels[row];
        return error * error;
    }
    const double largest = out.maxCoeff();
    return largest - out[class_of(data.labels[row], out.size(), data)] +
           std::log((out.array() - largest).exp().sum());
}

void turn_into_slopes(Eigen::Ref<Eigen::VectorXd> out, const Dataset& data, Eigen::Index row) {
    if (data.target == Target::value) {
        out[0] = 2 * (out[0] - data.labels[row]);
        return;
    }
    out = (out.array() - out.maxCoeff()).exp();
    out /= out.sum();
    out[class_of(data.labels[row], out.size(), data)] -= 1;
}

bool is_hit(const Eigen::Ref<const Eigen::VectorXd>& out, const Dataset& data, Eigen::Index row) {
    Eigen::Index best = 0;
    out.maxCoeff(&best);
    return best == class_of(data.labels[row], out.size(), data);
}

}  // namespace sotto
