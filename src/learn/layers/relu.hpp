#pragma once

#include <Eigen/Dense>
#include <memory>

#include "sotto/learn/layers/layer.hpp"

namespace sotto {

/// out = max(in, 0).
[[nodiscard]] std::unique_ptr<Layer> make_relu_layer(Eigen::Index size);

}  // namespace sotto
