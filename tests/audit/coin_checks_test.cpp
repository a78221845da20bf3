#include "audit/coin_checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Rounds of which two modes show sums, with orthogonal columns.
Eigen::SparseMatrix<double> two_modes() {
    MatrixXd response(3, 2);
    response << 1, 2, 2, -1, 0.5, 0;
    return response.sparseView();
}

/// Expectation of f(z - mean) over all coins of one record, z less its noise.
template <class Function>
double expected(const Eigen::SparseMatrix<double>& response,
                double contribution,
                double q,
                const VectorXd& mean,
                Function&& function) {
    const MatrixXd dense(response);
    double sum = 0;
    for (int coins = 0; coins < 8; ++coins) {
        VectorXd drawn(3);
        double probability = 1;
        for (int t = 0; t < 3; ++t) {
            drawn(t) = (coins >> t) & 1;
            probability *= drawn(t) > 0 ? q : 1 - q;
        }
        sum += probability * function(VectorXd(contribution * dense.transpose() * drawn - mean));
    }
    return sum;
}

TEST(CoinModel, HasTheMomentsOfAllCoins) {
    const auto response = two_modes();
    const double contribution = 0.7, q = 0.3;
    const CoinModel model(response, contribution, q, 1);
    const auto over = [&](auto&& function) {
        return expected(response, contribution, q, model.mean(), function);
    };
    for (Index k = 0; k < 2; ++k) {
        EXPECT_NEAR(over([&](const VectorXd& z) { return z(k); }), 0, 1e-12);
        EXPECT_NEAR(
            model.variance()(k), 1 + over([&](const VectorXd& z) { return z(k) * z(k); }), 1e-12);
    }
    // Noise n is normal: E (z + n)^4 = E z^4 + 6 E z^2 + 3.
    const VectorXd weights = VectorXd{{0.4, 1.1}};
    const double length = weights.squaredNorm();
    const double second = over([&](const VectorXd& z) { return std::pow(weights.dot(z), 2); });
    const double fourth = over([&](const VectorXd& z) { return std::pow(weights.dot(z), 4); });
    EXPECT_NEAR(model.variance_of_square(weights),
                fourth + 6 * length * second + 3 * length * length - std::pow(second + length, 2),
                1e-12);
    // sum_k w_k (z_k + n_k)^2: variances of z part, of cross terms and of noise.
    const auto squares = [&](const VectorXd& z) { return weights.dot(z.cwiseAbs2()); };
    const double mean = over(squares);
    const double variance = over([&](const VectorXd& z) { return std::pow(squares(z) - mean, 2); });
    const double cross =
        4 * over([&](const VectorXd& z) { return z.cwiseProduct(weights).squaredNorm(); });
    // Columns of the response are orthogonal, which the formula counts on.
    EXPECT_NEAR(model.variance_of_squares(weights), variance + cross + 2 * length, 1e-12);
}

TEST(CoinModel, OfManyRecordsAddsThemUp) {
    const auto response = two_modes();
    const CoinModel one(response, 0.7, 0.3, 1), many(response, 0.7, 0.3, 9);
    EXPECT_NEAR((many.mean() - 9 * one.mean()).norm(), 0, 1e-12);
    EXPECT_NEAR(
        (many.variance() - VectorXd::Ones(2) - 9 * (one.variance() - VectorXd::Ones(2))).norm(),
        0,
        1e-12);
}

TEST(CheckOfMean, IsANormalTest) {
    const CoinCheck check = check_of_mean("a", 20 + 1.959963985 * 3, 20, 9, 10);
    EXPECT_NEAR(check.p_value, 0.05, 1e-8);
    EXPECT_NEAR(check.expected, 2, 1e-12);
    EXPECT_NEAR(check.standard_error, 0.3, 1e-12);
}

TEST(CheckOfSquares, IsChiSquaredForNormalValues) {
    // 10 values of variance 4: the upper 2.5% of chi-squared with 10 degrees of freedom is 20.483.
    const CoinCheck check = check_of_squares("b", 4 * 20.4831773, 40, 2 * 10 * 16);
    EXPECT_NEAR(check.p_value, 0.05, 1e-6);
    EXPECT_NEAR(check.measured, 2.04831773, 1e-6);
    EXPECT_EQ(check.expected, 1);
}

/// Modes that are rounds, of canaries and companions with coins of this probability.
struct Simulated {
    ContributionModes modes;
    CoinSubject subject;
    KnownCoins own;

    Simulated(double q, double accounted, std::uint64_t seed) {
        constexpr Index rounds = 40, trials = 400;
        SeededRandom random(seed, "coin checks");
        subject = {.signs = VectorXd(trials),
                   .companions = 300,
                   .contribution = 0.5,
                   .probability = accounted,
                   .known = {}};
        modes.by_round = true;
        modes.response.resize(rounds, rounds);
        for (Index t = 0; t < rounds; ++t) modes.response.insert(t, t) = 1.5;
        modes.values.resize(rounds, trials + 1);
        for (double& z : modes.values.reshaped()) z = random.normal();
        own = {"its own coins", MatrixXd::Zero(rounds, trials)};
        for (Index i = 0; i <= trials; ++i) {
            if (i < trials) subject.signs(i) = random.below(2) == 0 ? -1 : 1;
            for (Index t = 0; t < rounds; ++t)
                for (int record = 0; record < (i < trials ? 1 : 300); ++record) {
                    if (random.uniform() >= q) continue;
                    if (i < trials) own.drawn(t, i) = 1;
                    if (i == trials || subject.signs(i) > 0) modes.values(t, i) += 0.75;
                }
        }
    }
    [[nodiscard]] double smallest_p() const {
        return std::ranges::min_element(checks(), {}, &CoinCheck::p_value)->p_value;
    }
    [[nodiscard]] const std::vector<CoinCheck>& checks() const {
        checks_ = check_coins(modes, subject);
        return checks_;
    }

  private:
    mutable std::vector<CoinCheck> checks_;
};

TEST(CheckCoins, PassesIndependentCoins) {
    // The smallest of 8 p-values is below .01 in one run of 12.
    int small = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed)
        small += Simulated(0.2, 0.2, seed).smallest_p() < 0.01 ? 1 : 0;
    EXPECT_LE(small, 12);
}

TEST(CheckCoins, MeasuresTheProbabilityThatRan) {
    const Simulated simulated(0.3, 0.15, 3);
    EXPECT_NEAR(simulated.checks().front().measured, 0.3, 0.03);
    EXPECT_EQ(simulated.checks().front().expected, 0.15);
    EXPECT_LT(simulated.checks().front().p_value, 1e-10);
}

TEST(CheckCoins, SaysHowMuchOfTheCoinsIsKnown) {
    Simulated simulated(0.2, 0.2, 5);
    const Simulated other(0.2, 0.2, 6);
    simulated.subject.known = {simulated.own, other.own};
    const auto checks = simulated.checks();
    const CoinCheck &same = checks[checks.size() - 2], &different = checks.back();
    EXPECT_EQ(same.name, "its own coins");
    EXPECT_NEAR(same.measured, 1, 4 * same.standard_error);
    EXPECT_LT(same.p_value, 1e-10);
    EXPECT_GT(different.p_value, 1e-4);
}

TEST(CheckCoins, NeedsACoordinateOfCompanions) {
    Simulated simulated(0.2, 0.2, 5);
    simulated.modes.values.conservativeResize(Eigen::NoChange, 400);
    EXPECT_THROW((void)simulated.checks(), ConfigError);
}

}  // namespace
}  // namespace sotto
