#pragma once

#include <Eigen/Dense>

namespace sotto {

/// a b, or a^T b where asked for, by add_product.
[[nodiscard]] Eigen::MatrixXd product(const Eigen::MatrixXd& a,
                                      bool transpose_a,
                                      const Eigen::MatrixXd& b);

/// Puts rows below a matrix, which has as many columns or no row yet.
void append_rows(Eigen::MatrixXd& matrix, const Eigen::MatrixXd& rows);

/// Largest absolute value; 0 of a matrix without entries.
[[nodiscard]] double largest_entry(const Eigen::MatrixXd& matrix);

}  // namespace sotto
