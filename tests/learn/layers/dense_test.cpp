#include "learn/layers/dense.hpp"

#include <gtest/gtest.h>

#include "learn/layers/layer_checks.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::expect_a_layer;
using test::Setting;

TEST(DenseLayer, IsDifferentiatedRecordByRecord) {
    expect_a_layer(*make_dense_layer(5, 3, WeightStart::he));
    expect_a_layer(*make_dense_layer(1, 1, WeightStart::glorot));
}

TEST(DenseLayer, IsAMatrixAndABias) {
    const auto layer = make_dense_layer(4, 3, WeightStart::he);
    const Setting setting(*layer, 6, 11);
    const Eigen::MatrixXd weights = setting.parameters.head(12).reshaped(3, 4);
    const Eigen::MatrixXd wanted =
        (weights * setting.in).colwise() + Eigen::VectorXd(setting.parameters.tail(3));
    EXPECT_LE((setting.outputs() - wanted).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(DenseLayer, RefusesToBeEmpty) {
    EXPECT_THROW((void)make_dense_layer(0, 3, WeightStart::zero), ConfigError);
    EXPECT_THROW((void)make_dense_layer(3, 0, WeightStart::zero), ConfigError);
}

}  // namespace
}  // namespace sotto
