#include "training/choice_draws.hpp"

#include <gtest/gtest.h>

#include <random>

#include "sotto/core/error.hpp"

namespace sotto::test {
namespace {

TEST(ChoiceDraws, AreOfTheAccountedNumberAndUniform) {
    constexpr int choices = 20000;
    constexpr std::size_t configurations = 7;
    for (const double shape : {0.0, 1.0, 3.0}) {
        std::mt19937_64 engine(5);
        std::vector<double> times(configurations, 0);
        double all = 0;
        for (int i = 0; i < choices; ++i)
            for (const std::size_t drawn :
                 draw_configurations({5, shape}, configurations, [&] { return engine(); })) {
                ASSERT_LT(drawn, configurations);
                ++times[drawn];
                ++all;
            }
        EXPECT_NEAR(all / choices, 5, 0.2) << shape;
        double squares = 0;
        for (const double count : times)
            squares += (count - all / configurations) * (count - all / configurations);
        // Chi-squared with 6 degrees of freedom: 22.5 has p = .001.
        EXPECT_LT(squares / (all / configurations), 22.5) << shape;
    }
}

TEST(ChoiceDraws, OfSecretBitsDifferEveryTime) {
    EXPECT_NE(secret_bits(), secret_bits());
    EXPECT_FALSE(draw_configurations({3, 1}, 2).empty());
    EXPECT_EQ(draw_configurations({1, 1}, 1), std::vector<std::size_t>{0});
}

TEST(ChoiceDraws, NeedAConfiguration) {
    EXPECT_THROW((void)draw_configurations({3, 1}, 0), ConfigError);
}

}  // namespace
}  // namespace sotto::test
