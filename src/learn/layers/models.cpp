#include "sotto/learn/layers/models.hpp"

#include "convolution.hpp"
#include "dense.hpp"
#include "group_norm.hpp"
#include "max_pool.hpp"
#include "relu.hpp"

namespace sotto {

Layers softmax_layers(Eigen::Index features, Eigen::Index classes) {
    Layers layers;
    layers.push_back(make_dense_layer(features, classes, WeightStart::zero));
    return layers;
}

Layers mlp_layers(Eigen::Index features, Eigen::Index hidden, Eigen::Index outputs) {
    Layers layers;
    layers.push_back(make_dense_layer(features, hidden, WeightStart::he));
    layers.push_back(make_relu_layer(hidden));
    layers.push_back(make_dense_layer(hidden, outputs, WeightStart::glorot));
    return layers;
}

Layers cnn_layers(ImageShape image, Eigen::Index classes) {
    constexpr Eigen::Index channels_per_group = 4;
    Layers layers;
    for (const Eigen::Index channels : {16, 32}) {
        layers.push_back(make_convolution_layer(image, channels));
        image.channels = channels;
        layers.push_back(make_relu_layer(image.size()));
        layers.push_back(make_max_pool_layer(image));
        image.rows /= 2;
        image.columns /= 2;
        layers.push_back(make_group_norm_layer(image, channels / channels_per_group));
    }
    layers.push_back(make_dense_layer(image.size(), classes, WeightStart::glorot));
    return layers;
}

Eigen::VectorXd initial_parameters(const Layers& layers, std::uint64_t seed) {
    Eigen::Index count = 0;
    for (const auto& layer : layers) count += layer->parameters();
    Eigen::VectorXd parameters(count);
    Eigen::Index first = 0;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        SeededRandom random(seed, "initial-parameters", l);
        layers[l]->initialise(random, parameters.segment(first, layers[l]->parameters()));
        first += layers[l]->parameters();
    }
    return parameters;
}

}  // namespace sotto
