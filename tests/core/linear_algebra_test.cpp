#include "core/linear_algebra.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cstring>
#include <vector>

#include "core/numbers.hpp"
#include "core/parallel.hpp"
#include "core/seeded_random.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;

constexpr std::uint64_t matrix_seed = 3;

Eigen::MatrixXd random_symmetric(Eigen::Index n) {
    SeededRandom random(matrix_seed, "symmetric matrix", static_cast<std::uint64_t>(n));
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

Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns) {
    SeededRandom random(matrix_seed, "matrix", static_cast<std::uint64_t>(rows));
    return Eigen::MatrixXd::NullaryExpr(rows, columns, [&](auto, auto) { return random.normal(); });
}

Eigen::MatrixXd random_positive_definite(Eigen::Index n) {
    const Eigen::MatrixXd root = random_matrix(n, n);
    return root * root.transpose() + static_cast<double>(n) * Eigen::MatrixXd::Identity(n, n);
}

/// Sum over k of a_ik b_kj, one after the other.
double reference_product(const Eigen::MatrixXd& a,
                         const Eigen::MatrixXd& b,
                         Eigen::Index i,
                         Eigen::Index j) {
    double sum = 0;
    for (Eigen::Index k = 0; k < a.cols(); ++k) sum += a(i, k) * b(k, j);
    return sum;
}

/// What the functions that share work make of one size.
struct Results {
    Eigen::MatrixXd product, sum, gram, solved, lower, forward, from_right, inverse;

    bool operator==(const Results&) const = default;
};

Results results_of(Eigen::Index n) {
    const Eigen::MatrixXd a = random_matrix(n, n + 3), b = random_matrix(n + 3, n + 1);
    Results results;
    results.product = multiply(a, b);
    results.sum = Eigen::MatrixXd::Ones(n, n + 1);
    add_product(-2, a, false, b, false, results.sum);
    results.gram = Eigen::MatrixXd::Ones(n, n);
    add_gram(a.transpose(), results.gram);
    results.lower = random_positive_definite(n);
    results.solved = results.forward = b.topRows(n);
    results.from_right = b.topRows(n).transpose();
    results.inverse = results.lower;
    Eigen::MatrixXd matrix = results.lower;
    EXPECT_TRUE(solve_positive_definite(matrix, results.solved));
    EXPECT_TRUE(cholesky(results.lower));
    solve_lower(results.lower, results.forward);
    solve_lower_from_right(results.lower, results.from_right);
    EXPECT_TRUE(invert_positive_definite(results.inverse));
    return results;
}

Results results_with(int threads, Eigen::Index n) {
    set_linear_algebra_threads(threads);
    return results_of(n);
}

/// One size whose work is shared by threads, and sizes whose work is not.
constexpr Eigen::Index shared_size = 270;

class LinearAlgebraThreads : public ::testing::Test {
  protected:
    ~LinearAlgebraThreads() override { set_linear_algebra_threads(before_); }
    int before_ = linear_algebra_threads();
};

TEST_F(LinearAlgebraThreads, ChangeNoBits) {
    for (const Eigen::Index n : {1, 30, 131, static_cast<int>(shared_size)}) {
        const Results alone = results_with(1, n);
        for (const int threads : {2, 3, 8}) EXPECT_EQ(results_with(threads, n), alone) << n;
    }
}

TEST_F(LinearAlgebraThreads, OfParallelForChangeNoBits) {
    const Results alone = results_with(1, shared_size);
    std::vector<Results> inside(3);
    set_linear_algebra_threads(2);
    parallel_for(
        3, 2, [&](long i) { inside[static_cast<std::size_t>(i)] = results_of(shared_size); });
    for (const Results& results : inside) EXPECT_EQ(results, alone);
}

TEST_F(LinearAlgebraThreads, AreAtLeastOne) {
    EXPECT_THROW(set_linear_algebra_threads(0), ConfigError);
    set_linear_algebra_threads(3);
    EXPECT_EQ(linear_algebra_threads(), 3);
}

TEST(Multiply, IsTheSumOfProducts) {
    for (const Eigen::Index n : {1, 2, 17, 270}) {
        const Eigen::MatrixXd a = random_matrix(n, 2 * n), b = random_matrix(2 * n, n + 1);
        const Eigen::MatrixXd found = multiply(a, b);
        ASSERT_EQ(found.rows(), n);
        ASSERT_EQ(found.cols(), n + 1);
        for (const auto& [i, j] : {std::pair{n - 1, n}, {n / 2, n / 3}, {Eigen::Index{0}, n}})
            EXPECT_NEAR(found(i, j), reference_product(a, b, i, j), 1e-11 * static_cast<double>(n));
    }
}

TEST(AddProduct, AddsWithEveryTransposition) {
    for (const Eigen::Index n : {1, 17, 300})
        for (const bool transpose_a : {false, true})
            for (const bool transpose_b : {false, true})
                for (const Eigen::Index columns : {n + 2, n / 2 + 1}) {
                    const Eigen::MatrixXd a = random_matrix(n, n + 1),
                                          b = random_matrix(n + 1, columns);
                    Eigen::MatrixXd out = Eigen::MatrixXd::Ones(n, columns);
                    const Eigen::MatrixXd left = transpose_a ? a.transpose() : a;
                    const Eigen::MatrixXd right = transpose_b ? b.transpose() : b;
                    add_product(0.5, left, transpose_a, right, transpose_b, out);
                    const Eigen::MatrixXd expected =
                        0.5 * a * b + Eigen::MatrixXd::Ones(n, columns);
                    EXPECT_LE((out - expected).norm(), 1e-13 * expected.norm());
                }
}

TEST(AddProduct, OfBlocksLeavesTheRestAlone) {
    const Eigen::MatrixXd a = random_matrix(8, 5), b = random_matrix(5, 6);
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(10, 9);
    add_product(1, a.topRows(4), false, b.rightCols(3), false, out.block(2, 3, 4, 3));
    EXPECT_LE((out.block(2, 3, 4, 3) - a.topRows(4) * b.rightCols(3)).norm(), 1e-13);
    out.block(2, 3, 4, 3).setZero();
    EXPECT_EQ(out, Eigen::MatrixXd::Zero(10, 9));
}

TEST(AddGram, AddsToTheLowerTriangleOnly) {
    for (const Eigen::Index n : {1, 5, 300}) {
        const Eigen::MatrixXd rows = random_matrix(2 * n + 1, n);
        Eigen::MatrixXd matrix = Eigen::MatrixXd::Constant(n, n, 3);
        add_gram(rows, matrix);
        const Eigen::MatrixXd expected =
            rows.transpose() * rows + Eigen::MatrixXd::Constant(n, n, 3);
        const Eigen::MatrixXd lower = (matrix - expected).triangularView<Eigen::Lower>();
        EXPECT_LE(lower.norm(), 1e-13 * expected.norm());
        const Eigen::MatrixXd upper = matrix.triangularView<Eigen::StrictlyUpper>();
        EXPECT_EQ(upper,
                  Eigen::MatrixXd(
                      Eigen::MatrixXd::Constant(n, n, 3).triangularView<Eigen::StrictlyUpper>()));
    }
}

TEST(SolvePositiveDefinite, SolvesEveryColumn) {
    for (const Eigen::Index n : {1, 6, 300}) {
        const Eigen::MatrixXd matrix = random_positive_definite(n), right = random_matrix(n, n);
        Eigen::MatrixXd factor = matrix, found = right;
        factor.triangularView<Eigen::StrictlyUpper>().setConstant(7);  // not read
        ASSERT_TRUE(solve_positive_definite(factor, found));
        EXPECT_LE((matrix * found - right).norm(), 1e-11 * right.norm());
    }
    Eigen::MatrixXd indefinite = -Eigen::MatrixXd::Identity(3, 3), right = indefinite;
    EXPECT_FALSE(solve_positive_definite(indefinite, right));
}

TEST(InvertPositiveDefinite, GivesBothTriangles) {
    for (const Eigen::Index n : {0, 1, 6, 300}) {
        const Eigen::MatrixXd matrix = random_positive_definite(n);
        Eigen::MatrixXd inverse = matrix;
        inverse.triangularView<Eigen::StrictlyUpper>().setConstant(7);  // not read
        ASSERT_TRUE(invert_positive_definite(inverse));
        EXPECT_LE((matrix * inverse - Eigen::MatrixXd::Identity(n, n)).norm(), 1e-10);
        EXPECT_EQ(inverse, Eigen::MatrixXd(inverse.transpose()));
    }
    Eigen::MatrixXd indefinite = -Eigen::MatrixXd::Identity(3, 3);
    EXPECT_FALSE(invert_positive_definite(indefinite));
}

TEST(Cholesky, FactorsAndSolves) {
    for (const Eigen::Index n : {0, 1, 6, 300}) {
        const Eigen::MatrixXd matrix = random_positive_definite(n), right = random_matrix(n, n + 2);
        Eigen::MatrixXd lower = matrix, found = right;
        ASSERT_TRUE(cholesky(lower));
        EXPECT_EQ(lower, Eigen::MatrixXd(lower.triangularView<Eigen::Lower>()));
        EXPECT_LE((lower * lower.transpose() - matrix).norm(), 1e-12 * matrix.norm());
        solve_lower(lower, found);
        EXPECT_LE((lower * found - right).norm(), 1e-11 * right.norm());
        Eigen::MatrixXd left = right.transpose();
        solve_lower_from_right(lower, left);
        EXPECT_LE((left * lower.transpose() - right.transpose()).norm(), 1e-11 * right.norm());
    }
    Eigen::MatrixXd indefinite = Eigen::MatrixXd::Identity(3, 3);
    indefinite(2, 2) = -1;
    EXPECT_FALSE(cholesky(indefinite));
}

TEST(EndBlasThreads, LeavesBlasOneThread) {
    end_blas_threads();
    using Count = int (*)();
    const auto count = reinterpret_cast<Count>(::dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
    if (count == nullptr) GTEST_SKIP() << "no OpenBLAS";
    EXPECT_EQ(count(), 1);
    (void)results_of(shared_size);
    EXPECT_EQ(count(), 1);
}

TEST(EigenBackend, IsOneOfTheTwoThatExist) {
    EXPECT_TRUE(std::strcmp(eigen_backend(), "LAPACK") == 0 ||
                std::strcmp(eigen_backend(), "Eigen") == 0);
}

MatrixXd any_matrix(Eigen::Index rows, Eigen::Index columns, const char* name) {
    SeededRandom random(1, name);
    MatrixXd matrix(rows, columns);
    for (double& value : matrix.reshaped()) value = random.normal();
    return matrix;
}

TEST(InverseChange, IsTheInverseOfWhatIsLeft) {
    const std::vector<int> support{1, 4, 7, 9}, left_out{0, 5};
    const MatrixXd root = any_matrix(10, 14, "root");
    const MatrixXd factor = 0.2 * any_matrix(4, 3, "factor");
    MatrixXd matrix = root * root.transpose() + MatrixXd::Identity(10, 10);
    const MatrixXd inverse = matrix.inverse();
    for (const auto& out : {std::vector<int>{}, left_out})
        for (const auto& known : {MatrixXd(4, 0), factor}) {
            const InverseChange change(inverse, out, support, known.sparseView());
            ASSERT_GT(change.left(), 0);
            EXPECT_LE(change.left(), 1);
            MatrixXd left = matrix;
            left(support, support) -= known * known.transpose();
            std::vector<int> inside;
            for (int u = 0; u < 10; ++u)
                if (std::ranges::find(out, u) == out.end()) inside.push_back(u);
            const MatrixXd there = left(inside, inside), expected = there.inverse();
            const MatrixXd columns = change.columns(inside);
            EXPECT_LT((columns(inside, Eigen::all) - expected).norm(), 1e-10);
            EXPECT_LT((change.diagonal()(inside) - expected.diagonal()).norm(), 1e-10);
            for (const int u : out) {
                EXPECT_EQ(change.diagonal()(u), 0);
                EXPECT_EQ(columns.row(u).norm(), 0);
            }
        }
}

TEST(InverseChange, SaysThatNothingIsLeftWhereMoreIsKnownThanThereIs) {
    const MatrixXd inverse = MatrixXd::Identity(3, 3);
    MatrixXd factor(1, 1);
    const std::vector<int> support{1};
    for (const auto& [known, left] : {std::pair{0.5, 0.75}, {1.0, 0.0}, {2.0, 0.0}}) {
        factor(0, 0) = known;
        EXPECT_NEAR(InverseChange(inverse, {}, support, factor.sparseView()).left(), left, 1e-15);
    }
}

}  // namespace
}  // namespace sotto
