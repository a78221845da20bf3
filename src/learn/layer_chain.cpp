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
    for (std::size_t l = 0; l < layers_.size(); ++l) {
        if (layers_[l]->inputs() != size)
            throw ConfigError(fmt::format("layer {} of the model has {} inputs; {} come in",
                                          l + 1,
                                          layers_[l]->inputs(),
                                          size));
        size = layers_[l]->outputs();
        first_parameter_.push_back(first_parameter_.back() + layers_[l]->parameters());
        doubles += layers_[l]->inputs() + layers_[l]->outputs();
    }
    chunk_records_ = static_cast<std::size_t>(
        std::clamp<Eigen::Index>(chunk_doubles / doubles, 4, most_chunk_records));
    values_.resize(layers_.size() + 1);
    slopes_.resize(layers_.size() + 1);
}

Eigen::MatrixXd& LayerChain::features(Eigen::Index records) {
    values_[0].resize(layers_.front()->inputs(), records);
    return values_[0];
}

const Eigen::MatrixXd& LayerChain::forward(const Eigen::Ref<const Eigen::VectorXd>& model) {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
        values_[l + 1].resize(layers_[l]->outputs(), values_[0].cols());
        layers_[l]->forward(parameters_of(l, model), values_[l], values_[l + 1]);
    }
    return values_.back();
}

Eigen::MatrixXd& LayerChain::output_slopes() {
    slopes_.back() = values_.back();
    return slopes_.back();
}

void LayerChain::backward(const Eigen::Ref<const Eigen::VectorXd>& model) {
    // Nothing before the first layer with parameters needs a derivative.
    for (std::size_t l = layers_.size() - 1; first_parameter_[l] > 0; --l) {
        slopes_[l].resize(values_[l].rows(), values_[l].cols());
        layers_[l]->backward(
            parameters_of(l, model), values_[l], values_[l + 1], slopes_[l + 1], slopes_[l]);
    }
}

void LayerChain::add_gradients(Eigen::Ref<Eigen::VectorXd> gradient) {
    for (std::size_t l = 0; l < layers_.size(); ++l)
        if (layers_[l]->parameters() > 0)
            layers_[l]->add_gradient(
                values_[l],
                slopes_[l + 1],
                gradient.segment(first_parameter_[l], layers_[l]->parameters()));
}

const Eigen::VectorXd& LayerChain::gradient_norms() {
    norms_.setZero(values_.front().cols());
    double operations = 64;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
        if (layers_[l]->parameters() == 0) continue;
        layers_[l]->add_squared_norms(values_[l], slopes_[l + 1], norms_);
        operations += static_cast<double>(layers_[l]->inputs() + layers_[l]->outputs());
    }
    const double up = 1 + operations * std::numeric_limits<double>::epsilon();
    for (double& norm : norms_) norm = std::sqrt(norm) * up;
    return norms_;
}

void LayerChain::scale_record(Eigen::Index record, double factor) {
    for (std::size_t l = 0; l < layers_.size(); ++l)
        if (layers_[l]->parameters() > 0) slopes_[l + 1].col(record) *= factor;
}

void LayerChain::drop_record(Eigen::Index record) {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
        if (layers_[l]->parameters() == 0) continue;
        // Zero times what is not a number is none either.
        slopes_[l + 1].col(record).setZero();
        values_[l].col(record).setZero();
    }
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
