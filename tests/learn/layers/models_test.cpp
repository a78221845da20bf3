#include "sotto/learn/layers/models.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

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
