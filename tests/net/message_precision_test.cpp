#include "net/message_precision.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/seeded_random.hpp"
#include "net/nibbles.hpp"

namespace sotto {
namespace {

constexpr auto float32 = MessagePrecision::float32;

TEST(MessagePrecision, OfFloat64LeavesEverythingAsItIs) {
    std::vector<double> values{1.0 / 3, -1e300, 0x1p-1074};
    const std::vector<double> before = values;
    round_to_precision(values, MessagePrecision::float64);
    EXPECT_EQ(values, before);
    EXPECT_EQ(piece_bytes(MessagePrecision::float64, 3), 24U);
    EXPECT_EQ(unit_roundoff(MessagePrecision::float64), 0);
    EXPECT_EQ(largest_value(MessagePrecision::float64), std::numeric_limits<double>::max());
}

TEST(MessagePrecision, OfFloat32RoundsToTheNearestWithTiesToEven) {
    // 24 bits of significand from 2^-126 on, steps of 2^-149 below.
    std::vector<double> values{1 + 0x1p-24,
                               1 + 3 * 0x1p-24,
                               -1 - 0x1p-24 - 0x1p-50,
                               largest_value(float32),
                               0x1p-150,
                               -3 * 0x1p-150};
    const std::vector<double> nearest{
        1, 1 + 0x1p-22, -1 - 0x1p-23, (2 - 0x1p-23) * 0x1p127, 0, -0x1p-148};
    round_to_precision(values, float32);
    EXPECT_EQ(values, nearest);
    EXPECT_EQ(piece_bytes(float32, 3), 12U);
}

TEST(MessagePrecision, OfNibblesIsWholeNumbers) {
    std::vector<double> values{0.5, 1.5, -7.4, 8.6, largest_code};
    round_to_precision(values, MessagePrecision::nibble);
    EXPECT_EQ(values, (std::vector<double>{0, 2, -7, 9, largest_code}));
    EXPECT_EQ(largest_value(MessagePrecision::nibble), largest_code);
    EXPECT_EQ(piece_bytes(MessagePrecision::nibble, 1000), nibble_block_bytes(1000));
    EXPECT_EQ(message_bytes(MessagePrecision::nibble, 2500, 1000),
              2 * nibble_block_bytes(1000) + nibble_block_bytes(500));
    EXPECT_EQ(message_bytes(float32, 2500, 1000), 10000U);
}

TEST(MessagePrecision, MovesAValueByNoMoreThanItsUnitRoundoff) {
    SeededRandom random(3, "test.net.precision");
    double largest = 0;
    for (int i = 0; i < 100000; ++i) {
        const double value =
            std::ldexp(random.normal(), static_cast<int>(200 * random.uniform()) - 100);
        double rounded = value;
        round_to_precision({&rounded, 1}, float32);
        largest = std::max(largest, std::abs(rounded - value) / std::abs(value));
    }
    EXPECT_LE(largest, unit_roundoff(float32));
    EXPECT_GT(largest, 0.9 * unit_roundoff(float32));
}

TEST(MessagePrecision, CarriesRoundedValuesInFourBytesEach) {
    SeededRandom random(4, "test.net.precision");
    std::vector<double> values(1000), back(1000);
    for (double& value : values) value = random.normal();
    values.front() = -0.0;
    round_to_precision(values, float32);
    std::vector<float> wire(values.size());
    narrow(values, wire.data());
    widen(wire, back.data());
    for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(std::bit_cast<std::uint64_t>(back[i]), std::bit_cast<std::uint64_t>(values[i]));
}

}  // namespace
}  // namespace sotto
