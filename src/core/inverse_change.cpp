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
    removed_ = inverse_(left_out_, Eigen::all);
    solve_lower(pivots, removed_);
    MatrixXd inside = inverse_(known, Eigen::all);
    inside.noalias() -= removed_(Eigen::all, known).transpose() * removed_;
    gained_ = factor.transpose() * inside;
    MatrixXd kernel = gained_(Eigen::all, known);
    kernel = -(kernel * factor);
    kernel.diagonal().array() += 1;
    if (!cholesky(kernel)) {
        left_ = 0;
        return;
    }
    if (kernel.size() > 0) left_ = kernel.diagonal().cwiseAbs2().minCoeff();
    solve_lower(kernel, gained_);
    for (const int member : left_out_) gained_.col(member).setZero();
}

VectorXd InverseChange::diagonal() const {
    VectorXd diagonal = inverse_.diagonal() - removed_.colwise().squaredNorm().transpose() +
                        gained_.colwise().squaredNorm().transpose();
    for (const int member : left_out_) diagonal(member) = 0;
    return diagonal;
}

MatrixXd InverseChange::rows(std::span<const int> of) const {
    const std::vector<int> chosen(of.begin(), of.end());
    MatrixXd rows = inverse_(chosen, Eigen::all);
    add_product(-1, MatrixXd(removed_(Eigen::all, chosen)), true, removed_, false, rows);
    add_product(1, MatrixXd(gained_(Eigen::all, chosen)), true, gained_, false, rows);
    for (const int member : left_out_) rows.col(member).setZero();
    return rows;
}

}  // namespace sotto
