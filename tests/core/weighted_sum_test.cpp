#include "core/weighted_sum.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/numbers.hpp"
#include "core/seeded_random.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr std::uint64_t column_seed = 4;

struct Problem {
    Problem(std::size_t count, std::size_t size) : columns(count), weights(count) {
        SeededRandom random(column_seed, "weighted sum test", count * 1'000'000 + size);
        for (std::size_t j = 0; j < count; ++j) {
            // One spare value in front of every second column makes it unaligned.
            columns[j].resize(size + 1);
            for (double& value : columns[j]) value = (random.uniform() - 0.5) * 1e3;
            pointers.push_back(columns[j].data() + j % 2);
            weights[j] = random.uniform() - 0.3;
        }
    }
    std::vector<std::vector<double>> columns;
    std::vector<const double*> pointers;
    std::vector<double> weights;
};

/// The definition; volatile keeps the compiler from fusing or reordering anything.
std::vector<double> plain_loop(const Problem& problem, std::size_t size) {
    std::vector<double> out(size, 0.0);
    for (std::size_t i = 0; i < size; ++i) {
        volatile double sum = 0;
        for (std::size_t j = 0; j < problem.weights.size(); ++j) {
            volatile double product = problem.weights[j] * problem.pointers[j][i];
            sum = j == 0 ? product : sum + product;
        }
        out[i] = sum;
    }
    return out;
}

void expect_equal_to_plain_loop(std::size_t count, std::size_t size) {
    const Problem problem(count, size);
    const auto expected = plain_loop(problem, size);
    std::vector<double> out(size + 3, -1.0);
    weighted_sum(problem.pointers, problem.weights, std::span(out).first(size));
    EXPECT_EQ(size == 0 ? 0 : std::memcmp(out.data(), expected.data(), size * sizeof(double)), 0)
        << count << " columns of " << size << ", seed " << column_seed;
    for (std::size_t i = size; i < out.size(); ++i)
        EXPECT_EQ(out[i], -1.0) << "written past its end";
}

/// Every level this machine has, one after the other; the machine's own choice afterwards.
template <class Function>
void on_every_level(Function&& f) {
    for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
        const std::int64_t level = left & -left;
        SCOPED_TRACE(hwy::TargetName(level));
        hwy::SetSupportedTargetsForTest(level);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
        f();
        hwy::SetSupportedTargetsForTest(0);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
}

TEST(WeightedSum, EqualsTheScalarLoopBitForBitForEverySmallSizeOnEveryLevel) {
    on_every_level([] {
        for (std::size_t size = 0; size <= 150; ++size)
            for (const std::size_t count : {1, 2, 3, 5, 20})
                expect_equal_to_plain_loop(count, size);
    });
}

TEST(WeightedSum, EqualsTheScalarLoopBitForBitForLongColumnsOnEveryLevel) {
    on_every_level([] {
        for (const std::size_t size : {511, 512, 513, 1023, 1024, 1025, 4099, 20'001})
            for (const std::size_t count : {1, 4, 7, 10, 33})
                expect_equal_to_plain_loop(count, size);
    });
}

TEST(WeightedSum, OfNothingIsZero) {
    std::vector<double> out(9, 5.0);
    weighted_sum({}, {}, out);
    EXPECT_EQ(out, std::vector<double>(9, 0.0));
}

TEST(WeightedSum, OfOneColumnKeepsNegativeZeroAndPassesOnNotANumber) {
    const std::vector<double> column{-0.0, not_a_number, infinity};
    const std::vector<const double*> columns{column.data()};
    const std::vector<double> weights{1.0};
    std::vector<double> out(3);
    weighted_sum(columns, weights, out);
    EXPECT_TRUE(std::signbit(out[0]));
    EXPECT_TRUE(std::isnan(out[1]));
    EXPECT_TRUE(std::isinf(out[2]));
}

TEST(WeightedSum, AddsInTheOrderOfTheColumns) {
    // 1 + 1e16 - 1e16 depends on the order.
    const std::vector<double> one(40, 1.0);
    const std::vector<double> large(40, 1e16);
    const std::vector<double> weights{1.0, 1.0, -1.0};
    std::vector<double> out(40);
    const std::vector<const double*> small_first{one.data(), large.data(), large.data()};
    weighted_sum(small_first, weights, out);
    EXPECT_EQ(out, std::vector<double>(40, 0.0));
    const std::vector<const double*> small_last{large.data(), large.data(), one.data()};
    weighted_sum(small_last, std::vector<double>{1.0, -1.0, 1.0}, out);
    EXPECT_EQ(out, std::vector<double>(40, 1.0));
}

TEST(WeightedSum, RoundsEveryProduct) {
    // (1 + e)(1 - e) - 1 is -e^2 when fused and 0 when the product is rounded first.
    const double e = std::numeric_limits<double>::epsilon() / 2;
    const std::vector<double> minus_one(40, -1.0);
    const std::vector<double> below_one(40, 1.0 - e);
    const std::vector<const double*> columns{minus_one.data(), below_one.data()};
    on_every_level([&] {
        std::vector<double> out(40);
        weighted_sum(columns, std::vector<double>{1.0, 1.0 + 2 * e}, out);
        volatile double product = (1.0 + 2 * e) * (1.0 - e);
        for (const double value : out) EXPECT_EQ(value, product - 1.0);
    });
}

TEST(WeightedSum, RefusesAnotherNumberOfWeightsThanColumns) {
    const std::vector<double> column(4, 1.0);
    const std::vector<const double*> columns{column.data()};
    std::vector<double> out(4);
    EXPECT_THROW(weighted_sum(columns, std::vector<double>{1.0, 2.0}, out), Error);
    EXPECT_THROW(weighted_sum({}, std::vector<double>{1.0}, out), Error);
}

}  // namespace
}  // namespace sotto
