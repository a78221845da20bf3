#pragma once

#include <Eigen/Dense>
#include <cstdint>

#include "sotto/learn/layers/image_shape.hpp"
#include "sotto/learn/layers/layer.hpp"

namespace sotto {

/// Multinomial logistic regression: one dense layer, started at zero.
[[nodiscard]] Layers softmax_layers(Eigen::Index features, Eigen::Index classes);
/// One hidden layer with ReLU. @param outputs classes, or 1 for a number to predict.
[[nodiscard]] Layers mlp_layers(Eigen::Index features, Eigen::Index hidden, Eigen::Index outputs);

/// Twice {convolution, ReLU, max pool, group norm of groups of four channels}, with 16 and 32
/// channels, then a dense layer. @throws ConfigError for images below 4 x 4.
[[nodiscard]] Layers cnn_layers(ImageShape image, Eigen::Index classes);

/// Start values of all layers' parameters, one after the other; deterministic in the seed.
[[nodiscard]] Eigen::VectorXd initial_parameters(const Layers& layers, std::uint64_t seed);

}  // namespace sotto
