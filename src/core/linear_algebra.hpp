#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <cstddef>
#include <span>
#include <vector>

namespace sotto {

/// Of a vector or a matrix, by column; as long as it lives.
template <class Dense>
[[nodiscard]] std::span<const double> values_of(const Eigen::PlainObjectBase<Dense>& dense) {
    return {dense.data(), static_cast<std::size_t>(dense.size())};
}

/// A = vectors * diag(values) * vectors^T.
struct SymmetricEigen {
    Eigen::VectorXd values;   ///< ascending
    Eigen::MatrixXd vectors;  ///< columns
};

/// Eigendecomposition of a symmetric matrix (lower triangle is read). LAPACK's divide and conquer
/// when built with it, Eigen otherwise. Cost O(n^3).
/// @throws Error if the matrix holds a value that is not finite or the iteration fails.
[[nodiscard]] SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& matrix);

/// Eigenvalues only, ascending.
[[nodiscard]] Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& matrix);

/// lower triangle of `matrix` += rows^T rows; the upper triangle is left alone. BLAS when built
/// with it. Cost O(m n^2).
void add_gram(const Eigen::MatrixXd& rows, Eigen::MatrixXd& matrix);

/// Replaces every column of `right` by the solution x of matrix * x = right, for a symmetric
/// positive definite matrix, of which the lower triangle is read; it is overwritten by its Cholesky
/// factor. False if it is not positive definite. Cost O(n^3).
[[nodiscard]] bool solve_positive_definite(Eigen::MatrixXd& matrix, Eigen::MatrixXd& right);

/// Replaces a symmetric positive definite matrix (lower triangle is read) by its inverse, both
/// triangles. False if it is not positive definite; it then holds nothing. Cost n^3.
[[nodiscard]] bool invert_positive_definite(Eigen::MatrixXd& matrix);

/// a b, by Eigen. Large products are shared by threads. Cost O(m n k).
[[nodiscard]] Eigen::MatrixXd multiply(const Eigen::Ref<const Eigen::MatrixXd>& a,
                                       const Eigen::Ref<const Eigen::MatrixXd>& b);

/// out += alpha op(a) op(b), op the transpose where asked for; sizes must fit. BLAS when built with
/// it. Large products are shared by threads.
void add_product(double alpha,
                 const Eigen::Ref<const Eigen::MatrixXd>& a,
                 bool transpose_a,
                 const Eigen::Ref<const Eigen::MatrixXd>& b,
                 bool transpose_b,
                 Eigen::Ref<Eigen::MatrixXd> out);

/// Replaces a symmetric matrix (lower triangle is read) by its lower Cholesky factor, zeros above.
/// False if it is not positive definite. Cost n^3 / 3.
[[nodiscard]] bool cholesky(Eigen::MatrixXd& matrix);

/// right <- lower^-1 right. Columns of large ones are shared by threads. Cost n^2 columns.
void solve_lower(const Eigen::MatrixXd& lower, Eigen::MatrixXd& right);

/// left <- left lower^-T. Rows of large ones are shared by threads. Cost n^2 rows.
void solve_lower_from_right(const Eigen::MatrixXd& lower, Eigen::MatrixXd& left);

/// At most this many threads share a product or a solution in this process (>= 1; all cores when
/// never called), those of parallel_for; inside parallel_for it is one. How the work is cut depends
/// on sizes alone, so that results do not depend on the number. Ranks that share a machine use one
/// each: threads that wait for each other and for a core lose more than they bring.
void set_linear_algebra_threads(int threads);
/// The number last set; all cores when none was.
[[nodiscard]] int linear_algebra_threads();

/// Ends the threads that OpenBLAS starts when it is loaded; from then on every call of BLAS and
/// LAPACK stays on its own thread. Its threads do not sleep while they wait for each other
/// (docs/decisions/threads.md).
/// Every function here does so before its first call; a program that starts with it saves the
/// tenth of a second for which they look for work. Nothing where another BLAS is in use.
void end_blas_threads();

/// "LAPACK" or "Eigen": what symmetric_eigen uses in this build.
[[nodiscard]] const char* eigen_backend();

/// Inverse of a symmetric positive definite A without the rows and columns of some, `left_out`, and
/// less a known F F^T on others, S = `support`, from X = A^-1: with Z = X - X_I X_II^-1 X_I^T
/// (Schur) it is
///
///     Z + Z_S F (1 - F^T Z_SS F)^-1 F^T Z_S^T        (Woodbury).
///
/// Cost: n r^2 + n r |I| with r columns of F; memory n (r + |I|).
class InverseChange {
  public:
    /// @param inverse   X, n x n; must outlive this.
    /// @param left_out  I, ascending.   @param support  S, without any of I.
    /// @param factor    F, |S| x r.
    InverseChange(const Eigen::MatrixXd& inverse,
                  std::span<const int> left_out,
                  std::span<const int> support,
                  const Eigen::SparseMatrix<double>& factor);

    /// Smallest square of a pivot of 1 - F^T Z_SS F (1 without columns): how much of A is left in
    /// the direction where least is; 1e-16 over it is what rounding does. 0 or less: what is left
    /// is not positive definite, and nothing else may be asked.
    [[nodiscard]] double left() const { return left_; }
    /// Of the inverse, n; 0 for those left out. Cost: n r.
    [[nodiscard]] Eigen::VectorXd diagonal() const;
    /// Columns of the inverse, n x |of|, none of those left out; rows of these are 0.
    /// Cost: n r a column.
    [[nodiscard]] Eigen::MatrixXd columns(std::span<const int> of) const;

  private:
    const Eigen::MatrixXd& inverse_;
    std::vector<int> left_out_;
    double left_ = 1;
    Eigen::MatrixXd removed_, gained_;  // X - removed removed^T + gained gained^T
};

}  // namespace sotto
