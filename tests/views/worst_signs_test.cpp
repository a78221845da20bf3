#include "sotto/views/worst_signs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

Eigen::MatrixXd random_gram(int size, std::uint64_t seed) {
    SeededRandom random(seed, "worst signs");
    Eigen::MatrixXd factor(size, size);
    for (double& value : factor.reshaped()) value = random.normal();
    return factor.transpose() * factor;
}

TEST(WorstSigns, AreTheBestOfAllOfSmallMatrices) {
    constexpr int size = 8;
    for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
        const Eigen::MatrixXd gram = random_gram(size, seed);
        double best = 0;
        for (int bits = 0; bits < 1 << size; ++bits) {
            Eigen::VectorXd signs(size);
            for (int t = 0; t < size; ++t) signs(t) = (bits >> t) % 2 == 0 ? 1 : -1;
            best = std::max(best, signs.dot(gram * signs));
        }
        const Eigen::VectorXd found = worst_signs(gram, {1});
        EXPECT_EQ(found.cwiseAbs(), Eigen::VectorXd::Ones(size));
        EXPECT_NEAR(found.dot(gram * found), best, 1e-9 * best) << "seed " << seed;
    }
}

TEST(WorstSigns, AreOfOnePattern) {
    Eigen::MatrixXd gram = Eigen::MatrixXd::Identity(5, 5);
    gram(1, 3) = gram(3, 1) = -0.9;
    const Eigen::VectorXd found = worst_signs(gram, {2});
    // Rounds 1 and 3 with opposite signs: 3.8; rounds 0, 2 and 4: 3.
    EXPECT_EQ(found.cwiseAbs(), (Eigen::VectorXd(5) << 0, 1, 0, 1, 0).finished());
    EXPECT_EQ(found(1), -found(3));
}

}  // namespace
}  // namespace sotto
