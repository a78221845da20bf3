#include "learn/feature_norm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/seeded_random.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::message_of;

Dataset dense_records(const RealRows& rows) {
    Dataset data;
    data.dense = rows;
    data.labels = Eigen::VectorXd::Ones(rows.rows());
    return data;
}

/// The exact length of a record with its constant feature, in long doubles.
long double exact_length(const Dataset& data, Eigen::Index row) {
    long double squares = 1;
    for (SparseRows::InnerIterator entry(data.features, row); entry; ++entry)
        squares += static_cast<long double>(entry.value()) * entry.value();
    return std::sqrt(squares);
}

TEST(FeatureNorm, ShortensLongRecordsAndNoOthers) {
    RealRows rows(4, 3);
    rows << 3, 4, 0,  // 5 long
        0.6, 0, 0.8,  // 1 long
        0, 0, 0,      // the constant feature alone
        -1, 0, 0;
    const Dataset given = dense_records(rows);
    EXPECT_NEAR(longest_record(given), std::sqrt(26), 1e-12);
    // The constant feature takes its part: sqrt(2^2 - 1) is left for the others.
    const Dataset result = with_feature_norm(given, 2);
    const Eigen::MatrixXd found = result.features;
    EXPECT_NEAR(found(0, 0), 0.6 * std::sqrt(3), 1e-12);
    EXPECT_NEAR(found(0, 1), 0.8 * std::sqrt(3), 1e-12);
    for (const Eigen::Index row : {1, 2, 3}) EXPECT_EQ(found.row(row), rows.row(row)) << row;
    EXPECT_EQ(result.labels, given.labels);
    EXPECT_LE(longest_record(result), 2);
    EXPECT_LE(longest_record(Dataset{}), 1);
}

TEST(FeatureNorm, HoldsToTheLastBit) {
    SeededRandom random(3, "feature norm");
    for (const double norm : {1.001, 1.5, 2.0, 7.3, 1e6}) {
        RealRows rows(400, 7);
        for (Eigen::Index i = 0; i < rows.size(); ++i)
            rows(i) = random.normal() * std::pow(10, i % 9 - 2);
        const Dataset result = with_feature_norm(dense_records(rows), norm);
        EXPECT_LE(longest_record(result), norm);
        for (Eigen::Index row = 0; row < result.records(); ++row)
            EXPECT_LE(exact_length(result, row), static_cast<long double>(norm)) << norm;
        // Nothing is wasted: long records are as long as they may be.
        if (norm <= 2) {
            EXPECT_NEAR(longest_record(result), norm, 1e-9);
        }
    }
}

TEST(FeatureNorm, TakesValuesWhoseSquaresOverflow) {
    RealRows rows(2, 2);
    rows << 1e300, -1e300, 1e-300, 0;
    const Dataset result = with_feature_norm(dense_records(rows), 3);
    const Eigen::MatrixXd found = result.features;
    EXPECT_NEAR(found(0, 0), 2, 1e-12);
    EXPECT_NEAR(found(0, 1), -2, 1e-12);
    EXPECT_EQ(found(1, 0), 1e-300);
    EXPECT_LE(longest_record(result), 3);
}

TEST(FeatureNorm, LeavesWhatIsNotFiniteToItsReader) {
    RealRows rows(1, 2);
    rows << std::numeric_limits<double>::infinity(), 1;
    const Dataset result = with_feature_norm(dense_records(rows), 3);
    EXPECT_TRUE(std::isinf(longest_record(result)));
    for (const double norm : {1.0, 0.5, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_TRUE(test::contains(
            message_of<ConfigError>([&] { (void)with_feature_norm(dense_records(rows), norm); }),
            "must be above 1"));
}

}  // namespace
}  // namespace sotto
