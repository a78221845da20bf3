#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "noise/stream_support.hpp"

// Statistics of more than ten million normals of fixed keys; every bound is five standard errors of
// the statistic under the standard normal distribution.

namespace sotto {
namespace {

using test::counting_stream;

constexpr std::size_t values_per_round = 65'536;
constexpr std::uint64_t rounds = 160;
constexpr double count = static_cast<double>(values_per_round) * static_cast<double>(rounds);
static_assert(count >= 1e7);

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

template <class Function>
void for_each_round(const NormalStream& stream, std::uint64_t how_many, Function&& f) {
    std::vector<double> z(values_per_round);
    for (std::uint64_t round = 0; round < how_many; ++round) {
        stream.fill(1, round, 0, z);
        f(z);
    }
}

TEST(NormalStatistics, MeanVarianceSkewnessAndKurtosisAreThoseOfANormal) {
    SCOPED_TRACE("key 00 01 ... 1f, epoch 1");
    std::array<double, 5> moment{};
    for_each_round(counting_stream(), rounds, [&](const std::vector<double>& z) {
        std::array<double, 5> sum{};
        for (const double x : z) {
            const double x2 = x * x;
            sum[1] += x, sum[2] += x2, sum[3] += x * x2, sum[4] += x2 * x2;
        }
        for (std::size_t k = 1; k < 5; ++k) moment[k] += sum[k] / count;
    });
    // Var z = 1, Var z^2 = 2, Var z^3 = 15, Var z^4 = 105 - 9.
    EXPECT_NEAR(moment[1], 0, 5 * std::sqrt(1 / count));
    EXPECT_NEAR(moment[2], 1, 5 * std::sqrt(2 / count));
    EXPECT_NEAR(moment[3], 0, 5 * std::sqrt(15 / count));
    EXPECT_NEAR(moment[4], 3, 5 * std::sqrt(96 / count));
}

TEST(NormalStatistics, AsManyValuesLieBeyondOneToFiveSigmaAsShould) {
    SCOPED_TRACE("key 07 08 ... 26, epoch 1");
    constexpr std::uint64_t many = 2 * rounds;
    const double total = static_cast<double>(values_per_round) * static_cast<double>(many);
    std::array<std::array<double, 6>, 2> beyond{};
    for_each_round(counting_stream(7), many, [&](const std::vector<double>& z) {
        std::array<std::array<int, 6>, 2> hits{};
        for (std::size_t k = 1; k <= 5; ++k)
            for (const double x : z) {
                hits[0][k] += x > static_cast<double>(k) ? 1 : 0;
                hits[1][k] += x < -static_cast<double>(k) ? 1 : 0;
            }
        for (std::size_t side = 0; side < 2; ++side)
            for (std::size_t k = 1; k <= 5; ++k) beyond[side][k] += hits[side][k];
    });
    for (std::size_t side = 0; side < 2; ++side)
        for (std::size_t k = 1; k <= 5; ++k) {
            const double p = normal_cdf(-static_cast<double>(k));
            EXPECT_NEAR(beyond[side][k], total * p, 5 * std::sqrt(total * p * (1 - p)))
                << k << " sigma, side " << side;
        }
}

TEST(NormalStatistics, TheirDistributionFunctionIsUniformByChiSquare) {
    SCOPED_TRACE("key 01 02 ... 20, epoch 1");
    constexpr std::size_t bins = 1000;
    std::vector<double> hits(bins);
    for_each_round(counting_stream(1), rounds, [&](const std::vector<double>& z) {
        for (const double x : z) {
            const auto bin = static_cast<std::size_t>(normal_cdf(x) * static_cast<double>(bins));
            hits[std::min(bin, bins - 1)] += 1;
        }
    });
    const double expected = count / static_cast<double>(bins);
    double chi_square = 0;
    for (const double h : hits) chi_square += (h - expected) * (h - expected) / expected;
    const double freedom = static_cast<double>(bins) - 1;
    EXPECT_NEAR(chi_square, freedom, 5 * std::sqrt(2 * freedom));
}

TEST(NormalStatistics, TheirDistributionFunctionIsUniformByKolmogorovSmirnov) {
    SCOPED_TRACE("key 02 03 ... 21, epoch 1");
    std::vector<double> all;
    for_each_round(counting_stream(2), rounds / 8, [&](const std::vector<double>& z) {
        all.insert(all.end(), z.begin(), z.end());
    });
    std::sort(all.begin(), all.end());
    const double n = static_cast<double>(all.size());
    double distance = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const double p = normal_cdf(all[i]);
        distance = std::max(
            {distance, p - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - p});
    }
    // P(sqrt(n) D > x) is about 2 exp(-2 x^2); five standard errors have probability 5.7e-7.
    EXPECT_LT(std::sqrt(n) * distance, std::sqrt(std::log(2 / 5.7e-7) / 2));
}

TEST(NormalStatistics, ValuesAndSquaresInOneStreamAreUncorrelatedAtEveryLagThatTheLayoutSuggests) {
    SCOPED_TRACE("key 03 04 ... 22, epoch 1");
    const std::array<std::size_t, 10> lags{1, 2, 4, 8, 16, 32, 63, 64, 128, 512};
    std::array<double, lags.size()> products{};
    std::array<double, lags.size()> square_products{};
    for_each_round(counting_stream(3), rounds, [&](const std::vector<double>& z) {
        for (std::size_t k = 0; k < lags.size(); ++k) {
            double product = 0;
            double square_product = 0;
            for (std::size_t i = 0; i < z.size(); ++i) {
                const double a = z[i];
                const double b = z[(i + lags[k]) % z.size()];
                product += a * b;
                square_product += (a * a - 1) * (b * b - 1);
            }
            products[k] += product / count;
            square_products[k] += square_product / count;
        }
    });
    // Terms of one lag are uncorrelated, of variance 1 and 2 * 2.
    for (std::size_t k = 0; k < lags.size(); ++k) {
        EXPECT_NEAR(products[k], 0, 5 / std::sqrt(count)) << "lag " << lags[k];
        EXPECT_NEAR(square_products[k], 0, 5 * 2 / std::sqrt(count)) << "lag " << lags[k];
    }
}

TEST(NormalStatistics, StreamsOfOtherKeysEpochsAndRoundsAreUncorrelated) {
    SCOPED_TRACE("keys 04 05 ... 23 and 05 06 ... 24");
    const auto stream = counting_stream(4);
    const auto other_key = counting_stream(5);
    std::vector<double> a(values_per_round);
    std::array<std::vector<double>, 4> b;
    for (auto& other : b) other.resize(values_per_round);
    std::array<double, 4> products{};
    for (std::uint64_t round = 0; round < rounds; ++round) {
        stream.fill(1, round, 0, a);
        other_key.fill(1, round, 0, b[0]);
        stream.fill(2, round, 0, b[1]);
        stream.fill(1, round + 1, 0, b[2]);
        stream.fill(1, round, values_per_round, b[3]);
        for (std::size_t k = 0; k < b.size(); ++k) {
            double sum = 0;
            for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[k][i];
            products[k] += sum / count;
        }
    }
    const std::array<const char*, 4> names{"key", "epoch", "round", "later coordinates"};
    for (std::size_t k = 0; k < b.size(); ++k)
        EXPECT_NEAR(products[k], 0, 5 / std::sqrt(count)) << names[k];
}

TEST(NormalStatistics, SuccessiveRoundsOfOneCoordinateAreUncorrelated) {
    SCOPED_TRACE("key 06 07 ... 25, epoch 1");
    const auto stream = counting_stream(6);
    constexpr std::size_t dimension = 128;
    constexpr std::uint64_t many = 80'000;
    std::vector<double> now(dimension);
    std::vector<double> before(dimension);
    stream.fill(1, 0, 0, before);
    double sum = 0;
    for (std::uint64_t round = 1; round <= many; ++round) {
        stream.fill(1, round, 0, now);
        for (std::size_t i = 0; i < dimension; ++i) sum += now[i] * before[i];
        std::swap(now, before);
    }
    const double terms = static_cast<double>(dimension) * static_cast<double>(many);
    EXPECT_NEAR(sum / terms, 0, 5 / std::sqrt(terms));
}

}  // namespace
}  // namespace sotto
