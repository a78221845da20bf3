#include "views/dense_matrices.hpp"

#include "sotto/core/linear_algebra.hpp"

namespace sotto {

Eigen::MatrixXd product(const Eigen::MatrixXd& a, bool transpose_a, const Eigen::MatrixXd& b) {
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(transpose_a ? a.cols() : a.rows(), b.cols());
    add_product(1, a, transpose_a, b, false, out);
    return out;
}

void append_rows(Eigen::MatrixXd& matrix, const Eigen::MatrixXd& rows) {
    const Eigen::Index before = matrix.rows();
    matrix.conservativeResize(before + rows.rows(), rows.cols());
    matrix.bottomRows(rows.rows()) = rows;
}

double largest_entry(const Eigen::MatrixXd& matrix) {
    return matrix.size() == 0 ? 0.0 : matrix.cwiseAbs().maxCoeff();
}

}  // namespace sotto
