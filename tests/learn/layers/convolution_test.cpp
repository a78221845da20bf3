#include "learn/layers/convolution.hpp"

#include <gtest/gtest.h>

#include "learn/layers/layer_checks.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::expect_a_layer;
using test::Setting;

TEST(ConvolutionLayer, IsDifferentiatedRecordByRecord) {
    expect_a_layer(*make_convolution_layer({4, 5, 2}, 3));
    expect_a_layer(*make_convolution_layer({1, 1, 1}, 2));
}

TEST(ConvolutionLayer, IsTheSumOverTheWindow) {
    // out(y, x, o) = b_o + sum over dy, dx, c of W(o; dy, dx, c) in(y + dy, x + dx, c).
    const ImageShape shape{4, 3, 2};
    constexpr Eigen::Index channels = 3;
    const auto layer = make_convolution_layer(shape, channels);
    const Setting setting(*layer, 1, 3);
    const Eigen::MatrixXd out = setting.outputs();
    for (Eigen::Index y = 0; y < shape.rows; ++y)
        for (Eigen::Index x = 0; x < shape.columns; ++x)
            for (Eigen::Index o = 0; o < channels; ++o) {
                double sum = setting.parameters[channels * 9 * shape.channels + o];
                for (Eigen::Index dy = -1; dy <= 1; ++dy)
                    for (Eigen::Index dx = -1; dx <= 1; ++dx)
                        for (Eigen::Index c = 0; c < shape.channels; ++c) {
                            const Eigen::Index v = y + dy, u = x + dx;
                            if (v < 0 || v >= shape.rows || u < 0 || u >= shape.columns) continue;
                            const Eigen::Index tap = ((dy + 1) * 3 + dx + 1) * shape.channels + c;
                            sum += setting.parameters[tap * channels + o] *
                                   setting.in((v * shape.columns + u) * shape.channels + c, 0);
                        }
                EXPECT_NEAR(out((y * shape.columns + x) * channels + o, 0), sum, 1e-13);
            }
}

TEST(ConvolutionLayer, RefusesToBeEmpty) {
    EXPECT_THROW((void)make_convolution_layer({0, 1, 1}, 1), ConfigError);
}

}  // namespace
}  // namespace sotto
