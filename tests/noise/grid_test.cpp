#include "sotto/noise/grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sotto/core/seeded_random.hpp"
#include "sotto/noise/noise_source.hpp"

namespace sotto {
namespace {

/// Values of every size below 2^49 steps, of both signs, and ties.
std::vector<double> samples(double step) {
    SeededRandom random(1, "test.agent.grid");
    std::vector<double> values{0.0,
                               -0.0,
                               step,
                               -step,
                               0.5 * step,
                               -0.5 * step,
                               1.5 * step,
                               2.5 * step,
                               -2.5 * step,
                               1e-300,
                               -1e-300};
    for (int i = 0; i < 20000; ++i) {
        const double size =
            std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(100)) - 50);
        values.push_back(size * step);
    }
    return values;
}

TEST(RoundToGrid, GivesTheNearestMultipleAndTiesToEven) {
    for (const int exponent : {-60, -20, 0, 13}) {
        const double step = std::ldexp(1.0, exponent);
        const std::vector<double> values = samples(step);
        std::vector<double> rounded = values;
        round_to_grid(rounded, step);
        for (std::size_t i = 0; i < values.size(); ++i)
            EXPECT_EQ(rounded[i], std::nearbyint(values[i] / step) * step)
                << values[i] << ", step 2^" << exponent;
    }
}

TEST(RoundMessageToGrid, RoundsValuesOfEverySize) {
    SeededRandom random(3, "test.agent.grid");
    for (const int exponent : {-60, -20, 13}) {
        const double step = std::ldexp(1.0, exponent);
        std::vector<double> values = samples(step);
        for (int bits = 48; bits < 60; ++bits)
            for (int i = 0; i < 200; ++i)
                values.push_back(std::ldexp(random.uniform() - 0.5, bits + 1) * step);
        std::vector<double> rounded = values;
        round_message_to_grid(rounded, step);
        for (std::size_t i = 0; i < values.size(); ++i)
            EXPECT_EQ(rounded[i], std::nearbyint(values[i] / step) * step)
                << values[i] << ", step 2^" << exponent;
    }
}

TEST(TruncateToGrid, GivesTheNextMultipleTowardZero) {
    for (const int exponent : {-60, -20, 0, 13}) {
        const double step = std::ldexp(1.0, exponent);
        const std::vector<double> values = samples(step);
        std::vector<double> truncated = values;
        truncate_to_grid(truncated, step);
        for (std::size_t i = 0; i < values.size(); ++i) {
            EXPECT_EQ(truncated[i], std::trunc(truncated[i] / step) * step);
            EXPECT_LE(std::abs(truncated[i]), std::abs(values[i]));
            EXPECT_LT(std::abs(values[i] - truncated[i]), step);
            EXPECT_FALSE(truncated[i] * values[i] < 0);
        }
    }
}

TEST(TruncateToGrid, LeavesMultiplesAlone) {
    SeededRandom random(2, "test.agent.grid");
    std::vector<double> values;
    for (int i = 0; i < 1000; ++i)
        values.push_back(std::ldexp(static_cast<double>(random.below(1ull << 50)) - 0x1p49, -20));
    for (const auto change : {round_to_grid, truncate_to_grid}) {
        std::vector<double> changed = values;
        change(changed, 0x1p-20);
        EXPECT_EQ(changed, values);
    }
}

}  // namespace
}  // namespace sotto
