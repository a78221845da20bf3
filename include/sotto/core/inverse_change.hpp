#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <span>
#include <vector>

namespace sotto {

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
