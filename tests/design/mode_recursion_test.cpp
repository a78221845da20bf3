#include "design/mode_recursion.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/temporal_fixtures.hpp"
#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(ModeGains, AreTheUtilityOfTheFactorRoundByRound) {
    const MixingMatrix mixing = mixing_of(MixingRule::metropolis);
    const auto steps = falling_steps(15);
    SeededRandom random(3, "factor");
    MatrixXd band(15, 4), lagged(15, 2);
    for (Index t = 0; t < 15; ++t) {
        band.row(t) << 1 + random.uniform(), random.normal(), random.normal(), random.normal();
        lagged.row(t) << 1 + random.uniform(), random.normal();
    }
    for (const TemporalFactor& factor : {TemporalFactor{},
                                         TemporalFactor{TemporalFactor::Kind::banded, band},
                                         TemporalFactor{TemporalFactor::Kind::one_lag, lagged}})
        for (const int gossip : {1, 2}) {
            const MatrixXd inverse = factor.kind == TemporalFactor::Kind::identity
                                         ? MatrixXd(MatrixXd::Identity(15, 15))
                                         : MatrixXd(dense_factor(factor, 15).inverse());
            const MatrixXd wanted =
                spatial_utility(mixing, inverse * inverse.transpose(), steps, gossip);
            const MatrixXd found = spatial_utility(mixing, factor, steps, gossip);
            EXPECT_LT((found - wanted).norm(), 1e-11 * wanted.norm());
        }
}

TEST(ModeGains, AreTheVariancesOfTheRecursionWrittenOut) {
    // y(t) = sum_s lambda^(t-s+1) eta_s v(s), v = C_time^-1 z with independent z.
    constexpr Index rounds = 11;
    const auto steps = falling_steps(rounds);
    SeededRandom random(5, "factor");
    MatrixXd band(rounds, 3), lagged(rounds, 2);
    for (Index t = 0; t < rounds; ++t) {
        band.row(t) << 1 + random.uniform(), random.normal(), random.normal();
        lagged.row(t) << 1 + random.uniform(), random.normal();
    }
    const VectorXd values = (VectorXd(4) << 1, 0.6, 0, -0.4).finished();
    for (const TemporalFactor& factor : {TemporalFactor{},
                                         TemporalFactor{TemporalFactor::Kind::banded, band},
                                         TemporalFactor{TemporalFactor::Kind::one_lag, lagged}}) {
        const MatrixXd inverse = factor.kind == TemporalFactor::Kind::identity
                                     ? MatrixXd(MatrixXd::Identity(rounds, rounds))
                                     : MatrixXd(dense_factor(factor, rounds).inverse());
        const VectorXd found = mode_gains(lagged_noise(factor, rounds, 3), values, steps);
        for (Index i = 0; i < values.size(); ++i) {
            double expected = 0;
            VectorXd state = VectorXd::Zero(rounds);  // coefficients of z
            for (Index t = 0; t < rounds; ++t) {
                state = values(i) *
                        (state + steps[static_cast<std::size_t>(t)] * inverse.row(t).transpose());
                expected += state.squaredNorm();
            }
            EXPECT_NEAR(found(i), expected, 1e-11 * (1 + expected)) << "mode " << i;
        }
    }
}

}  // namespace
}  // namespace sotto
