#pragma once

#include <Eigen/Dense>

namespace sotto {

/// S <- C^-1 # (S G S), # the geometric mean: the S that makes Tr(C S) + Tr(S_0 G S_0 S^-1) least.
/// With C = L L^T it is L^-T (L^T S G S L)^1/2 L^-1.
/// @param kept share of the trace inside the root that every direction keeps: a block that has
///        collapsed in a direction hardly turns back to it.
/// @return S itself where C is not positive definite. Cost: O(m^3).
[[nodiscard]] Eigen::MatrixXd bought(const Eigen::MatrixXd& s,
                                     const Eigen::MatrixXd& gain,
                                     const Eigen::MatrixXd& cost,
                                     double kept);

/// Largest a with det(gain - a cost) = 0; infinite where the cost is not positive definite.
[[nodiscard]] double largest_ratio(const Eigen::MatrixXd& gain, const Eigen::MatrixXd& cost);

}  // namespace sotto
