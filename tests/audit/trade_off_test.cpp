#include "audit/trade_off.hpp"

#include <gtest/gtest.h>

#include <array>
#include <boost/math/distributions/normal.hpp>

namespace sotto {
namespace {

TEST(TradeOff, OfAGaussianMechanismIsItsCurveFromAbove) {
    const boost::math::normal normal;
    for (const double mu : {0.5, 1.0, 3.0}) {
        const TradeOff trade_off(PrivacyLoss::gaussian(mu), 1e-5);
        for (const double rate : {0.01, 0.05, 0.1, 0.3}) {
            const double exact = boost::math::cdf(normal, boost::math::quantile(normal, rate) + mu);
            EXPECT_GE(trade_off.true_positive_rate(rate), exact - 1e-12) << mu << " " << rate;
            EXPECT_LE(trade_off.true_positive_rate(rate), exact + 0.02) << mu << " " << rate;
        }
    }
}

TEST(TradeOff, OfSampledRoundsLiesBetweenNothingAndTheRoundsWithoutSampling) {
    const std::array rounds{SampledRounds{2, 0.2, 50}};
    const TradeOff sampled(PrivacyLoss::sampled(rounds), 1e-5);
    const TradeOff always(PrivacyLoss::gaussian(std::sqrt(50.0) / 2), 1e-5);
    for (const double rate : {0.0, 0.01, 0.1, 0.5, 1.0}) {
        EXPECT_GE(sampled.true_positive_rate(rate), rate);
        EXPECT_LE(sampled.true_positive_rate(rate), always.true_positive_rate(rate) + 1e-9);
        EXPECT_LE(sampled.true_positive_rate(rate), 1);
    }
}

}  // namespace
}  // namespace sotto
