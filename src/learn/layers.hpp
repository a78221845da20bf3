#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/seeded_random.hpp"

namespace sotto {

/// A record as an image: positions row by row, the channels of a position side by side.
struct ImageShape {
    Eigen::Index rows = 0, columns = 0, channels = 1;
    [[nodiscard]] Eigen::Index positions() const { return rows * columns; }
    [[nodiscard]] Eigen::Index size() const { return rows * columns * channels; }
};

/// How the sum of per-record gradients is rounded. Each parameter's sum adds at most
/// `terms_per_record` products per record; the norm of their absolute values over the layer's
/// parameters is at most `amplification` times the norm of add_squared_norms.
struct SumRounding {
    double terms_per_record = 1;
    double amplification = 1;
};

/// One differentiable step of a model. Matrices have one record per column. A layer has scratch
/// memory, so it belongs to one model of one agent. A record's results depend on the parameters,
/// the record, and the number and place of records in the matrix, never on the values of other
/// records.
class Layer {
  public:
    using Columns = Eigen::Ref<Eigen::MatrixXd>;
    using ConstColumns = Eigen::Ref<const Eigen::MatrixXd>;
    using Parameters = Eigen::Ref<const Eigen::VectorXd>;

    virtual ~Layer() = default;
    [[nodiscard]] virtual Eigen::Index inputs() const = 0;      ///< rows of `in`
    [[nodiscard]] virtual Eigen::Index outputs() const = 0;     ///< rows of `out`
    [[nodiscard]] virtual Eigen::Index parameters() const = 0;  ///< may be 0
    /// Start values. @param parameters overwritten.
    virtual void initialise(SeededRandom& random, Eigen::Ref<Eigen::VectorXd> parameters) const = 0;

    /// out = f(in).
    virtual void forward(const Parameters& parameters, const ConstColumns& in, Columns out) = 0;
    /// d_in = (df/din)^T d_out, record by record. @param out f(in).
    virtual void backward(const Parameters& parameters,
                          const ConstColumns& in,
                          const ConstColumns& out,
                          const ConstColumns& d_out,
                          Columns d_in) = 0;

    /// squares[i] += an upper bound of the squared norm of record i's gradient by the parameters,
    /// up to the rounding of as many operations as a record has inputs and outputs. Keeps no
    /// record's gradient. @param squares one per record.
    virtual void add_squared_norms(const ConstColumns& in,
                                   const ConstColumns& d_out,
                                   Eigen::Ref<Eigen::VectorXd> squares) = 0;
    /// gradient += sum of the records' gradients by the parameters; linear in d_out.
    virtual void add_gradient(const ConstColumns& in,
                              const ConstColumns& d_out,
                              Eigen::Ref<Eigen::VectorXd> gradient) = 0;
    [[nodiscard]] virtual SumRounding sum_rounding() const { return {}; }
};

/// From input to output; sizes fit.
using Layers = std::vector<std::unique_ptr<Layer>>;

/// 3 x 3 windows with zero padding: out(position) = W patch(position) + b; parameters are W,
/// channels x (9 in.channels), then b; He start. One small product per record. A record's gradient
/// D P^T is formed for its norm, in reused memory: channels x 9 in.channels x positions operations,
/// fewer than the Gram form's positions^2 x channels.
[[nodiscard]] std::unique_ptr<Layer> make_convolution_layer(ImageShape in, Eigen::Index channels);

/// Start of a layer's weights: zero; normal with variance 2/inputs (He, before a ReLU); normal with
/// variance 2/(inputs + outputs) (Glorot). Biases start at zero.
enum class WeightStart { zero, he, glorot };

/// out = W in + b; parameters are W, outputs x inputs, column-major, then b. A record's squared
/// gradient norm is |d_out|^2 (|in|^2 + 1); the sum over records is one matrix product.
[[nodiscard]] std::unique_ptr<Layer> make_dense_layer(Eigen::Index inputs,
                                                      Eigen::Index outputs,
                                                      WeightStart start);

/// Group normalisation: out = scale (in - mean) / sqrt(variance + 1e-5) + shift, mean and variance
/// over a group of a record's channels; parameters are scale and shift per channel, which start at
/// 1 and 0.
[[nodiscard]] std::unique_ptr<Layer> make_group_norm_layer(ImageShape shape, Eigen::Index groups);

/// Maximum of every 2 x 2 positions, per channel; a last odd row or column is ignored.
[[nodiscard]] std::unique_ptr<Layer> make_max_pool_layer(ImageShape in);

/// out = max(in, 0).
[[nodiscard]] std::unique_ptr<Layer> make_relu_layer(Eigen::Index size);

/// Multinomial logistic regression: one dense layer, started at zero.
[[nodiscard]] Layers softmax_layers(Eigen::Index features, Eigen::Index classes);
/// One hidden layer with ReLU. @param outputs classes, or 1 for a number to predict.
[[nodiscard]] Layers mlp_layers(Eigen::Index features, Eigen::Index hidden, Eigen::Index outputs);

/// Two blocks of {convolution, ReLU, max pool, group norm of groups of four channels}, with 16 and
/// 32 channels, then a dense layer. @throws ConfigError for images below 4 x 4.
[[nodiscard]] Layers cnn_layers(ImageShape image, Eigen::Index classes);

/// Start values of all layers' parameters in order; deterministic in the seed.
[[nodiscard]] Eigen::VectorXd initial_parameters(const Layers& layers, std::uint64_t seed);

/// A layer without parameters.
class FixedLayer : public Layer {
  public:
    Eigen::Index parameters() const final { return 0; }
    void initialise(SeededRandom&, Eigen::Ref<Eigen::VectorXd>) const final {}
    void add_squared_norms(const ConstColumns&,
                           const ConstColumns&,
                           Eigen::Ref<Eigen::VectorXd>) final {}
    void add_gradient(const ConstColumns&, const ConstColumns&, Eigen::Ref<Eigen::VectorXd>) final {
    }
};

/// Where a gradient is a sum over positions, large terms may cancel. The norm therefore counts a
/// small part of the terms' own size, far above its own rounding, so that rounding of the terms is
/// small beside it for any data.
constexpr double counted_part = 0x1p-16;

/// (|g| + counted_part |terms|)^2. @param terms_squared at least the squared norm of the sums of
/// absolute values of the terms.
inline double summed_norm_squared(double gradient_squared, double terms_squared) {
    const double norm = std::sqrt(gradient_squared) + counted_part * std::sqrt(terms_squared);
    return norm * norm;
}
inline SumRounding summed_rounding(Eigen::Index positions) {
    return {static_cast<double>(positions), 1 / counted_part};
}

}  // namespace sotto
