#include "audit/ranking_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

VectorXd normals(Index count, double mean, std::uint64_t seed) {
    SeededRandom random(seed, "ranking statistics test");
    VectorXd result(count);
    for (double& value : result) value = mean + random.normal();
    return result;
}

TEST(RankingStatistics, AucIsTheShareOfPairsInOrder) {
    VectorXd positive(4), negative(5);
    positive << 3, 1, 2, 2;
    negative << 0, 2, 1, 5, -1;
    double pairs = 0;
    for (const double p : positive)
        for (const double n : negative) pairs += p > n ? 1 : p == n ? 0.5 : 0;
    EXPECT_DOUBLE_EQ(measure_ranking(positive, negative, 0.9).auc, pairs / 20);
}

TEST(RankingStatistics, TellsNormalsApartAsOftenAsTheoryHasIt) {
    // N(m, 1) exceeds N(0, 1) with probability Phi(m / sqrt 2); the best threshold gains 2 Phi(m /
    // 2) - 1.
    constexpr double mean = 1;
    const double auc = 0.5 * std::erfc(-mean / 2);
    const double advantage = std::erf(mean / 2 / std::sqrt(2));
    const RankingFigures figures =
        measure_ranking(normals(40000, mean, 1), normals(40000, 0, 2), 0.99);
    EXPECT_LT(figures.lower, auc);
    EXPECT_GT(figures.upper, auc);
    EXPECT_LT(figures.upper - figures.lower, 0.02);
    // Five standard errors of two rates of 20000 cases, and what a threshold near the best loses.
    EXPECT_NEAR(figures.advantage, advantage, 5 * std::sqrt(0.5 / 20000) + 0.005);
}

TEST(RankingStatistics, IntervalsHoldAsOftenAsTheySay) {
    constexpr int repetitions = 1000;
    const double auc = 0.5 * std::erfc(-0.5 / 2);
    int missed = 0;
    for (std::uint64_t i = 0; i < repetitions; ++i) {
        const RankingFigures figures =
            measure_ranking(normals(150, 0.5, 2 * i + 10), normals(120, 0, 2 * i + 11), 0.9);
        missed += auc < figures.lower || auc > figures.upper ? 1 : 0;
    }
    // 10%, five standard errors.
    EXPECT_NEAR(missed, 100, 5 * std::sqrt(repetitions * 0.1 * 0.9));
}

TEST(RankingStatistics, GainNothingFromScoresThatSayNothing) {
    const RankingFigures figures = measure_ranking(normals(4000, 0, 3), normals(4000, 0, 4), 0.99);
    EXPECT_LT(figures.lower, 0.5);
    EXPECT_GT(figures.upper, 0.5);
    EXPECT_NEAR(figures.advantage, 0, 5 * std::sqrt(0.5 / 2000));
    const VectorXd equal = VectorXd::Ones(10);
    EXPECT_EQ(measure_ranking(equal, equal, 0.99).auc, 0.5);
    EXPECT_EQ(measure_ranking(equal, equal, 0.99).advantage, 0);
}

TEST(RankingStatistics, RefuseTooFewScores) {
    EXPECT_THROW((void)measure_ranking(normals(1, 0, 5), normals(9, 0, 6), 0.9), ConfigError);
    EXPECT_THROW((void)measure_ranking(normals(9, 0, 5), normals(9, 0, 6), 1), ConfigError);
}

}  // namespace
}  // namespace sotto
