#pragma once

// What is true of every layer.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <cstdint>
#include <limits>

#include "learn/layers.hpp"
#include "learn/test_data.hpp"

namespace sotto::test {

inline Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
    return random_vector(rows * columns, 1, seed).reshaped(rows, columns);
}

/// A layer at random parameters and inputs, and a linear function of its outputs: the derivative of
/// which by anything the layer must give.
struct Setting {
    explicit Setting(Layer& tested, Eigen::Index records, std::uint64_t seed)
        : layer(tested),
          parameters(random_vector(layer.parameters(), 1, seed)),
          in(random_matrix(layer.inputs(), records, seed + 1)),
          d_out(random_matrix(layer.outputs(), records, seed + 2)) {}

    [[nodiscard]] Eigen::MatrixXd outputs() const {
        Eigen::MatrixXd out(layer.outputs(), in.cols());
        layer.forward(parameters, in, out);
        return out;
    }
    [[nodiscard]] double value() const { return outputs().cwiseProduct(d_out).sum(); }
    /// Central difference of value() by one number.
    double slope(double& number) const {
        constexpr double step = 1e-5;
        const double before = number;
        number = before + step;
        const double above = value();
        number = before - step;
        const double below = value();
        number = before;
        return (above - below) / (2 * step);
    }
    [[nodiscard]] Eigen::VectorXd gradient() const {
        const Eigen::MatrixXd out = outputs();
        Eigen::MatrixXd d_in(layer.inputs(), in.cols());
        layer.backward(parameters, in, out, d_out, d_in);
        Eigen::VectorXd result = Eigen::VectorXd::Zero(layer.parameters());
        layer.add_gradient(in, d_out, result);
        return result;
    }

    Layer& layer;
    Eigen::VectorXd parameters;
    Eigen::MatrixXd in, d_out;
};

/// Derivatives by every input and parameter.
inline void expect_gradients_are_central_differences(Layer& layer) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        Setting setting(layer, 4, 10 * seed);
        const Eigen::MatrixXd out = setting.outputs();
        Eigen::MatrixXd d_in(layer.inputs(), 4);
        layer.backward(setting.parameters, setting.in, out, setting.d_out, d_in);
        for (Eigen::Index k = 0; k < setting.in.size(); ++k) {
            const double slope = setting.slope(setting.in.data()[k]);
            EXPECT_NEAR(d_in.data()[k], slope, 1e-7 * (1 + std::abs(slope)))
                << "input " << k << ", seed " << seed;
        }
        const Eigen::VectorXd gradient = setting.gradient();
        for (Eigen::Index k = 0; k < gradient.size(); ++k) {
            const double slope = setting.slope(setting.parameters[k]);
            EXPECT_NEAR(gradient[k], slope, 1e-7 * (1 + std::abs(slope)))
                << "parameter " << k << ", seed " << seed;
        }
    }
}

/// Squared norms are those of the records' own gradients, and not below.
inline void expect_squared_norms_of_own_gradients(Layer& layer) {
    for (const double scale : {1e-6, 1.0, 1e6}) {
        Setting setting(layer, 5, 77);
        setting.in *= scale;
        (void)setting.gradient();
        Eigen::VectorXd squares = Eigen::VectorXd::Constant(5, 3);
        layer.add_squared_norms(setting.in, setting.d_out, squares);
        for (Eigen::Index i = 0; i < 5; ++i) {
            Setting alone(layer, 1, 77);
            alone.parameters = setting.parameters;
            alone.in = setting.in.col(i);
            alone.d_out = setting.d_out.col(i);
            const double own = alone.gradient().squaredNorm();
            EXPECT_GE(squares[i] - 3, own * (1 - 1e-12) - 1e-15);
            EXPECT_LE(squares[i] - 3, own * (1 + 1e-2) + 1e-15);
        }
    }
}

/// Every record is treated as if it were alone.
inline void expect_records_do_not_meet(Layer& layer) {
    const Setting setting(layer, 6, 5);
    const Eigen::MatrixXd out = setting.outputs();
    Setting other(layer, 6, 5);
    other.in.rightCols(3).setConstant(std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(other.outputs().leftCols(3), out.leftCols(3));
}

inline void expect_a_layer(Layer& layer) {
    expect_gradients_are_central_differences(layer);
    expect_squared_norms_of_own_gradients(layer);
    expect_records_do_not_meet(layer);
}

}  // namespace sotto::test
