#include "sotto/views/gram_sensitivity.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(GramSensitivity, OfThreeOpposedRoundsIsReachedByVectorsAtAnAngle) {
    Eigen::MatrixXd gram(3, 3);
    gram << 1, -0.5, -0.5, -0.5, 1, -0.5, -0.5, -0.5, 1;
    const SquaredSensitivity found = gram_sensitivity(gram, {1}, 1e-8);
    EXPECT_NEAR(found.constant_sign, 0, 1e-15);
    EXPECT_DOUBLE_EQ(found.abs_sum, 6);
    EXPECT_NEAR(found.tight_lower, 4.5, 1e-7);
    EXPECT_NEAR(found.tight_upper, 4.5, 1e-7);
    EXPECT_LE(found.tight_lower, 4.5 * (1 + 1e-14));
    EXPECT_GE(found.tight_upper, 4.5 * (1 - 1e-14));
    EXPECT_EQ(found.trivial, infinity);
    EXPECT_EQ(found.certified(), found.tight_upper);
}

TEST(GramSensitivity, IsTheWorstPattern) {
    Eigen::MatrixXd gram = Eigen::MatrixXd::Identity(5, 5);
    gram(1, 3) = gram(3, 1) = -0.5;
    const SquaredSensitivity found = gram_sensitivity(gram, {2}, 1e-8);
    EXPECT_DOUBLE_EQ(found.constant_sign, 3);  // rounds 0, 2, 4
    EXPECT_DOUBLE_EQ(found.abs_sum, 3);        // rounds 1, 3 with opposite signs: 3 too
    EXPECT_NEAR(found.tight_lower, 3, 1e-7);
    EXPECT_DOUBLE_EQ(gram_sensitivity(gram, {100}, 1e-8).abs_sum, 1);
}

TEST(GramSensitivity, IsOfTrainingRounds) {
    const Eigen::MatrixXd gram = Eigen::Vector4d(1, 2, 4, 8).asDiagonal();
    EXPECT_DOUBLE_EQ(gram_sensitivity(gram, {2}, 1e-8).tight_upper, 10);
    // The last two do the first two again.
    const std::vector<long> again{0, 1, 0, 1}, twice{0, 1, 1, 2};
    EXPECT_DOUBLE_EQ(gram_sensitivity(gram, {2}, 1e-8, again).tight_upper, 10);
    EXPECT_DOUBLE_EQ(gram_sensitivity(gram, {50}, 1e-8, again).tight_upper, 10);
    EXPECT_DOUBLE_EQ(gram_sensitivity(gram, {2}, 1e-8, twice).tight_upper, 9);
    EXPECT_DOUBLE_EQ(gram_sensitivity(gram, {3}, 1e-8, twice).constant_sign, 8);
    const std::vector<long> few{0, 1}, negative{0, 1, -1, 2};
    EXPECT_NE(message_of<ConfigError>([&] {
                  (void)gram_sensitivity(gram, {2}, 1e-8, few);
              }).find("2 training rounds are given, it has 4 rows"),
              std::string::npos);
    EXPECT_NE(message_of<ConfigError>([&] {
                  (void)gram_sensitivity(gram, {2}, 1e-8, negative);
              }).find("-1 is not allowed"),
              std::string::npos);
}

TEST(GramSensitivity, IsCertifiedForRandomMatrices) {
    for (const int size : {2, 7, 30, 90}) {
        SeededRandom random(4, "gram", static_cast<std::uint64_t>(size));
        Eigen::MatrixXd factor(size, size);
        for (double& value : factor.reshaped()) value = random.normal();
        const Eigen::MatrixXd gram = factor.transpose() * factor;
        const SquaredSensitivity found = gram_sensitivity(gram, {1}, 1e-5);
        EXPECT_LE(found.tight_upper, found.tight_lower * (1 + 1e-4));
        EXPECT_LE(found.tight_upper, found.abs_sum);
        EXPECT_LE(found.tight_lower, size * symmetric_eigenvalues(gram)(size - 1));
        // Signs are unit vectors.
        for (int trial = 0; trial < 200; ++trial) {
            Eigen::VectorXd signs(size);
            for (double& value : signs) value = random.uniform() < 0.5 ? -1 : 1;
            EXPECT_LE(signs.dot(gram * signs), found.tight_upper * (1 + 1e-12));
        }
    }
}

}  // namespace
}  // namespace sotto
