#include "plan/lagged_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr long rounds = 9;

struct Case {
    std::string name;
    TemporalFactor factor;
};

/// A factor of every kind, of more rounds than are asked for.
std::vector<Case> cases() {
    constexpr Eigen::Index all = rounds + 2;
    const auto entry = [](Eigen::Index t, Eigen::Index s) {
        return 0.3 * std::sin(static_cast<double>(3 * t + 7 * s));
    };
    std::vector<Case> result;
    TemporalFactor dense{TemporalFactor::Kind::dense, Eigen::MatrixXd::Zero(all, all)};
    for (Eigen::Index t = 0; t < all; ++t) {
        for (Eigen::Index s = 0; s < t; ++s) dense.lower(t, s) = entry(t, s);
        dense.lower(t, t) = 1 + 0.1 * static_cast<double>(t);
    }
    result.push_back({"dense", dense});
    for (const Eigen::Index bands : {1, 3}) {
        TemporalFactor banded{TemporalFactor::Kind::banded, Eigen::MatrixXd(all, bands)};
        for (Eigen::Index t = 0; t < all; ++t)
            for (Eigen::Index b = 0; b < bands; ++b)
                banded.lower(t, b) = b == 0 ? 1.5 + entry(t, b) : entry(t, b);
        result.push_back({std::to_string(bands) + " bands", banded});
    }
    TemporalFactor one_lag{TemporalFactor::Kind::one_lag, Eigen::MatrixXd(all, 2)};
    for (Eigen::Index t = 0; t < all; ++t) one_lag.lower.row(t) << 1.2 + entry(t, 0), entry(t, 1);
    result.push_back({"one lag", one_lag});
    return result;
}

Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& lower) {
    return lower.triangularView<Eigen::Lower>().solve(
        Eigen::MatrixXd::Identity(lower.rows(), lower.cols()));
}

TEST(DenseFactor, IsWhatItsKindSays) {
    for (const auto& [name, factor] : cases()) {
        const Eigen::MatrixXd dense = dense_factor(factor, rounds);
        ASSERT_EQ(dense.rows(), rounds) << name;
        EXPECT_TRUE(dense.isLowerTriangular(0.0)) << name;
        const Eigen::MatrixXd inverse = inverse_of(dense);
        for (Eigen::Index t = 0; t < rounds; ++t)
            for (Eigen::Index s = 0; s <= t; ++s) {
                const Eigen::Index lag = t - s;
                if (factor.kind == TemporalFactor::Kind::dense)
                    EXPECT_EQ(dense(t, s), factor.lower(t, s));
                else if (factor.kind == TemporalFactor::Kind::banded)
                    EXPECT_EQ(dense(t, s), lag < factor.lower.cols() ? factor.lower(t, lag) : 0.0);
                else
                    EXPECT_NEAR(inverse(t, s), lag < 2 ? factor.lower(t, lag) : 0.0, 1e-13);
            }
        EXPECT_THROW((void)dense_factor(factor, rounds + 3), PrivacyError) << name;
    }
}

TEST(RoundPrecisions, AreTheDiagonalOfTheGramMatrix) {
    for (const auto& [name, factor] : cases()) {
        const Eigen::MatrixXd dense = dense_factor(factor, rounds);
        const Eigen::VectorXd wanted = (dense.transpose() * dense).diagonal();
        EXPECT_LE((round_precisions(factor, rounds) - wanted).cwiseAbs().maxCoeff(), 1e-12) << name;
        EXPECT_EQ(largest_round_precision(factor),
                  round_precisions(factor, factor.lower.rows()).maxCoeff());
        EXPECT_THROW((void)round_precisions(factor, rounds + 3), PrivacyError) << name;
    }
    EXPECT_EQ(round_precisions({}, 4), Eigen::VectorXd::Ones(4));
    EXPECT_EQ(largest_round_precision({}), 1);
}

/// C_time^-1 from what follows of one round from fresh and past values.
Eigen::MatrixXd matrix_of(const LaggedNoise& noise) {
    Eigen::MatrixXd result = Eigen::MatrixXd::Zero(rounds, rounds);
    for (Eigen::Index t = 0; t < rounds; ++t) {
        result(t, t) = noise.fresh(t);
        for (Eigen::Index j = 1; j <= std::min<Eigen::Index>(noise.lags, t); ++j)
            if (noise.remembers_noise)
                result.row(t) += noise.past(t, j - 1) * result.row(t - j);
            else
                result(t, t - j) += noise.past(t, j - 1);
    }
    return result;
}

TEST(LaggedNoiseOf, AFactorIsItsInverseByTheShorterWay) {
    for (const auto& [name, factor] : cases()) {
        const LaggedNoise noise = lagged_noise(factor, rounds, static_cast<int>(rounds));
        const Eigen::MatrixXd inverse = inverse_of(dense_factor(factor, rounds));
        EXPECT_LE((matrix_of(noise) - inverse).cwiseAbs().maxCoeff(),
                  1e-12 * inverse.cwiseAbs().maxCoeff())
            << name;
        if (factor.kind == TemporalFactor::Kind::banded) {
            EXPECT_EQ(noise.lags, factor.lower.cols() - 1) << name;
            EXPECT_TRUE(noise.remembers_noise) << name;
        }
        if (factor.kind == TemporalFactor::Kind::one_lag) {
            EXPECT_EQ(noise.lags, 1) << name;
            EXPECT_FALSE(noise.remembers_noise) << name;
        }
        if (noise.lags > 0) {
            EXPECT_EQ(lagged_noise(factor, rounds, noise.lags - 1).lags, -1) << name;
        }
    }
}

TEST(LaggedNoiseOf, ADenseMatrixWithABandIsFoundToHaveFewLags) {
    for (const auto& entry : cases()) {
        if (entry.factor.kind == TemporalFactor::Kind::dense) continue;
        const TemporalFactor written_out{TemporalFactor::Kind::dense,
                                         dense_factor(entry.factor, rounds)};
        const LaggedNoise noise = lagged_noise(written_out, rounds, 3);
        EXPECT_EQ(noise.lags, entry.factor.lower.cols() - 1) << entry.name;
        const Eigen::MatrixXd inverse = inverse_of(written_out.lower);
        EXPECT_LE((matrix_of(noise) - inverse).cwiseAbs().maxCoeff(), 1e-12) << entry.name;
    }
}

TEST(LaggedNoiseOf, IndependentRoundsIsFreshNoise) {
    const LaggedNoise noise = lagged_noise({}, rounds, 5);
    EXPECT_EQ(noise.lags, 0);
    EXPECT_EQ(noise.fresh, Eigen::VectorXd::Ones(rounds));
    EXPECT_EQ(noise.past.cols(), 0);
}

}  // namespace
}  // namespace sotto
