#include "learn/layer_chain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "learn/layers/dense.hpp"
#include "learn/layers/relu.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learn/layers/models.hpp"

namespace sotto {
namespace {

using test::random_vector;

constexpr Eigen::Index records = 5;

/// Two dense layers with a ReLU between, at random parameters and records; what is differentiated
/// is a linear function of the outputs.
class LayerChainTest : public ::testing::Test {
  protected:
    LayerChainTest() {
        chain_.features(records) = in_;
        (void)chain_.forward(model_);
        chain_.output_slopes() = slopes_;
        chain_.backward(model_);
    }
    [[nodiscard]] Eigen::VectorXd gradient() {
        Eigen::VectorXd sum = Eigen::VectorXd::Zero(chain_.parameters());
        chain_.add_gradients(sum);
        return sum;
    }
    /// The gradient of one record, by a chain of its own.
    [[nodiscard]] Eigen::VectorXd gradient_of(Eigen::Index record) const {
        LayerChain alone(mlp_layers(4, 6, 3), 4);
        alone.features(1) = in_.col(record);
        (void)alone.forward(model_);
        alone.output_slopes() = slopes_.col(record);
        alone.backward(model_);
        Eigen::VectorXd sum = Eigen::VectorXd::Zero(alone.parameters());
        alone.add_gradients(sum);
        return sum;
    }
    LayerChain chain_{mlp_layers(4, 6, 3), 4};
    Eigen::VectorXd model_ = random_vector(chain_.parameters(), 1, 2);
    Eigen::MatrixXd in_ = random_vector(4 * records, 1, 3).reshaped(4, records);
    Eigen::MatrixXd slopes_ = random_vector(3 * records, 1, 4).reshaped(3, records);
};

TEST_F(LayerChainTest, IsItsLayersOneAfterTheOther) {
    EXPECT_EQ(chain_.parameters(), 6 * 5 + 3 * 7);
    EXPECT_EQ(chain_.outputs(), 3);
    const auto first = make_dense_layer(4, 6, WeightStart::zero);
    const auto second = make_dense_layer(6, 3, WeightStart::zero);
    Eigen::MatrixXd hidden(6, records), out(3, records);
    first->forward(model_.head(30), in_, hidden);
    second->forward(model_.tail(21), hidden.cwiseMax(0.0), out);
    EXPECT_EQ(chain_.forward(model_), out);
    EXPECT_EQ(chain_.output_slopes(), out);
}

TEST_F(LayerChainTest, AddsTheGradientsOfItsRecords) {
    Eigen::VectorXd wanted = Eigen::VectorXd::Zero(chain_.parameters());
    for (Eigen::Index i = 0; i < records; ++i) wanted += gradient_of(i);
    EXPECT_LE((gradient() - wanted).norm(), 1e-13 * wanted.norm());
}

TEST_F(LayerChainTest, KnowsTheNormsOfItsRecordsGradientsFromAbove) {
    const Eigen::VectorXd norms = chain_.gradient_norms();
    ASSERT_EQ(norms.size(), records);
    for (Eigen::Index i = 0; i < records; ++i) {
        EXPECT_GE(norms[i], gradient_of(i).norm());
        EXPECT_LE(norms[i], gradient_of(i).norm() * (1 + 1e-10));
    }
}

TEST_F(LayerChainTest, ScalesAndDropsRecords) {
    chain_.scale_record(1, 0.25);
    chain_.drop_record(3);
    const Eigen::VectorXd wanted =
        gradient_of(0) + 0.25 * gradient_of(1) + gradient_of(2) + gradient_of(4);
    EXPECT_LE((gradient() - wanted).norm(), 1e-13 * wanted.norm());
}

TEST(LayerChain, DropsARecordThatIsNotANumber) {
    LayerChain chain(softmax_layers(2, 2), 2);
    chain.features(2) << 1, std::numeric_limits<double>::infinity(), 2, 3;
    (void)chain.forward(Eigen::VectorXd::Ones(6));
    chain.output_slopes() << 1, std::numeric_limits<double>::quiet_NaN(), 1, 1;
    chain.backward(Eigen::VectorXd::Ones(6));
    EXPECT_FALSE(std::isfinite(chain.gradient_norms()[1]));
    chain.drop_record(1);
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(6);
    chain.add_gradients(sum);
    EXPECT_TRUE(sum.allFinite());
    EXPECT_GT(sum.norm(), 0);
}

TEST(LayerChain, SumErrorGrowsWithTheTermsOfASum) {
    const LayerChain dense(softmax_layers(25, 3), 25), cnn(cnn_layers({5, 5, 1}, 3), 25);
    EXPECT_DOUBLE_EQ(dense.sum_error(100), 1.01 * 116 * 0x1p-53);
    EXPECT_GT(cnn.sum_error(100), dense.sum_error(100));
    EXPECT_GT(dense.sum_error(101), dense.sum_error(100));
}

TEST(LayerChain, NeedsLayersThatFit) {
    EXPECT_THROW(LayerChain({}, 3), ConfigError);
    EXPECT_THROW(LayerChain(softmax_layers(4, 2), 3), ConfigError);
    Layers layers = softmax_layers(4, 2);
    layers.push_back(make_relu_layer(3));
    EXPECT_THROW(LayerChain(std::move(layers), 4), ConfigError);
}

}  // namespace
}  // namespace sotto
