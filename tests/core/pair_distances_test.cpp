#include "core/pair_distances.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/seeded_random.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(AddPairDistances, AddsSquaredDistancesOfColumns) {
    SeededRandom random(1, "columns");
    for (const int rows : {0, 8, 16, 40}) {
        Eigen::MatrixXd columns(rows, 5);
        for (double& value : columns.reshaped()) value = random.normal();
        const std::vector<ColumnPair> pairs{{0, 1}, {4, 2}, {3, 3}};
        std::vector<double> sums{1, 2, 3};
        add_pair_distances(columns, pairs, sums);
        EXPECT_NEAR(sums[0], 1 + (columns.col(0) - columns.col(1)).squaredNorm(), 1e-12);
        EXPECT_NEAR(sums[1], 2 + (columns.col(4) - columns.col(2)).squaredNorm(), 1e-12);
        EXPECT_EQ(sums[2], 3);
    }
}

TEST(AddPairDistances, RefusesOtherSizes) {
    std::vector<double> sums{1};
    const std::vector<ColumnPair> pairs{{0, 1}, {1, 0}};
    EXPECT_THROW(add_pair_distances(Eigen::MatrixXd::Zero(8, 2), pairs, sums), Error);
    EXPECT_THROW(add_pair_distances(Eigen::MatrixXd::Zero(7, 2), {pairs.data(), 1}, sums), Error);
}

}  // namespace
}  // namespace sotto
