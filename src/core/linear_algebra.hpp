#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <cstddef>
#include <span>
#include <vector>

namespace sotto {

/// The values of a vector or a matrix, by column; valid as long as it lives.
template <class Dense>
[[nodiscard]] std::span<const double> values_of(const Eigen::PlainObjectBase<Dense>& dense) {
    return {dense.data(), static_cast<std::size_t>(dense.size())};
}

/// A = vectors * diag(values) * vectors^T.
struct SymmetricEigen {
    Eigen::VectorXd values;   ///< ascending
    Eigen::MatrixXd vectors;  ///< columns
};

/// Eigendecomposition of a symmetric matrix (reads the lower triangle), by LAPACK's divide and
/// conquer if available, otherwise Eigen. Cost O(n^3).
/// @throws Error if a value is not finite or the iteration fails.
[[nodiscard]] SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& matrix);

/// Eigenvalues only, ascending.
[[nodiscard]] Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& matrix);

/// Lower triangle of `matrix` += rows^T rows; the upper triangle is not touched. BLAS if available.
/// Cost O(m n^2).
void add_gram(const Eigen::MatrixXd& rows, Eigen::MatrixXd& matrix);

/// Replaces every column of `right` by the solution x of matrix * x = right, for a symmetric
/// positive definite matrix (reads the lower triangle), which is overwritten by its Cholesky
/// factor. False if it is not positive definite. Cost O(n^3).
[[nodiscard]] bool solve_positive_definite(Eigen::MatrixXd& matrix, Eigen::MatrixXd& right);

/// Replaces a symmetric positive definite matrix (reads the lower triangle) by its inverse, both
/// triangles. False if it is not positive definite; its content is then undefined. Cost n^3.
[[nodiscard]] bool invert_positive_definite(Eigen::MatrixXd& matrix);

/// a b, by Eigen; threads share large products. Cost O(m n k).
[[nodiscard]] Eigen::MatrixXd multiply(const Eigen::Ref<const Eigen::MatrixXd>& a,
                                       const Eigen::Ref<const Eigen::MatrixXd>& b);

/// out += alpha op(a) op(b), where op is the transpose if requested. BLAS if available; threads
/// share large products.
void add_product(double alpha,
                 const Eigen::Ref<const Eigen::MatrixXd>& a,
                 bool transpose_a,
                 const Eigen::Ref<const Eigen::MatrixXd>& b,
                 bool transpose_b,
                 Eigen::Ref<Eigen::MatrixXd> out);

/// Replaces a symmetric matrix (reads the lower triangle) by its lower Cholesky factor, with zeros
/// above. False if it is not positive definite. Cost n^3 / 3.
[[nodiscard]] bool cholesky(Eigen::MatrixXd& matrix);

/// right <- lower^-1 right. Threads share columns of large ones. Cost n^2 columns.
void solve_lower(const Eigen::MatrixXd& lower, Eigen::MatrixXd& right);

/// left <- left lower^-T. Threads share rows of large ones. Cost n^2 rows.
void solve_lower_from_right(const Eigen::MatrixXd& lower, Eigen::MatrixXd& left);

/// Sets the number of threads (>= 1; default: all cores) that share a product or a solution; inside
/// parallel_for it is one. Results do not depend on it, since the work is divided by sizes alone.
/// Ranks that share a machine should use one each.
void set_linear_algebra_threads(int threads);
/// The number last set; all cores when none was.
[[nodiscard]] int linear_algebra_threads();

/// Ends OpenBLAS's own threads, which spin while they wait (docs/decisions/threads.md); every BLAS
/// and LAPACK call then stays on its own thread. Every function here calls it before its first use
/// of BLAS; calling it at program start saves a tenth of a second. Does nothing with another BLAS.
void end_blas_threads();

/// "LAPACK" or "Eigen": the implementation of symmetric_eigen in this build.
[[nodiscard]] const char* eigen_backend();

/// Inverse of a symmetric positive definite A without rows and columns I = `left_out` and less a
/// known F F^T on others, S = `support`, from X = A^-1: with Z = X - X_I X_II^-1 X_I^T (Schur) it
/// is
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
    /// the direction with least, to a precision of about 1e-16. If it is 0 or less, the rest is not
    /// positive definite and the other functions must not be called.
    [[nodiscard]] double left() const { return left_; }
    /// Diagonal of the inverse, n; 0 for those left out. Cost: n r.
    [[nodiscard]] Eigen::VectorXd diagonal() const;
    /// Columns of the inverse, n x |of|, for agents not left out; rows of those left out are 0.
    /// Cost: n r a column.
    [[nodiscard]] Eigen::MatrixXd columns(std::span<const int> of) const;

  private:
    const Eigen::MatrixXd& inverse_;
    std::vector<int> left_out_;
    double left_ = 1;
    Eigen::MatrixXd removed_, gained_;  // X - removed removed^T + gained gained^T
};

}  // namespace sotto
