#include "views/sparse_products.hpp"

#include <gtest/gtest.h>

#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

MatrixXd random_values(Index rows, Index columns, std::uint64_t seed) {
    SeededRandom random(seed, "sparse products");
    MatrixXd matrix(rows, columns);
    for (double& value : matrix.reshaped()) value = random.normal();
    return matrix;
}

/// About a third of the entries.
SparseRows random_sparse(Index rows, Index columns, std::uint64_t seed) {
    MatrixXd matrix = random_values(rows, columns, seed);
    for (double& value : matrix.reshaped())
        if (value < 0.4) value = 0;
    return matrix.sparseView();
}

TEST(MultiplyTranspose, IsTheDenseProductForSizesAroundABlock) {
    for (const Index rows : {0, 1, 15, 16, 17, 40})
        for (const Index inner : {0, 1, 23}) {
            const MatrixXd dense = random_values(rows + 3, inner, 1);
            const SparseRows sparse = random_sparse(9, inner, 2);
            const MatrixXd out = times_transpose(dense.middleRows(2, rows), sparse);
            ASSERT_EQ(out.rows(), rows);
            ASSERT_EQ(out.cols(), 9);
            const MatrixXd expected = dense.middleRows(2, rows) * MatrixXd(sparse).transpose();
            EXPECT_LE((out - expected).lpNorm<1>(), 1e-12) << rows << " " << inner;
        }
}

TEST(MultiplyTranspose, WritesItsPartOfALargerMatrixOnly) {
    const MatrixXd dense = random_values(20, 6, 3);
    const SparseRows sparse = random_sparse(5, 6, 4);
    MatrixXd large = MatrixXd::Constant(24, 9, 7.0);
    multiply_transpose(dense, sparse, large.block(1, 2, 20, 5));
    EXPECT_LE((large.block(1, 2, 20, 5) - dense * MatrixXd(sparse).transpose()).lpNorm<1>(), 1e-12);
    large.block(1, 2, 20, 5).setConstant(7.0);
    EXPECT_EQ(large, MatrixXd::Constant(24, 9, 7.0));
}

TEST(MultiplySymmetric, IsTheCongruenceOfASymmetricMatrixToTheLastBitSymmetric) {
    for (const Index size : {0, 1, 16, 35}) {
        const MatrixXd half = random_values(size, size, 5);
        const MatrixXd symmetric = half + half.transpose();
        const SparseRows sparse = random_sparse(size + 4, size, 6);
        MatrixXd out(size + 4, size + 4);
        multiply_symmetric(sparse, times_transpose(symmetric, sparse), out);
        EXPECT_EQ(out, out.transpose());
        const MatrixXd dense(sparse);
        EXPECT_LE((out - dense * symmetric * dense.transpose()).lpNorm<1>(), 1e-10) << size;
    }
}

TEST(MultiplyTranspose, DoesNotDependOnTheNumberOfThreads) {
    const MatrixXd dense = random_values(300, 200, 7);
    const SparseRows sparse = random_sparse(200, 200, 8);
    const int before = linear_algebra_threads();
    set_linear_algebra_threads(1);
    const MatrixXd alone = times_transpose(dense, sparse);
    set_linear_algebra_threads(3);
    const MatrixXd shared = times_transpose(dense, sparse);
    set_linear_algebra_threads(before);
    EXPECT_EQ(alone, shared);
}

}  // namespace
}  // namespace sotto
