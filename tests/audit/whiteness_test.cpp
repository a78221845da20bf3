#include "audit/whiteness.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

Eigen::MatrixXd white(Eigen::Index dimensions, Eigen::Index samples, std::uint64_t seed) {
    SeededRandom random(seed, "white noise");
    Eigen::MatrixXd values(dimensions, samples);
    for (double& value : values.reshaped()) value = random.normal();
    return values;
}

TEST(Whiteness, IsNotDoubtedMoreOftenThanItSays) {
    int doubted = 0;
    constexpr int runs = 300;
    for (int run = 0; run < runs; ++run)
        if (test_whiteness(white(30, 400, static_cast<std::uint64_t>(run))).p_value < 0.05)
            ++doubted;
    EXPECT_LE(doubted, 0.05 * runs + 4 * std::sqrt(0.05 * runs));
}

TEST(Whiteness, SeesScaleAndCorrelation) {
    Eigen::MatrixXd values = white(20, 2000, 1);
    EXPECT_GT(test_whiteness(values).p_value, 0.01);
    EXPECT_LT(test_whiteness(1.03 * values).p_value, 1e-4);
    Eigen::MatrixXd correlated = values;
    correlated.row(3) = 0.98 * values.row(3) + std::sqrt(1 - 0.98 * 0.98) * values.row(7);
    EXPECT_LT(test_whiteness(correlated).p_value, 1e-6);
    Eigen::MatrixXd one = values;
    one.row(2) *= 1.3;
    EXPECT_LT(test_whiteness(one).p_value, 1e-6);
}

TEST(Whiteness, NeedsEnoughSamples) {
    EXPECT_NO_THROW((void)test_whiteness(white(3, fewest_white_samples, 1)));
    EXPECT_THROW((void)test_whiteness(white(3, fewest_white_samples - 1, 1)), ConfigError);
    EXPECT_EQ(test_whiteness(white(0, fewest_white_samples, 1)).p_value, 1);
}

}  // namespace
}  // namespace sotto
