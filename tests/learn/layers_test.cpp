#include "sotto/learn/layers.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "test_data.hpp"

namespace sotto {
namespace {

using sotto::testing::random_vector;

struct Case {
    std::string name;
    std::unique_ptr<Layer> layer;
};

std::vector<Case> cases() {
    std::vector<Case> result;
    result.push_back({"dense 5 to 3", make_dense_layer(5, 3, WeightStart::he)});
    result.push_back({"dense 1 to 1", make_dense_layer(1, 1, WeightStart::glorot)});
    result.push_back({"relu", make_relu_layer(7)});
    result.push_back({"convolution of 2 channels to 3", make_convolution_layer({4, 5, 2}, 3)});
    result.push_back({"convolution of one pixel", make_convolution_layer({1, 1, 1}, 2)});
    result.push_back({"max pool of odd sides", make_max_pool_layer({5, 7, 3})});
    result.push_back({"group norm", make_group_norm_layer({3, 2, 6}, 2)});
    return result;
}

Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
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

TEST(Layer, GradientsAreCentralDifferences) {
    for (auto& [name, layer] : cases())
        for (const std::uint64_t seed : {1U, 2U, 3U}) {
            Setting setting(*layer, 4, 10 * seed);
            const Eigen::MatrixXd out = setting.outputs();
            Eigen::MatrixXd d_in(layer->inputs(), 4);
            layer->backward(setting.parameters, setting.in, out, setting.d_out, d_in);
            for (Eigen::Index k = 0; k < setting.in.size(); ++k) {
                const double slope = setting.slope(setting.in.data()[k]);
                EXPECT_NEAR(d_in.data()[k], slope, 1e-7 * (1 + std::abs(slope)))
                    << name << ", input " << k << ", seed " << seed;
            }
            const Eigen::VectorXd gradient = setting.gradient();
            for (Eigen::Index k = 0; k < gradient.size(); ++k) {
                const double slope = setting.slope(setting.parameters[k]);
                EXPECT_NEAR(gradient[k], slope, 1e-7 * (1 + std::abs(slope)))
                    << name << ", parameter " << k << ", seed " << seed;
            }
        }
}

TEST(Layer, SquaredNormsAreThoseOfTheRecordsOwnGradientsAndNotBelow) {
    for (auto& [name, layer] : cases())
        for (const double scale : {1e-6, 1.0, 1e6}) {
            Setting setting(*layer, 5, 77);
            setting.in *= scale;
            (void)setting.gradient();
            Eigen::VectorXd squares = Eigen::VectorXd::Constant(5, 3);
            layer->add_squared_norms(setting.in, setting.d_out, squares);
            for (Eigen::Index i = 0; i < 5; ++i) {
                Setting alone(*layer, 1, 77);
                alone.parameters = setting.parameters;
                alone.in = setting.in.col(i);
                alone.d_out = setting.d_out.col(i);
                const double own = alone.gradient().squaredNorm();
                EXPECT_GE(squares[i] - 3, own * (1 - 1e-12) - 1e-15) << name;
                EXPECT_LE(squares[i] - 3, own * (1 + 1e-2) + 1e-15) << name;
            }
        }
}

TEST(Layer, TreatsEveryRecordAsIfItWereAlone) {
    for (auto& [name, layer] : cases()) {
        const Setting setting(*layer, 6, 5);
        const Eigen::MatrixXd out = setting.outputs();
        Setting other(*layer, 6, 5);
        other.in.rightCols(3).setConstant(not_a_number);
        EXPECT_EQ(other.outputs().leftCols(3), out.leftCols(3)) << name;
    }
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
    EXPECT_THROW((void)make_convolution_layer({0, 1, 1}, 1), ConfigError);
    EXPECT_THROW((void)make_group_norm_layer({2, 2, 6}, 4), ConfigError);
}

TEST(DenseLayer, RefusesToBeEmpty) {
    EXPECT_THROW((void)make_dense_layer(0, 3, WeightStart::zero), ConfigError);
    EXPECT_THROW((void)make_dense_layer(3, 0, WeightStart::zero), ConfigError);
}

}  // namespace
}  // namespace sotto
