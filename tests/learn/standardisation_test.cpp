#include "learn/standardisation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <variant>
#include <vector>

#include "core/numbers.hpp"
#include "core/seeded_random.hpp"
#include "learn/reader_fixtures.hpp"

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
    const std::vector<bool> all(4, true);
    const Dataset result = standardised(data, standardisation_of(data, rows, all));
    const Eigen::MatrixXd train = features_of(result).leftCols(150);
    EXPECT_LE(train.rowwise().mean().cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LE((train.topRows(3).rowwise().squaredNorm().array() / 150 - 1).abs().maxCoeff(), 1e-12);
    EXPECT_LE(features_of(result).row(3).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_NEAR(result.labels.head(150).mean(), 0, 1e-10);
    EXPECT_NEAR(result.labels.head(150).squaredNorm() / 150, 1, 1e-12);
    // Other rows have no influence.
    const Standardisation before = standardisation_of(data, rows, all);
    std::get<RealRows>(*data.dense).bottomRows(50) *= 100;
    data.labels.tail(50) *= 100;
    EXPECT_EQ(standardisation_of(data, rows, all), before);
    data.target = Target::label;
    EXPECT_EQ(standardised(data, standardisation_of(data, rows, all)).labels, data.labels);
}

TEST(Standardised, LeavesOtherFeaturesAndPutsZeroForWhatIsMissing) {
    Dataset data;
    data.target = Target::value;
    RealRows table(4, 3);
    table << 1, 1, not_a_number, 3, 0, not_a_number, not_a_number, 1, not_a_number, 5, 0, 7;
    data.dense = table;
    data.labels = Eigen::Vector4d(1, 2, 3, 4);
    const auto rows = all_rows(3);  // of which the last column has no cell
    const Standardisation scaling = standardisation_of(data, rows, {true, false, true});
    EXPECT_EQ(scaling.features, (std::vector<ColumnScaling>{{.mean = 2, .deviation = 1}, {}, {}}));
    Eigen::MatrixXd wanted(3, 4);
    wanted << -1, 1, 0, 3, 1, 0, 1, 0, 0, 0, 0, 7;
    EXPECT_EQ(features_of(standardised(data, scaling)), wanted);
    Standardisation bounds = no_standardisation(3);
    bounds.features[0] = {.mean = 3, .deviation = 0.5, .low = 2.5, .high = 3.5};
    bounds.target = {.mean = 2, .deviation = 2, .low = 2, .high = 3};
    wanted << -1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 7;
    const Dataset cut = standardised(data, bounds);
    EXPECT_EQ(features_of(cut), wanted);
    EXPECT_EQ(cut.labels, Eigen::Vector4d(0, 0, 0.5, 0.5));
}

}  // namespace
}  // namespace sotto
