#include "learn/layers/max_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "learn/layers/layer_checks.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::expect_a_layer;
using test::Setting;

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

}  // namespace
}  // namespace sotto
