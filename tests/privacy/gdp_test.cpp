#include "sotto/privacy/gdp.hpp"

#include <gtest/gtest.h>

#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <vector>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

using test::relatively_near;

const std::vector<double> gaussian_epsilons{1e-3, 1e-2, 0.1, 0.5, 1, 3, 10, 30, 100, 300, 1e3};
const std::vector<double> gaussian_deltas{1e-12, 1e-9, 1e-6, 1e-5, 1e-3, 0.1, 0.5, 0.9};

/// delta = int (p - e^epsilon q)^+ for p = N(mu, 1), q = N(0, 1). From the point where the two are
/// equal on, the integrand is phi(c + y) (1 - e^(-mu y)), c = epsilon/mu - mu/2: nothing cancels.
double integrated_delta(double mu, double epsilon) {
    const long double m = mu;
    const long double c = epsilon / m - m / 2;
    const auto integrand = [&](long double y) {
        const long double x = c + y;
        return std::exp(-x * x / 2) * -std::expm1(-m * y);
    };
    constexpr long double width = 0.125L;
    const long double start = std::max(0.0L, -c - 40);
    long double sum = 0;
    for (long double a = start; a < std::max(0.0L, -c) + 40; a += width)
        sum += boost::math::quadrature::gauss<long double, 20>::integrate(integrand, a, a + width);
    return static_cast<double>(sum / std::sqrt(2 * std::numbers::pi_v<long double>));
}

TEST(GdpDelta, IsTheIntegralThatDefinesIt) {
    for (const double epsilon : gaussian_epsilons)
        for (const double mu :
             {1e-3, 0.01, 0.1, 0.3, 1.0, 2.0, 3.7, 5.0, 10.0, 20.0, 38.0, 41.0, 44.0, 60.0}) {
            const double expected = integrated_delta(mu, epsilon);
            if (expected < 1e-14) continue;  // beyond what anybody asks for
            EXPECT_TRUE(relatively_near(gdp_delta(mu, epsilon), expected, 1e-11))
                << "mu " << mu << ", epsilon " << epsilon;
        }
}

TEST(GdpDelta, HasNoStepWhereItsFormulaChanges) {
    // The tail of the normal distribution is evaluated in another way beyond 35 deviations: at
    // epsilon/mu + mu/2 = 35.
    for (const double mu : {28.0, 30.0, 33.0}) {
        const double epsilon = mu * (35 - mu / 2);
        for (const double shift : {-1e-9, 0.0, 1e-9})
            EXPECT_TRUE(relatively_near(gdp_delta(mu, epsilon * (1 + shift)),
                                        integrated_delta(mu, epsilon * (1 + shift)),
                                        1e-11))
                << mu;
    }
}

TEST(GdpDelta, HasItsKnownValuesAtTheEnds) {
    EXPECT_EQ(gdp_delta(0, 0), 0.0);
    EXPECT_EQ(gdp_delta(0, 5), 0.0);
    EXPECT_EQ(gdp_delta(infinity, 5), 1.0);
    // delta(0) = 2 Phi(mu/2) - 1.
    for (const double mu : {0.01, 0.5, 1.0, 4.0})
        EXPECT_NEAR(gdp_delta(mu, 0), std::erf(mu / 2 / std::numbers::sqrt2), 1e-15);
}

TEST(GdpDelta, RisesWithMuAndFallsWithEpsilon) {
    for (const double epsilon : gaussian_epsilons) {
        double before = 0;
        for (double mu = 0.02; mu < 60; mu *= 1.3) {
            const double delta = gdp_delta(mu, epsilon);
            EXPECT_GE(delta, before * (1 - 1e-14)) << mu << " " << epsilon;
            EXPECT_GE(delta, 0.0);
            EXPECT_LE(delta, 1.0);
            before = delta;
        }
    }
    for (double mu = 0.02; mu < 60; mu *= 1.3) {
        double before = 1;
        for (const double epsilon : gaussian_epsilons) {
            const double delta = gdp_delta(mu, epsilon);
            EXPECT_LE(delta, before * (1 + 1e-14)) << mu << " " << epsilon;
            before = delta;
        }
    }
}

TEST(GdpMu, MeetsItsEpsilonAndDeltaExactly) {
    for (const double epsilon : gaussian_epsilons)
        for (const double delta : gaussian_deltas) {
            SCOPED_TRACE(testing::Message() << "epsilon " << epsilon << ", delta " << delta);
            const double mu = gdp_mu(epsilon, delta);
            ASSERT_TRUE(mu > 0 && std::isfinite(mu));
            EXPECT_TRUE(relatively_near(gdp_delta(mu, epsilon), delta, 1e-10));
            EXPECT_TRUE(relatively_near(integrated_delta(mu, epsilon), delta, 1e-10));
            // Where delta is large epsilon is badly conditioned: a last bit of delta moves it by
            // delta / |d delta / d epsilon|.
            if (delta < 0.01) {
                EXPECT_TRUE(relatively_near(gdp_epsilon(mu, delta), epsilon, 1e-9));
            }
        }
}

TEST(GdpEpsilon, GivesBackTheMuItCameFrom) {
    for (double mu = 1e-3; mu < 40; mu *= 1.7)
        for (const double delta : {1e-12, 1e-9, 1e-5, 1e-3}) {
            const double epsilon = gdp_epsilon(mu, delta);
            if (epsilon < 1e-3 || epsilon > 1e3) continue;
            EXPECT_TRUE(relatively_near(gdp_mu(epsilon, delta), mu, 1e-9))
                << "mu " << mu << ", delta " << delta;
        }
}

TEST(GdpEpsilon, IsZeroWhereDeltaAloneCoversTheLoss) {
    EXPECT_EQ(gdp_epsilon(0, 1e-5), 0.0);
    EXPECT_EQ(gdp_epsilon(1e-6, 1e-5), 0.0);
    EXPECT_EQ(gdp_epsilon(1, 0.5), 0.0);
    // delta(0) of mu = 1 is erf(1/sqrt 8) = 0.3829...
    EXPECT_EQ(gdp_epsilon(1, 0.38293), 0.0);
    EXPECT_GT(gdp_epsilon(1, 0.38292), 0.0);
}

TEST(GdpEpsilon, OfNoNoiseIsInfinite) { EXPECT_EQ(gdp_epsilon(infinity, 1e-5), infinity); }

TEST(GdpEpsilon, RisesWithMuAndFallsWithDelta) {
    for (const double delta : gaussian_deltas) {
        double before = -1;
        for (double mu = 1e-3; mu < 60; mu *= 1.2) {
            const double epsilon = gdp_epsilon(mu, delta);
            EXPECT_TRUE(epsilon > before || epsilon == 0) << mu << " " << delta;
            before = epsilon;
        }
    }
    for (double mu = 1e-3; mu < 60; mu *= 1.7) {
        double before = infinity;
        for (const double delta : gaussian_deltas) {
            const double epsilon = gdp_epsilon(mu, delta);
            EXPECT_TRUE(epsilon < before || epsilon == 0) << mu << " " << delta;
            before = epsilon;
        }
    }
}

TEST(RdpEpsilon, IsNeverBelowTheExactEpsilon) {
    for (double mu = 1e-3; mu < 60; mu *= 1.2)
        for (const double delta : gaussian_deltas)
            EXPECT_GE(rdp_epsilon(mu, delta), gdp_epsilon(mu, delta)) << mu << " " << delta;
    EXPECT_EQ(rdp_epsilon(0, 1e-5), 0.0);
}

TEST(RdpMu, InvertsRdpEpsilonAndNeedsMoreNoiseThanTheExactCurve) {
    for (const double epsilon : gaussian_epsilons)
        for (const double delta : gaussian_deltas) {
            const double mu = rdp_mu(epsilon, delta);
            EXPECT_TRUE(relatively_near(rdp_epsilon(mu, delta), epsilon, 1e-13));
            EXPECT_LT(mu, gdp_mu(epsilon, delta)) << epsilon << " " << delta;
        }
}

TEST(Gdp, AgreesWithTheIndependentFigures) {
    std::ifstream file(SOTTO_SOURCE_DIR "/tests/golden/calibration.json");
    const auto rows = nlohmann::json::parse(file)["rows"];
    ASSERT_EQ(rows.size(), 22U);
    for (const auto& row : rows) {
        const double epsilon = row["epsilon"], delta = row["delta"];
        SCOPED_TRACE(row.dump());
        const double mu_exact = gdp_mu(epsilon, delta);
        const double mu_paper = paper_mu(epsilon, delta);
        EXPECT_TRUE(relatively_near(mu_exact, row["mu_exact"], 1e-9));
        EXPECT_TRUE(relatively_near(rdp_mu(epsilon, delta), row["mu_rdp"], 1e-9));
        EXPECT_TRUE(relatively_near(mu_paper, row["mu_paper"], 1e-9));
        EXPECT_TRUE(
            relatively_near(gdp_epsilon(mu_paper, delta), row["epsilon_of_mu_paper"], 1e-9));
        EXPECT_TRUE(
            relatively_near(rdp_epsilon(mu_exact, delta), row["epsilon_rdp_of_mu_exact"], 1e-9));
    }
}

TEST(Gdp, RefusesArgumentsOutOfRange) {
    for (const double delta : {0.0, 1.0, -1e-5, 1.5, not_a_number, infinity, -infinity}) {
        EXPECT_THROW((void)gdp_epsilon(1, delta), ConfigError) << delta;
        EXPECT_THROW((void)gdp_mu(1, delta), ConfigError) << delta;
        EXPECT_THROW((void)rdp_epsilon(1, delta), ConfigError) << delta;
        EXPECT_THROW((void)rdp_mu(1, delta), ConfigError) << delta;
        EXPECT_THROW((void)paper_mu(1, delta), ConfigError) << delta;
    }
    for (const double mu : {-1e-300, -1.0, not_a_number, -infinity}) {
        EXPECT_THROW((void)gdp_delta(mu, 1), ConfigError) << mu;
        EXPECT_THROW((void)gdp_epsilon(mu, 1e-5), ConfigError) << mu;
        EXPECT_THROW((void)rdp_epsilon(mu, 1e-5), ConfigError) << mu;
    }
    for (const double epsilon : {-1e-300, -1.0, not_a_number, infinity}) {
        EXPECT_THROW((void)gdp_delta(1, epsilon), ConfigError) << epsilon;
        EXPECT_THROW((void)gdp_mu(epsilon, 1e-5), ConfigError) << epsilon;
        EXPECT_THROW((void)rdp_mu(epsilon, 1e-5), ConfigError) << epsilon;
        EXPECT_THROW((void)paper_mu(epsilon, 1e-5), ConfigError) << epsilon;
    }
}

TEST(Gdp, SavesTheVarianceThatTheEquationsPromise) {
    // docs/equations.md: at epsilon 10, delta 1e-5 exact needs 1.84 times less variance than paper
    // and 1.29 times less than rdp.
    const double exact = gdp_mu(10, 1e-5);
    EXPECT_NEAR(std::pow(exact / paper_mu(10, 1e-5), 2), 1.84, 0.005);
    EXPECT_NEAR(std::pow(exact / rdp_mu(10, 1e-5), 2), 1.29, 0.005);
}

TEST(Gdp, HasNoEdgeWhereSearchesFail) {
    for (const double mu : {1e-29, 1e-10, 1e-3, 1.0, 1e3, 1e10, 1e50, 1e150})
        for (const double delta : {1e-30, 1e-5, 0.3}) {
            const double epsilon = gdp_epsilon(mu, delta);
            EXPECT_GE(epsilon, 0);
            EXPECT_LE(epsilon, rdp_epsilon(mu, delta));
            if (epsilon > 0) {
                EXPECT_NEAR(gdp_mu(epsilon, delta), mu, 1e-9 * mu) << mu << ' ' << delta;
            }
        }
    EXPECT_EQ(gdp_epsilon(1e200, 1e-5), infinity);
    EXPECT_NEAR(gdp_mu(1e100, 1e-5) / std::sqrt(2e100), 1, 1e-12);
    EXPECT_NEAR(gdp_mu(1e-300, 1e-5), 2.5066282747e-5, 1e-14);
}

}  // namespace
}  // namespace sotto
