#include "convolution.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "summed_rounding.hpp"

namespace sotto {
namespace {

constexpr Eigen::Index side = 3;
constexpr Eigen::Index taps = side * side;

/// Rows of a patch matrix: the taps of a window, each with all channels. A column per position.
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
    /// of taps inside the image: the taps of one row of a window lie side by side in both. Taps
    /// outside are never visited: patches_ starts as zeros, which stay.
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

}  // namespace sotto
