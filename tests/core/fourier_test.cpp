#include "core/fourier.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace sotto {
namespace {

std::vector<double> random_values(std::size_t length) {
    std::mt19937 bits(static_cast<unsigned>(length));
    std::vector<double> values(length);
    for (double& x : values) x = std::ldexp(static_cast<double>(bits()), -32) - 0.3;
    return values;
}

double norm(const std::vector<double>& values) {
    double sum = 0;
    for (const double x : values) sum += x * x;
    return std::sqrt(sum);
}

TEST(Fourier, IsTheSumThatDefinesItWithinATenthOfTheErrorThatIsClaimed) {
    for (const std::size_t n : {2U, 6U, 8U, 30U, 64U, 90U, 960U}) {
        const std::vector<double> x = random_values(n);
        const Spectrum spectrum = real_spectrum(x);
        ASSERT_EQ(spectrum.size(), n / 2 + 1);
        long double error = 0;
        for (std::size_t k = 0; k <= n / 2; ++k) {
            std::complex<long double> sum = 0;
            for (std::size_t j = 0; j < n; ++j) {
                const long double angle = -2 * std::numbers::pi_v<long double> *
                                          static_cast<long double>(j * k % n) /
                                          static_cast<long double>(n);
                sum += std::complex<long double>(std::cos(angle), std::sin(angle)) *
                       static_cast<long double>(x[j]);
            }
            error += 2 * std::norm(sum - std::complex<long double>(spectrum[k]));
        }
        const double whole = std::sqrt(static_cast<double>(n)) * norm(x);  // Parseval
        EXPECT_LT(std::sqrt(static_cast<double>(error)), 0.1 * transform_error(n) * whole) << n;
    }
}

TEST(Fourier, ComesBack) {
    for (const std::size_t n : {2U, 60U, 4096U, 61440U}) {
        const std::vector<double> x = random_values(n);
        std::vector<double> back = from_real_spectrum(real_spectrum(x));
        ASSERT_EQ(back.size(), n);
        for (std::size_t j = 0; j < n; ++j) back[j] -= x[j];
        EXPECT_LT(norm(back), 0.2 * transform_error(n) * norm(x)) << n;
    }
}

TEST(Fourier, HasLengthsThatAreEvenAndHaveNoFactorAboveFive) {
    for (std::size_t least = 1; least < 5000; least += 7) {
        std::size_t length = transform_length(least);
        EXPECT_GE(length, least);
        EXPECT_LE(length, std::max<std::size_t>(2, least + least / 3 + 2));
        EXPECT_EQ(length % 2, 0U);
        for (const std::size_t factor : {2U, 3U, 5U})
            while (length % factor == 0) length /= factor;
        EXPECT_EQ(length, 1U);
    }
}

}  // namespace
}  // namespace sotto
