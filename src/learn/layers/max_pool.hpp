#pragma once

#include <Eigen/Dense>
#include <memory>

#include "sotto/learn/layers/image_shape.hpp"
#include "sotto/learn/layers/layer.hpp"

namespace sotto {

/// Largest of every 2 x 2 positions, channel by channel; a last odd row or column is left out.
[[nodiscard]] std::unique_ptr<Layer> make_max_pool_layer(ImageShape in);

}  // namespace sotto
