#include "training/choice_draws.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "config/run_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr double false_alarm = 1e-6;

/// Largest sum of squares over expectations that chance explains.
double largest_chi_squared(std::size_t cells) {
    const boost::math::chi_squared distribution(static_cast<double>(cells - 1));
    return boost::math::quantile(boost::math::complement(distribution, false_alarm));
}

double chi_squared(const std::vector<double>& seen, const std::vector<double>& expected) {
    double sum = 0;
    for (std::size_t k = 0; k < seen.size(); ++k)
        sum += (seen[k] - expected[k]) * (seen[k] - expected[k]) / expected[k];
    return sum;
}

/// P(k) = (1 - g)^k / (g^-eta - 1) prod_{l < k} (l + eta) / (l + 1), written out again.
std::vector<double> probabilities(double g, double shape, std::size_t most) {
    std::vector<double> result(most + 1, 0);
    double product = 1;
    for (std::size_t k = 1; k <= most; ++k) {
        product *= (static_cast<double>(k - 1) + shape) / static_cast<double>(k);
        result[k] = std::pow(1 - g, static_cast<double>(k)) / (std::pow(g, -shape) - 1) * product;
    }
    return result;
}

struct Drawn {
    std::vector<double> counts;          ///< by number of trainings, the last cell for more
    std::vector<double> configurations;  ///< by number
    double trainings = 0;
};

/// From the operating system's generator, as a sweep draws.
Drawn draw_often(const TrainingCount& count, std::size_t configurations, long choices) {
    constexpr std::size_t cells = 30;
    Drawn drawn{std::vector<double>(cells + 1, 0), std::vector<double>(configurations, 0), 0};
    for (long c = 0; c < choices; ++c) {
        const std::vector<std::size_t> one = draw_configurations(count, configurations);
        ++drawn.counts[std::min(one.size(), cells + 1) - 1];
        for (const std::size_t configuration : one) ++drawn.configurations.at(configuration);
        drawn.trainings += static_cast<double>(one.size());
    }
    return drawn;
}

/// Statistics of what a sweep draws against its distribution, for this g.
double of_counts(const Drawn& drawn, double g, double shape, long choices) {
    const std::vector<double> exact = probabilities(g, shape, drawn.counts.size() - 1);
    std::vector<double> expected;
    double left = 1;
    for (std::size_t k = 1; k < exact.size(); ++k) {
        expected.push_back(static_cast<double>(choices) * exact[k]);
        left -= exact[k];
    }
    expected.push_back(static_cast<double>(choices) * left);
    return chi_squared(drawn.counts, expected);
}

TEST(ChoiceDraws, OfTheRealGeneratorHaveTheAccountedDistribution) {
    constexpr long choices = 40000;
    for (const double shape : {1.0, 0.5, 3.0}) {
        const TrainingCount count{8, shape};
        const Drawn drawn = draw_often(count, 5, choices);
        const double most = largest_chi_squared(drawn.counts.size());
        EXPECT_LT(of_counts(drawn, stop_parameter(count), shape, choices), most) << shape;
        // The test sees a tenth more or less.
        for (const double mean : {7.2, 8.8})
            EXPECT_GT(of_counts(drawn, stop_parameter({mean, shape}), shape, choices), most)
                << shape;
        const std::vector<double> even(5, drawn.trainings / 5);
        EXPECT_LT(chi_squared(drawn.configurations, even), largest_chi_squared(5)) << shape;
    }
}

TEST(ChoiceDraws, UseEveryBitOfTheirSourceOnce) {
    // Equal bits: the least number of trainings, and always the first configuration.
    const RandomBits zeros = [] { return std::uint64_t{0}; };
    EXPECT_EQ(draw_configurations({8, 1}, 3, zeros), std::vector<std::size_t>{0});
    std::uint64_t calls = 0;
    const RandomBits counted = [&]() -> std::uint64_t { return ++calls << 62; };
    const auto drawn = draw_configurations({8, 1}, 4, counted);
    EXPECT_EQ(calls, drawn.size() + 1);
}

TEST(ChoiceDraws, DrawAgainWhatWouldFavourTheFirstConfigurations) {
    // 2^64 - 1 is in no complete round of 3 numbers.
    std::vector<std::uint64_t> values{0, std::numeric_limits<std::uint64_t>::max(), 2};
    std::size_t next = 0;
    const auto drawn = draw_configurations({8, 1}, 3, [&] { return values.at(next++); });
    EXPECT_EQ(drawn, std::vector<std::size_t>{2});
}

TEST(ChoiceDraws, AreTheSecretOfEveryCall) {
    EXPECT_NE(secret_bits(), secret_bits());
    EXPECT_EQ(draw_configurations({1, 1}, 2).size(), 1U);
    EXPECT_THROW((void)draw_configurations({8, 1}, 0), ConfigError);
}

}  // namespace
}  // namespace sotto
