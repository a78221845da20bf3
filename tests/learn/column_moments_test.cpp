#include "learn/column_moments.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "learn/reader_fixtures.hpp"
#include "learn/record_objective.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

/// Four records of a number, a category and another number, and a value to predict.
Dataset scaled_records() {
    Dataset data;
    data.target = Target::value;
    RealRows table(4, 3);
    table << 1, 1, -1, 0.5, 0, 0, -0.25, 1, 0.125, 0, 0, 1;
    data.dense = table;
    data.labels = Eigen::Vector4d(-1, 0, 0.5, 1);
    return data;
}

constexpr double moments_grid = 0x1p-40;

Eigen::VectorXd clipped_moments(Objective& moments,
                                const std::vector<Eigen::Index>& rows,
                                double clip) {
    Eigen::VectorXd sum(moments.dimension());
    moments.clipped_gradient_sum(
        Eigen::VectorXd::Zero(moments.dimension()), rows, clip, moments_grid, sum);
    return sum;
}

TEST(ColumnMoments, AreTheSumsOfScaledColumnsAndTheirSquares) {
    const Dataset data = scaled_records();
    const auto moments = make_column_moments(data, {true, false, true});
    ASSERT_EQ(moments->dimension(), 6);
    EXPECT_EQ(moments->records(), 4);
    EXPECT_TRUE(moments->record_clipping());
    Eigen::VectorXd wanted(6);
    wanted << 1, -1, -1, 1, 1, 1;
    const double clip = std::sqrt(6.0);
    EXPECT_LE((clipped_moments(*moments, {0}, clip) - wanted).norm(), 1e-11)
        << "the longest there is";
    EXPECT_LE(clipped_moments(*moments, {0}, clip).norm(), clip);
    wanted << 1.25, 0.125, 0.5, 1.3125, 1 + 0.015625 + 1, 2.25;
    const auto rows = test::all_rows(4);
    EXPECT_LE((clipped_moments(*moments, rows, clip) - wanted).norm(), 1e-10);
    Eigen::VectorXd mean(6);
    moments->mean_gradient(Eigen::VectorXd::Constant(6, 9.0), rows, mean);
    EXPECT_LE((mean - wanted / 4).norm(), 1e-15) << "at any model";
    EXPECT_NEAR(clipped_moments(*moments, {0}, 0.5).norm(), 0.5, 1e-9) << "clipped";
    EXPECT_EQ(moments->train_loss(mean).loss, 0);
    EXPECT_EQ(moments->test_records(), 0);
    Dataset classes = data;
    classes.target = Target::label;
    EXPECT_EQ(make_column_moments(classes, {true, false, true})->dimension(), 4);
}

TEST(ColumnMoments, OfAUnitAreTheMeanOverItsRecords) {
    const auto moments = make_unit_objective(
        make_column_moments(scaled_records(), {true, false, false}), {{0, 1, 2}, {3}});
    EXPECT_EQ(moments->records(), 2);
    const Eigen::VectorXd first = clipped_moments(*moments, {0}, 2);
    EXPECT_LE((first - Eigen::Vector4d(1.25, -0.5, 1.3125, 1.25) / 3).norm(), 1e-11);
}

TEST(ColumnMoments, NeedRecords) {
    Dataset none;
    none.dense = RealRows(0, 1);
    EXPECT_THROW((void)make_column_moments(none, {true}), DataError);
}

}  // namespace
}  // namespace sotto
