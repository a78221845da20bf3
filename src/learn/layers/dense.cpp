#include "dense.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"

namespace sotto {
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
        // The smallest normal number makes up for squares that are lost below it.
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

}  // namespace sotto
