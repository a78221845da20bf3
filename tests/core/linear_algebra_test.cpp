#include "sotto/core/linear_algebra.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

constexpr std::uint64_t seed = 3;

Eigen::MatrixXd random_symmetric(Eigen::Index n) {
    SeededRandom random(seed, "symmetric matrix", static_cast<std::uint64_t>(n));
    Eigen::MatrixXd matrix(n, n);
    for (Eigen::Index i = 0; i < n; ++i)
        for (Eigen::Index j = 0; j <= i; ++j) matrix(i, j) = matrix(j, i) = random.normal();
    return matrix;
}

void expect_decomposition(const Eigen::MatrixXd& matrix) {
    const Eigen::Index n = matrix.rows();
    const SymmetricEigen eigen = symmetric_eigen(matrix);
    ASSERT_EQ(eigen.values.size(), n);
    const double size = std::max(matrix.norm(), 1e-300);
    const double tolerance = 1e-14 * static_cast<double>(n + 1);
    const Eigen::MatrixXd rebuilt =
        eigen.vectors * eigen.values.asDiagonal() * eigen.vectors.transpose();
    EXPECT_LE((matrix - rebuilt).norm() / size, tolerance);
    EXPECT_LE((eigen.vectors.transpose() * eigen.vectors - Eigen::MatrixXd::Identity(n, n)).norm(),
              tolerance);
    for (Eigen::Index i = 1; i < n; ++i) EXPECT_LE(eigen.values(i - 1), eigen.values(i));
    EXPECT_LE((symmetric_eigenvalues(matrix) - eigen.values).norm() / size, tolerance);
}

TEST(SymmetricEigen, RebuildsTheMatrixFromOrthonormalVectorsAndAscendingValues) {
    for (const Eigen::Index n : {1, 2, 3, 7, 20, 60}) {
        SCOPED_TRACE(n);
        expect_decomposition(random_symmetric(n));
    }
}

TEST(SymmetricEigen, HandlesRepeatedAndZeroEigenvalues) {
    expect_decomposition(Eigen::MatrixXd::Identity(9, 9));
    expect_decomposition(Eigen::MatrixXd::Ones(9, 9));
    expect_decomposition(Eigen::MatrixXd::Zero(4, 4));
    expect_decomposition(random_symmetric(6) * 1e-150);
}

TEST(SymmetricEigen, ReadsTheLowerTriangleOnly) {
    const Eigen::MatrixXd matrix = random_symmetric(8);
    Eigen::MatrixXd damaged = matrix;
    damaged(0, 7) = 1e6;
    EXPECT_LE((symmetric_eigenvalues(damaged) - symmetric_eigenvalues(matrix)).norm(), 1e-12);
}

TEST(SymmetricEigen, OfAnEmptyMatrixIsEmpty) {
    EXPECT_EQ(symmetric_eigen(Eigen::MatrixXd(0, 0)).values.size(), 0);
}

TEST(SymmetricEigen, RefusesValuesThatAreNotFinite) {
    for (const double bad : {not_a_number, infinity}) {
        Eigen::MatrixXd matrix = random_symmetric(5);
        matrix(3, 1) = matrix(1, 3) = bad;
        EXPECT_THROW((void)symmetric_eigen(matrix), Error);
        EXPECT_THROW((void)symmetric_eigenvalues(matrix), Error);
    }
}

TEST(EigenBackend, IsOneOfTheTwoThatExist) {
    EXPECT_TRUE(std::strcmp(eigen_backend(), "LAPACK") == 0 ||
                std::strcmp(eigen_backend(), "Eigen") == 0);
}

}  // namespace
}  // namespace sotto
