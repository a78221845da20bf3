#include "learn/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/linear_algebra.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr Eigen::Index side = 3;
constexpr Eigen::Index taps = side * side;

/// A patch matrix has a column per position; its rows are the taps of a window, each with all
/// channels.
class ConvolutionLayer final : public Layer {
  public:
    ConvolutionLayer(ImageShape in, Eigen::Index channels) : in_(in), channels_(channels) {
        if (!(in.rows >= 1 && in.columns >= 1 && in.channels >= 1 && channels >= 1))
            throw ConfigError(
                fmt::format("a convolution of {} x {} x {} to {} channels: all must be at least 1",
                            in.rows,
                            in.columns,
                            in.channels,
                            channels));
        patches_.setZero(patch_size(), in.positions());
        patch_slopes_.resize(patch_size(), in.positions());
        gradient_.resize(channels, patch_size());
    }
    Eigen::Index inputs() const override { return in_.size(); }
    Eigen::Index outputs() const override { return channels_ * in_.positions(); }
    Eigen::Index parameters() const override { return channels_ * (patch_size() + 1); }

    void initialise(SeededRandom& random, Eigen::Ref<Eigen::VectorXd> parameters) const override {
        const double deviation = std::sqrt(2 / static_cast<double>(patch_size()));
        for (double& weight : parameters.head(channels_ * patch_size()))
            weight = deviation * random.normal();
        parameters.tail(channels_).setZero();
    }

    void forward(const Parameters& parameters, const ConstColumns& in, Columns out) override {
        for (Eigen::Index i = 0; i < in.cols(); ++i) {
            take_patches(in.col(i).data());
            Eigen::Map<Eigen::MatrixXd> result(out.col(i).data(), channels_, in_.positions());
            result.colwise() = parameters.tail(channels_);
            add_product(1, weights(parameters), false, patches_, false, result);
        }
    }

    void backward(const Parameters& parameters,
                  const ConstColumns&,
                  const ConstColumns&,
                  const ConstColumns& d_out,
                  Columns d_in) override {
        for (Eigen::Index i = 0; i < d_out.cols(); ++i) {
            patch_slopes_.setZero();
            add_product(1, weights(parameters), true, slopes(d_out, i), false, patch_slopes_);
            d_in.col(i).setZero();
            add_patches(d_in.col(i).data());
        }
    }

    void add_squared_norms(const ConstColumns& in,
                           const ConstColumns& d_out,
                           Eigen::Ref<Eigen::VectorXd> squares) override {
        for (Eigen::Index i = 0; i < in.cols(); ++i) {
            take_patches(in.col(i).data());
            const auto slope = slopes(d_out, i);
            gradient_.setZero();
            add_product(1, slope, false, patches_, true, gradient_);
            // Every input is in at most nine patches; the bias multiplies ones.
            const double factors = static_cast<double>(taps) * in.col(i).squaredNorm() +
                                   static_cast<double>(in_.positions());
            squares[i] += summed_norm_squared(
                gradient_.squaredNorm() + slope.rowwise().sum().squaredNorm(),
                factors * (slope.squaredNorm() + std::numeric_limits<double>::min()));
        }
    }

    void add_gradient(const ConstColumns& in,
                      const ConstColumns& d_out,
                      Eigen::Ref<Eigen::VectorXd> gradient) override {
        Eigen::Map<Eigen::MatrixXd> weight_gradient(gradient.data(), channels_, patch_size());
        for (Eigen::Index i = 0; i < in.cols(); ++i) {
            take_patches(in.col(i).data());
            add_product(1, slopes(d_out, i), false, patches_, true, weight_gradient);
            gradient.tail(channels_) += slopes(d_out, i).rowwise().sum();
        }
    }
    SumRounding sum_rounding() const override { return summed_rounding(in_.positions()); }

  private:
    [[nodiscard]] Eigen::Index patch_size() const { return taps * in_.channels; }
    [[nodiscard]] Eigen::Map<const Eigen::MatrixXd> weights(const Parameters& parameters) const {
        return {parameters.data(), channels_, patch_size()};
    }
    [[nodiscard]] Eigen::Map<const Eigen::MatrixXd> slopes(const ConstColumns& d_out,
                                                           Eigen::Index record) const {
        return {d_out.col(record).data(), channels_, in_.positions()};
    }

    /// Calls f(first value of the patch, first value of the image, number of values) for every run
    /// of taps of one window row inside the image. Taps outside are never visited: their zeros in
    /// patches_ stay.
    template <class Function>
    void for_each_run(Function&& f) const {
        const Eigen::Index depth = in_.channels;
        for (Eigen::Index y = 0; y < in_.rows; ++y)
            for (Eigen::Index x = 0; x < in_.columns; ++x) {
                const Eigen::Index patch = (y * in_.columns + x) * patch_size();
                const Eigen::Index left = std::max<Eigen::Index>(x - 1, 0);
                const Eigen::Index right = std::min(x + 1, in_.columns - 1);
                for (Eigen::Index dy = -1; dy <= 1; ++dy) {
                    if (y + dy < 0 || y + dy >= in_.rows) continue;
                    const Eigen::Index tap = (dy + 1) * side + (left - (x - 1));
                    f(patch + tap * depth,
                      ((y + dy) * in_.columns + left) * depth,
                      (right - left + 1) * depth);
                }
            }
    }
    void take_patches(const double* image) {
        double* patches = patches_.data();
        for_each_run([&](Eigen::Index patch, Eigen::Index value, Eigen::Index count) {
            std::copy_n(image + value, count, patches + patch);
        });
    }
    void add_patches(double* image) const {
        const double* patches = patch_slopes_.data();
        for_each_run([&](Eigen::Index patch, Eigen::Index value, Eigen::Index count) {
            for (Eigen::Index k = 0; k < count; ++k) image[value + k] += patches[patch + k];
        });
    }

    ImageShape in_;
    Eigen::Index channels_;
    // Of one record: 9 channels x positions; channels x 9 channels.
    Eigen::MatrixXd patches_, patch_slopes_, gradient_;
};

}  // namespace

std::unique_ptr<Layer> make_convolution_layer(ImageShape in, Eigen::Index channels) {
    return std::make_unique<ConvolutionLayer>(in, channels);
}

namespace {

class DenseLayer final : public Layer {
  public:
    DenseLayer(Eigen::Index inputs, Eigen::Index outputs, WeightStart start)
        : inputs_(inputs), outputs_(outputs), start_(start) {
        if (!(inputs >= 1 && outputs >= 1))
            throw ConfigError(fmt::format(
                "a dense layer of {} inputs and {} outputs: at least 1 of each", inputs, outputs));
    }
    Eigen::Index inputs() const override { return inputs_; }
    Eigen::Index outputs() const override { return outputs_; }
    Eigen::Index parameters() const override { return outputs_ * (inputs_ + 1); }

    void initialise(SeededRandom& random, Eigen::Ref<Eigen::VectorXd> parameters) const override {
        parameters.setZero();
        if (start_ == WeightStart::zero) return;
        const auto fan =
            static_cast<double>(start_ == WeightStart::he ? inputs_ : inputs_ + outputs_);
        const double deviation = std::sqrt(2 / fan);
        for (double& weight : parameters.head(outputs_ * inputs_))
            weight = deviation * random.normal();
    }

    void forward(const Parameters& parameters, const ConstColumns& in, Columns out) override {
        out.colwise() = parameters.tail(outputs_);
        add_product(1, weights(parameters), false, in, false, out);
    }

    void backward(const Parameters& parameters,
                  const ConstColumns&,
                  const ConstColumns&,
                  const ConstColumns& d_out,
                  Columns d_in) override {
        d_in.setZero();
        add_product(1, weights(parameters), true, d_out, false, d_in);
    }

    void add_squared_norms(const ConstColumns& in,
                           const ConstColumns& d_out,
                           Eigen::Ref<Eigen::VectorXd> squares) override {
        // The smallest normal number covers squares that underflow.
        constexpr double lost = std::numeric_limits<double>::min();
        squares.array() += (d_out.colwise().squaredNorm().array() + lost).transpose() *
                           (in.colwise().squaredNorm().array() + 1).transpose();
    }

    void add_gradient(const ConstColumns& in,
                      const ConstColumns& d_out,
                      Eigen::Ref<Eigen::VectorXd> gradient) override {
        Eigen::Map<Eigen::MatrixXd> weight_gradient(gradient.data(), outputs_, inputs_);
        add_product(1, d_out, false, in, true, weight_gradient);
        gradient.tail(outputs_) += d_out.rowwise().sum();
    }

  private:
    [[nodiscard]] Eigen::Map<const Eigen::MatrixXd> weights(const Parameters& parameters) const {
        return {parameters.data(), outputs_, inputs_};
    }

    Eigen::Index inputs_, outputs_;
    WeightStart start_;
};

}  // namespace

std::unique_ptr<Layer> make_dense_layer(Eigen::Index inputs,
                                        Eigen::Index outputs,
                                        WeightStart start) {
    return std::make_unique<DenseLayer>(inputs, outputs, start);
}

namespace {

constexpr double variance_floor = 1e-5;

class GroupNormLayer final : public Layer {
  public:
    GroupNormLayer(ImageShape shape, Eigen::Index groups) : shape_(shape), groups_(groups) {
        if (!(groups >= 1 && shape.size() >= 1 && shape.channels % groups == 0))
            throw ConfigError(fmt::format(
                "a group norm of {} groups over {} channels: the groups must be of equal size",
                groups,
                shape.channels));
        normal_.resize(shape.channels, shape.positions());
        slope_.resize(shape.channels, shape.positions());
    }
    Eigen::Index inputs() const override { return shape_.size(); }
    Eigen::Index outputs() const override { return shape_.size(); }
    Eigen::Index parameters() const override { return 2 * shape_.channels; }
    void initialise(SeededRandom&, Eigen::Ref<Eigen::VectorXd> parameters) const override {
        parameters.head(shape_.channels).setOnes();
        parameters.tail(shape_.channels).setZero();
    }

    void forward(const Parameters& parameters, const ConstColumns& in, Columns out) override {
        for (Eigen::Index i = 0; i < in.cols(); ++i) {
            normalise(in, i);
            Eigen::Map<Eigen::MatrixXd> result(
                out.col(i).data(), shape_.channels, shape_.positions());
            result = (parameters.head(shape_.channels).asDiagonal() * normal_).colwise() +
                     parameters.tail(shape_.channels);
        }
    }

    void backward(const Parameters& parameters,
                  const ConstColumns& in,
                  const ConstColumns&,
                  const ConstColumns& d_out,
                  Columns d_in) override {
        const Eigen::Index size = shape_.channels / groups_;
        const auto count = static_cast<double>(size * shape_.positions());
        for (Eigen::Index i = 0; i < in.cols(); ++i) {
            normalise(in, i);
            slope_ = parameters.head(shape_.channels).asDiagonal() * record(d_out, i);
            Eigen::Map<Eigen::MatrixXd> result(
                d_in.col(i).data(), shape_.channels, shape_.positions());
            for (Eigen::Index g = 0; g < groups_; ++g) {
                const auto normal = normal_.middleRows(g * size, size);
                const auto slope = slope_.middleRows(g * size, size);
                const double mean = slope.sum() / count;
                const double along = slope.cwiseProduct(normal).sum() / count;
                result.middleRows(g * size, size) =
                    inverse_deviations_[g] *
                    (slope.array() - mean - along * normal.array()).matrix();
            }
        }
    }

    void add_squared_norms(const ConstColumns& in,
                           const ConstColumns& d_out,
                           Eigen::Ref<Eigen::VectorXd> squares) override {
        for (Eigen::Index i = 0; i < in.cols(); ++i) {
            normalise(in, i);
            const auto slope = record(d_out, i);
            const Eigen::VectorXd scales = slope.cwiseProduct(normal_).rowwise().sum();
            const Eigen::ArrayXd slopes = slope.rowwise().squaredNorm();
            const Eigen::ArrayXd factors =
                normal_.rowwise().squaredNorm().array() + static_cast<double>(shape_.positions());
            squares[i] +=
                summed_norm_squared(scales.squaredNorm() + slope.rowwise().sum().squaredNorm(),
                                    (slopes * factors).sum());
        }
    }

    void add_gradient(const ConstColumns& in,
                      const ConstColumns& d_out,
                      Eigen::Ref<Eigen::VectorXd> gradient) override {
        for (Eigen::Index i = 0; i < in.cols(); ++i) {
            normalise(in, i);
            const auto slope = record(d_out, i);
            gradient.head(shape_.channels) += slope.cwiseProduct(normal_).rowwise().sum();
            gradient.tail(shape_.channels) += slope.rowwise().sum();
        }
    }
    SumRounding sum_rounding() const override { return summed_rounding(shape_.positions()); }

  private:
    [[nodiscard]] Eigen::Map<const Eigen::MatrixXd> record(const ConstColumns& columns,
                                                           Eigen::Index i) const {
        return {columns.col(i).data(), shape_.channels, shape_.positions()};
    }
    /// normal_ = (record - mean) / deviation, group by group.
    void normalise(const ConstColumns& in, Eigen::Index i) {
        const auto values = record(in, i);
        const Eigen::Index size = shape_.channels / groups_;
        const auto count = static_cast<double>(size * shape_.positions());
        // Means over positions first, since the rows of a group are a strided block.
        means_ = values.rowwise().sum();
        inverse_deviations_.resize(groups_);
        for (Eigen::Index g = 0; g < groups_; ++g)
            means_.segment(g * size, size)
                .setConstant(means_.segment(g * size, size).sum() / count);
        normal_ = values.colwise() - means_;
        squares_ = normal_.rowwise().squaredNorm();
        for (Eigen::Index g = 0; g < groups_; ++g) {
            inverse_deviations_[g] =
                1 / std::sqrt(squares_.segment(g * size, size).sum() / count + variance_floor);
            squares_.segment(g * size, size).setConstant(inverse_deviations_[g]);
        }
        normal_ = squares_.asDiagonal() * normal_;
    }

    ImageShape shape_;
    Eigen::Index groups_;
    Eigen::MatrixXd normal_, slope_;  // of one record, channels x positions
    Eigen::VectorXd means_, squares_, inverse_deviations_;
};

}  // namespace

std::unique_ptr<Layer> make_group_norm_layer(ImageShape shape, Eigen::Index groups) {
    return std::make_unique<GroupNormLayer>(shape, groups);
}

namespace {

class MaxPoolLayer final : public FixedLayer {
  public:
    explicit MaxPoolLayer(ImageShape in) : in_(in), out_{in.rows / 2, in.columns / 2, in.channels} {
        if (!(out_.size() >= 1))
            throw ConfigError(fmt::format(
                "a pool over 2 x 2 of an image of {} x {}: it must have two rows and columns",
                in.rows,
                in.columns));
    }
    Eigen::Index inputs() const override { return in_.size(); }
    Eigen::Index outputs() const override { return out_.size(); }

    void forward(const Parameters&, const ConstColumns& in, Columns out) override {
        for (Eigen::Index i = 0; i < in.cols(); ++i) {
            const double* image = in.col(i).data();
            double* result = out.col(i).data();
            for_each_window([&](Eigen::Index target, Eigen::Index a, Eigen::Index below) {
                const Eigen::Index b = a + in_.channels;
                for (Eigen::Index c = 0; c < in_.channels; ++c)
                    result[target + c] =
                        std::max(std::max(image[a + c], image[b + c]),
                                 std::max(image[below + a + c], image[below + b + c]));
            });
        }
    }
    void backward(const Parameters&,
                  const ConstColumns& in,
                  const ConstColumns& out,
                  const ConstColumns& d_out,
                  Columns d_in) override {
        d_in.setZero();
        for (Eigen::Index i = 0; i < in.cols(); ++i) {
            const double* image = in.col(i).data();
            const double* largest = out.col(i).data();
            const double* slope = d_out.col(i).data();
            double* __restrict result = d_in.col(i).data();
            for_each_window([&](Eigen::Index target, Eigen::Index a, Eigen::Index below) {
                const Eigen::Index b = a + in_.channels;
                // The first of equal values gets the slope. The four places always differ.
#pragma GCC ivdep
                for (Eigen::Index c = 0; c < in_.channels; ++c) {
                    const double value = largest[target + c], whole = slope[target + c];
                    const double first = image[a + c] == value ? whole : 0.0;
                    const double after_first = whole - first;
                    const double second = image[b + c] == value ? after_first : 0.0;
                    const double after_second = after_first - second;
                    const double third = image[below + a + c] == value ? after_second : 0.0;
                    result[a + c] = first;
                    result[b + c] = second;
                    result[below + a + c] = third;
                    result[below + b + c] = after_second - third;
                }
            });
        }
    }

  private:
    /// f(output position, upper left input position, distance between input rows), as places of
    /// values.
    template <class Function>
    void for_each_window(Function&& f) const {
        const Eigen::Index row = in_.columns * in_.channels;
        for (Eigen::Index y = 0; y < out_.rows; ++y)
            for (Eigen::Index x = 0; x < out_.columns; ++x)
                f((y * out_.columns + x) * out_.channels, 2 * y * row + 2 * x * in_.channels, row);
    }

    ImageShape in_, out_;
};

}  // namespace

std::unique_ptr<Layer> make_max_pool_layer(ImageShape in) {
    return std::make_unique<MaxPoolLayer>(in);
}

namespace {

class ReluLayer final : public FixedLayer {
  public:
    explicit ReluLayer(Eigen::Index size) : size_(size) {}
    Eigen::Index inputs() const override { return size_; }
    Eigen::Index outputs() const override { return size_; }

    void forward(const Parameters&, const ConstColumns& in, Columns out) override {
        out = in.cwiseMax(0.0);
    }
    void backward(const Parameters&,
                  const ConstColumns& in,
                  const ConstColumns&,
                  const ConstColumns& d_out,
                  Columns d_in) override {
        for (Eigen::Index i = 0; i < in.cols(); ++i) {
            const double* value = in.col(i).data();
            const double* slope = d_out.col(i).data();
            double* __restrict result = d_in.col(i).data();
            for (Eigen::Index k = 0; k < size_; ++k) {
                const double passed = slope[k];
                result[k] = value[k] > 0 ? passed : 0.0;
            }
        }
    }

  private:
    Eigen::Index size_;
};

}  // namespace

std::unique_ptr<Layer> make_relu_layer(Eigen::Index size) {
    return std::make_unique<ReluLayer>(size);
}

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
