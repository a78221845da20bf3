#pragma once

#include <Eigen/Dense>
#include <memory>

#include "sotto/learn/layers/layer.hpp"

namespace sotto {

/// How the weights of a layer start: zero; normal with variance 2/inputs (He, before a ReLU);
/// normal with variance 2/(inputs + outputs) (Glorot). Biases start at zero.
enum class WeightStart { zero, he, glorot };

/// out = W in + b; W is outputs x inputs, first in the parameters, column-major; then b. A record's
/// squared gradient norm is |d_out|^2 (|in|^2 + 1), and the sum over records one matrix product.
[[nodiscard]] std::unique_ptr<Layer> make_dense_layer(Eigen::Index inputs,
                                                      Eigen::Index outputs,
                                                      WeightStart start);

}  // namespace sotto
