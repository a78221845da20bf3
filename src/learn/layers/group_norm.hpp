#pragma once

#include <Eigen/Dense>
#include <memory>

#include "sotto/learn/layers/image_shape.hpp"
#include "sotto/learn/layers/layer.hpp"

namespace sotto {

/// Channels in groups of equal size: out = scale (in - mean) / sqrt(variance + 1e-5) + shift, mean
/// and variance over a record's group, scale and shift per channel (parameters, in this order;
/// start 1 and 0). Nothing is shared between records.
[[nodiscard]] std::unique_ptr<Layer> make_group_norm_layer(ImageShape shape, Eigen::Index groups);

}  // namespace sotto
