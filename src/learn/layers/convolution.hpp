#pragma once

#include <Eigen/Dense>
#include <memory>

#include "sotto/learn/layers/image_shape.hpp"
#include "sotto/learn/layers/layer.hpp"

namespace sotto {

/// 3 x 3 windows, zeros outside the image, so that the output has as many positions: out(position)
/// = W patch(position) + b; W is channels x (9 in.channels), first in the parameters, then b; He
/// start. One small product per record: patches of one record at a time are formed, in memory that
/// is used again. A record's gradient D P^T is formed for its norm, in memory that is used again:
/// channels x 9 in.channels x positions, less than the Gram form's positions^2 x channels.
[[nodiscard]] std::unique_ptr<Layer> make_convolution_layer(ImageShape in, Eigen::Index channels);

}  // namespace sotto
