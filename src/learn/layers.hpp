#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/seeded_random.hpp"

namespace sotto {

/// A record as an image: rows x columns positions, row by row, at each its channels side by side.
struct ImageShape {
    Eigen::Index rows = 0, columns = 0, channels = 1;
    [[nodiscard]] Eigen::Index positions() const { return rows * columns; }
    [[nodiscard]] Eigen::Index size() const { return rows * columns * channels; }
};

/// How the sum of per-record gradients is rounded: every parameter's sum adds at most
/// `terms_per_record` products a record, whose absolute values have a norm (over the layer's
/// parameters) of at most `amplification` times what add_squared_norms says of the record.
struct SumRounding {
    double terms_per_record = 1;
    double amplification = 1;
};

/// One differentiable step of a model. Matrices have a record in every column. A layer keeps
/// scratch memory, so an object belongs to one model of one agent. What it computes for a record
/// depends on the parameters, the record, and the number and place of records in the matrix, never
/// on the values of another record.
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

    /// squares[i] += the squared norm of record i's gradient by the parameters, or of more than it,
    /// up to the rounding of as many operations as a record has inputs and outputs. No gradient of
    /// a record is kept. @param squares one per record.
    virtual void add_squared_norms(const ConstColumns& in,
                                   const ConstColumns& d_out,
                                   Eigen::Ref<Eigen::VectorXd> squares) = 0;
    /// gradient += sum over records of their gradients by the parameters; linear in d_out.
    virtual void add_gradient(const ConstColumns& in,
                              const ConstColumns& d_out,
                              Eigen::Ref<Eigen::VectorXd> gradient) = 0;
    [[nodiscard]] virtual SumRounding sum_rounding() const { return {}; }
};

/// From the input of a model to its output: sizes fit.
using Layers = std::vector<std::unique_ptr<Layer>>;

/// 3 x 3 windows, zeros outside the image, so that the output has as many positions: out(position)
/// = W patch(position) + b; W is channels x (9 in.channels), first in the parameters, then b; He
/// start. One small product per record: patches of one record at a time are formed, in memory that
/// is used again. A record's gradient D P^T is formed for its norm, in memory that is used again:
/// channels x 9 in.channels x positions, less than the Gram form's positions^2 x channels.
[[nodiscard]] std::unique_ptr<Layer> make_convolution_layer(ImageShape in, Eigen::Index channels);

/// How the weights of a layer start: zero; normal with variance 2/inputs (He, before a ReLU);
/// normal with variance 2/(inputs + outputs) (Glorot). Biases start at zero.
enum class WeightStart { zero, he, glorot };

/// out = W in + b; W is outputs x inputs, first in the parameters, column-major; then b. A record's
/// squared gradient norm is |d_out|^2 (|in|^2 + 1), and the sum over records one matrix product.
[[nodiscard]] std::unique_ptr<Layer> make_dense_layer(Eigen::Index inputs,
                                                      Eigen::Index outputs,
                                                      WeightStart start);

/// Channels in groups of equal size: out = scale (in - mean) / sqrt(variance + 1e-5) + shift, mean
/// and variance over a record's group, scale and shift per channel (parameters, in this order;
/// start 1 and 0). Nothing is shared between records.
[[nodiscard]] std::unique_ptr<Layer> make_group_norm_layer(ImageShape shape, Eigen::Index groups);

/// Largest of every 2 x 2 positions, channel by channel; a last odd row or column is left out.
[[nodiscard]] std::unique_ptr<Layer> make_max_pool_layer(ImageShape in);

/// out = max(in, 0).
[[nodiscard]] std::unique_ptr<Layer> make_relu_layer(Eigen::Index size);

/// Multinomial logistic regression: one dense layer, started at zero.
[[nodiscard]] Layers softmax_layers(Eigen::Index features, Eigen::Index classes);
/// One hidden layer with ReLU. @param outputs classes, or 1 for a number to predict.
[[nodiscard]] Layers mlp_layers(Eigen::Index features, Eigen::Index hidden, Eigen::Index outputs);

/// Twice {convolution, ReLU, max pool, group norm of groups of four channels}, with 16 and 32
/// channels, then a dense layer. @throws ConfigError for images below 4 x 4.
[[nodiscard]] Layers cnn_layers(ImageShape image, Eigen::Index classes);

/// Start values of all layers' parameters, one after the other; deterministic in the seed.
[[nodiscard]] Eigen::VectorXd initial_parameters(const Layers& layers, std::uint64_t seed);

/// A layer without parameters: nothing starts, and no gradient by parameters has a norm or a sum.
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

/// For layers whose gradient is a sum over positions, in which large terms may cancel: the norm
/// counts a small part of the terms' own size, so that rounding of the terms is small beside it for
/// any data. The part is also far above the rounding of the norm itself.
constexpr double counted_part = 0x1p-16;

/// (|g| + counted_part |terms|)^2. @param terms_squared at least the squared norm (over parameters)
/// of the sums of the absolute values of the terms.
inline double summed_norm_squared(double gradient_squared, double terms_squared) {
    const double norm = std::sqrt(gradient_squared) + counted_part * std::sqrt(terms_squared);
    return norm * norm;
}
inline SumRounding summed_rounding(Eigen::Index positions) {
    return {static_cast<double>(positions), 1 / counted_part};
}

}  // namespace sotto
