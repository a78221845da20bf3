#include "sotto/core/inverse_change.hpp"

#include <algorithm>

#include "sotto/core/linear_algebra.hpp"

namespace sotto {

using Eigen::MatrixXd;
using Eigen::VectorXd;

InverseChange::InverseChange(const MatrixXd& inverse,
                             std::span<const int> left_out,
                             std::span<const int> support,
                             const Eigen::SparseMatrix<double>& factor)
    : inverse_(inverse), left_out_(left_out.begin(), left_out.end()) {
    const std::vector<int> known(support.begin(), support.end());
    MatrixXd pivots = inverse_(left_out_, left_out_);
    if (!cholesky(pivots)) {
        left_ = 0;
        return;
    }
    // Columns throughout: they lie together in memory, rows do not.
    removed_ = inverse_(Eigen::all, left_out_);
    solve_lower_from_right(pivots, removed_);
    MatrixXd inside = inverse_(Eigen::all, known);
    add_product(-1, removed_, false, MatrixXd(removed_(known, Eigen::all)), true, inside);
    gained_ = inside * factor;
    MatrixXd kernel = gained_(known, Eigen::all);
    kernel = -(factor.transpose() * kernel);
    kernel.diagonal().array() += 1;
    if (!cholesky(kernel)) {
        left_ = 0;
        return;
    }
    if (kernel.size() > 0) left_ = kernel.diagonal().cwiseAbs2().minCoeff();
    solve_lower_from_right(kernel, gained_);
    gained_(left_out_, Eigen::all).setZero();
}

VectorXd InverseChange::diagonal() const {
    VectorXd diagonal =
        inverse_.diagonal() - removed_.rowwise().squaredNorm() + gained_.rowwise().squaredNorm();
    diagonal(left_out_).setZero();
    return diagonal;
}

MatrixXd InverseChange::columns(std::span<const int> of) const {
    const std::vector<int> chosen(of.begin(), of.end());
    MatrixXd columns = inverse_(Eigen::all, chosen);
    add_product(-1, removed_, false, MatrixXd(removed_(chosen, Eigen::all)), true, columns);
    add_product(1, gained_, false, MatrixXd(gained_(chosen, Eigen::all)), true, columns);
    columns(left_out_, Eigen::all).setZero();
    return columns;
}

}  // namespace sotto
