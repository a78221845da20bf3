#include "learn/layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

TEST(GroupNormLayer, IsDifferentiatedRecordByRecord) {
    expect_a_layer(*make_group_norm_layer({3, 2, 6}, 2));
}

TEST(GroupNormLayer, GivesEveryGroupOfARecordMeanZeroAndVarianceOne) {
    const auto layer = make_group_norm_layer({4, 4, 6}, 3);
    Setting setting(*layer, 2, 9);
    SeededRandom unused(1, "test");
    layer->initialise(unused, setting.parameters);
    setting.in.array() += 100;
    const Eigen::MatrixXd out = setting.outputs();
    for (const Eigen::Index record : {0, 1})
        for (const Eigen::Index group : {0, 1, 2}) {
            const Eigen::MatrixXd values = out.col(record).reshaped(6, 16).middleRows(2 * group, 2);
            EXPECT_NEAR(values.mean(), 0, 1e-10);
            EXPECT_NEAR(values.squaredNorm() / 32, 1, 1e-4);  // but for the floor of the variance
        }
}

TEST(GroupNormLayer, RefusesGroupsOfUnequalSize) {
    EXPECT_THROW((void)make_group_norm_layer({2, 2, 6}, 4), ConfigError);
}

TEST(MaxPoolLayer, IsDifferentiatedRecordByRecord) {
    expect_a_layer(*make_max_pool_layer({5, 7, 3}));
}

TEST(MaxPoolLayer, IsTheLargestOfEveryTwoByTwo) {
    const ImageShape shape{5, 7, 3};
    const auto layer = make_max_pool_layer(shape);
    const Setting setting(*layer, 1, 4);
    const Eigen::MatrixXd out = setting.outputs();
    ASSERT_EQ(out.rows(), 2 * 3 * 3);
    const auto value = [&](Eigen::Index y, Eigen::Index x, Eigen::Index c) {
        return setting.in((y * shape.columns + x) * shape.channels + c, 0);
    };
    for (Eigen::Index y = 0; y < 2; ++y)
        for (Eigen::Index x = 0; x < 3; ++x)
            for (Eigen::Index c = 0; c < 3; ++c)
                EXPECT_EQ(out((y * 3 + x) * 3 + c, 0),
                          std::max({value(2 * y, 2 * x, c),
                                    value(2 * y, 2 * x + 1, c),
                                    value(2 * y + 1, 2 * x, c),
                                    value(2 * y + 1, 2 * x + 1, c)}));
}

TEST(MaxPoolLayer, GivesTheSlopeToOneOfEqualValues) {
    const auto layer = make_max_pool_layer({2, 2, 1});
    const Eigen::MatrixXd in = Eigen::MatrixXd::Ones(4, 1), out = Eigen::MatrixXd::Ones(1, 1);
    Eigen::MatrixXd d_in(4, 1);
    layer->backward(Eigen::VectorXd(), in, out, Eigen::MatrixXd::Constant(1, 1, 3.0), d_in);
    EXPECT_EQ(d_in, Eigen::Vector4d(3, 0, 0, 0));
}

TEST(MaxPoolLayer, RefusesImagesWithoutTwoRowsAndColumns) {
    EXPECT_THROW((void)make_max_pool_layer({1, 8, 1}), ConfigError);
    EXPECT_THROW((void)make_max_pool_layer({8, 1, 1}), ConfigError);
}

TEST(ReluLayer, IsDifferentiatedRecordByRecord) { expect_a_layer(*make_relu_layer(7)); }

TEST(ReluLayer, KeepsWhatIsAboveZero) {
    const auto layer = make_relu_layer(4);
    Eigen::MatrixXd in(4, 1), out(4, 1);
    in << -2, 0, 3, -0.5;
    layer->forward(Eigen::VectorXd(), in, out);
    EXPECT_EQ(out, Eigen::Vector4d(0, 0, 3, 0));
    EXPECT_EQ(layer->parameters(), 0);
}

TEST(InitialParameters, DependOnTheSeedAndHaveTheirVariance) {
    const Layers layers = mlp_layers(200, 100, 10);
    const Eigen::VectorXd start = initial_parameters(layers, 4);
    ASSERT_EQ(start.size(), 100 * 201 + 10 * 101);
    EXPECT_EQ(initial_parameters(layers, 4), start);
    EXPECT_NE(initial_parameters(layers, 5), start);
    // The variance of N normal draws is within 5 standard errors, each sqrt(2/N) of it. Seed 4.
    const double he = start.head(20000).squaredNorm() / 20000;
    EXPECT_NEAR(he, 2.0 / 200, 5 * std::sqrt(2.0 / 20000) * 2.0 / 200);
    EXPECT_EQ(start.segment(20000, 100), Eigen::VectorXd::Zero(100));
    const double glorot = start.segment(20100, 1000).squaredNorm() / 1000;
    EXPECT_NEAR(glorot, 2.0 / 110, 5 * std::sqrt(2.0 / 1000) * 2.0 / 110);
    EXPECT_EQ(initial_parameters(softmax_layers(7, 3), 1), Eigen::VectorXd::Zero(24));
}

TEST(CnnLayers, FitEachOther) {
    for (const ImageShape image :
         {ImageShape{28, 28, 1}, ImageShape{9, 6, 3}, ImageShape{4, 4, 1}}) {
        const Layers layers = cnn_layers(image, 10);
        EXPECT_EQ(layers.front()->inputs(), image.size());
        for (std::size_t l = 1; l < layers.size(); ++l)
            EXPECT_EQ(layers[l]->inputs(), layers[l - 1]->outputs());
        EXPECT_EQ(layers.back()->outputs(), 10);
    }
    EXPECT_EQ(initial_parameters(cnn_layers({28, 28, 1}, 10), 1).size(), 20586);
    EXPECT_THROW((void)cnn_layers({3, 28, 1}, 10), ConfigError);
}

}  // namespace
}  // namespace sotto
