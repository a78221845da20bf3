#include "views/dense_matrices.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

using Eigen::MatrixXd;

TEST(DenseMatrices, MultiplyAppendAndMeasure) {
    MatrixXd a(2, 3), b(3, 1);
    a << 1, 2, 3, 4, 5, 6;
    b << 1, 0, -2;
    EXPECT_EQ(product(a, false, b), MatrixXd(a * b));
    EXPECT_EQ(product(a, true, a), MatrixXd(a.transpose() * a));
    MatrixXd grown(0, 3);
    append_rows(grown, a);
    append_rows(grown, MatrixXd(0, 3));
    append_rows(grown, a.topRows(1));
    ASSERT_EQ(grown.rows(), 3);
    EXPECT_EQ(grown.row(2), a.row(0));
    EXPECT_EQ(largest_entry(b), 2);
    EXPECT_EQ(largest_entry(MatrixXd(0, 4)), 0);
}

}  // namespace
}  // namespace sotto
