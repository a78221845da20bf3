#include "learn/layers/relu.hpp"

#include <gtest/gtest.h>

#include "learn/layers/layer_checks.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::expect_a_layer;

TEST(ReluLayer, IsDifferentiatedRecordByRecord) { expect_a_layer(*make_relu_layer(7)); }

TEST(ReluLayer, KeepsWhatIsAboveZero) {
    const auto layer = make_relu_layer(4);
    Eigen::MatrixXd in(4, 1), out(4, 1);
    in << -2, 0, 3, -0.5;
    layer->forward(Eigen::VectorXd(), in, out);
    EXPECT_EQ(out, Eigen::Vector4d(0, 0, 3, 0));
    EXPECT_EQ(layer->parameters(), 0);
}

}  // namespace
}  // namespace sotto
