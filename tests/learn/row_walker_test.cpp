#include "learn/row_walker.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <vector>

#include "learn/test_data.hpp"
#include "sotto/learn/synthetic.hpp"

namespace sotto {
namespace {

using test::random_real_data;
using test::random_vector;

TEST(RowWalker, VisitsTheStoredValuesOfARow) {
    const Dataset data = random_real_data(20, 6, 4);
    const RowWalker rows(data.features);
    EXPECT_FALSE(rows.binary());
    Eigen::MatrixXd seen = Eigen::MatrixXd::Zero(20, 6);
    for (Eigen::Index row = 0; row < 20; ++row)
        rows.for_each<false>(row, [&](int column, double value) { seen(row, column) = value; });
    EXPECT_EQ(seen, Eigen::MatrixXd(data.features));
}

TEST(RowWalker, ScoresARowWithBothOfItsLoops) {
    for (const bool binary : {false, true}) {
        const Dataset data = binary ? synthetic_binary(30, 4) : random_real_data(30, 9, 4);
        const RowWalker rows(data.features);
        EXPECT_EQ(rows.binary(), binary);
        const Eigen::VectorXd weights = random_vector(data.feature_count(), 1, 5);
        const Eigen::VectorXd wanted = (data.features * weights).array() + 0.25;
        for (Eigen::Index row = 0; row < 30; ++row) {
            const double score = rows.score(row, weights.data(), 0.25);
            EXPECT_NEAR(score, wanted[row], 1e-13);
            EXPECT_EQ(score, rows.score<false>(row, weights.data(), 0.25));
        }
    }
}

}  // namespace
}  // namespace sotto
