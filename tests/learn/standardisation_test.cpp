#include "sotto/learn/standardisation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <variant>

#include "learn/reader_fixtures.hpp"
#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

using test::all_rows;
using test::features_of;

TEST(Standardised, TrainingRowsHaveMeanZeroAndDeviationOne) {
    SeededRandom random(5, "test");
    Dataset data;
    data.target = Target::value;
    RealRows table(200, 4);
    data.labels.resize(200);
    for (Eigen::Index i = 0; i < 200; ++i) {
        for (Eigen::Index k = 0; k < 3; ++k)
            table(i, k) = std::pow(10, k) * (random.normal() + 100);
        table(i, 3) = 5;  // constant
        data.labels[i] = 1e5 + 3 * random.normal();
    }
    data.dense = table;
    auto rows = all_rows(150);
    const Dataset result = standardised(data, standardisation_of(data, rows));
    const Eigen::MatrixXd train = features_of(result).leftCols(150);
    EXPECT_LE(train.rowwise().mean().cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LE((train.topRows(3).rowwise().squaredNorm().array() / 150 - 1).abs().maxCoeff(), 1e-12);
    EXPECT_LE(features_of(result).row(3).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_NEAR(result.labels.head(150).mean(), 0, 1e-10);
    EXPECT_NEAR(result.labels.head(150).squaredNorm() / 150, 1, 1e-12);
    // Other rows have no influence.
    const Standardisation before = standardisation_of(data, rows);
    std::get<RealRows>(*data.dense).bottomRows(50) *= 100;
    data.labels.tail(50) *= 100;
    EXPECT_EQ(standardisation_of(data, rows).feature_deviation, before.feature_deviation);
    EXPECT_EQ(standardisation_of(data, rows).target_mean, before.target_mean);
    data.target = Target::label;
    EXPECT_EQ(standardised(data, standardisation_of(data, rows)).labels, data.labels);
}

}  // namespace
}  // namespace sotto
