#include "views/bounded_gram_sensitivity.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "sotto/core/seeded_random.hpp"
#include "sotto/views/gram_sensitivity.hpp"

namespace sotto {
namespace {

Eigen::MatrixXd random_gram(int size) {
    SeededRandom random(6, "bounded gram", static_cast<std::uint64_t>(size));
    Eigen::MatrixXd factor(size, size);
    for (double& value : factor.reshaped()) value = random.normal();
    return factor.transpose() * factor;
}

TEST(BoundedGramSensitivity, WithoutABoundIsThatOfTheGramMatrix) {
    const Eigen::MatrixXd gram = random_gram(9);
    const std::vector<long> rounds{0, 1, 2, 3, 4, 5, 6, 7, 8};
    for (const long cycle : {1L, 2L, 4L}) {
        const auto bounded = bounded_gram_sensitivity(
            gram, rounds, {cycle}, 1e-6, std::numeric_limits<double>::infinity());
        const auto plain = gram_sensitivity(gram, {cycle}, 1e-6);
        EXPECT_EQ(bounded.constant_sign, plain.constant_sign);
        EXPECT_EQ(bounded.abs_sum, plain.abs_sum);
        EXPECT_EQ(bounded.tight_lower, plain.tight_lower);
        EXPECT_EQ(bounded.tight_upper, plain.tight_upper);
    }
}

TEST(BoundedGramSensitivity, NeverExceedsTheBound) {
    const Eigen::MatrixXd gram = random_gram(9);
    const std::vector<long> rounds{0, 1, 2, 3, 4, 5, 6, 7, 8};
    const double tight = bounded_gram_sensitivity(gram, rounds, {1}, 1e-6, 1e300).tight_lower;
    const auto bounded = bounded_gram_sensitivity(gram, rounds, {1}, 1e-6, 1.1 * tight);
    EXPECT_LE(bounded.tight_upper, 1.1 * tight);
    EXPECT_GE(bounded.tight_upper, tight);
    EXPECT_GT(bounded.abs_sum, 1.1 * tight) << "a figure of its own";
}

}  // namespace
}  // namespace sotto
