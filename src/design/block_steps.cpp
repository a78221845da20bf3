#include "design/block_steps.hpp"

#include <Eigen/Cholesky>

#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

using Eigen::MatrixXd;

MatrixXd bought(const MatrixXd& s, const MatrixXd& gain, const MatrixXd& cost, double kept) {
    const Eigen::LLT<MatrixXd> factor(cost);
    if (factor.info() != Eigen::Success) return s;
    MatrixXd inner = factor.matrixU() * s;
    inner = inner * gain * inner.transpose();
    inner.diagonal().array() += kept * inner.trace();
    const SymmetricEigen eigen = symmetric_eigen(inner);
    const MatrixXd root = eigen.vectors * eigen.values.cwiseMax(0).cwiseSqrt().asDiagonal() *
                          eigen.vectors.transpose();
    const MatrixXd left = factor.matrixU().solve(root);
    const MatrixXd both = factor.matrixU().solve(left.transpose());
    return 0.5 * (both + both.transpose());
}

double largest_ratio(const MatrixXd& gain, const MatrixXd& cost) {
    const Eigen::LLT<MatrixXd> factor(cost);
    if (factor.info() != Eigen::Success) return infinity;
    const MatrixXd half = factor.matrixL().solve(gain);
    return symmetric_eigenvalues(factor.matrixL().solve(half.transpose())).maxCoeff();
}

}  // namespace sotto
