#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <memory>
#include <vector>

#include "sotto/core/seeded_random.hpp"

namespace sotto {

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

}  // namespace sotto
