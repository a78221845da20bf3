#include "layer_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sotto/core/error.hpp"

namespace sotto {

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
    // Nothing before the first layer with parameters needs a derivative.
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
        // Zero times what is not a number is none either.
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
    // Products and sums of n t terms, the clip factor's product, the rounding to the grid.
    double error = 0;
    for (const auto& layer : layers_) {
        if (layer->parameters() == 0) continue;
        const SumRounding rounding = layer->sum_rounding();
        const double operations = records * rounding.terms_per_record + 16;
        error = std::max(error, 1.01 * operations * 0x1p-53 * rounding.amplification);
    }
    return error;
}

}  // namespace sotto
