#pragma once

#include <Eigen/Dense>

#include "sotto/core/sparse_rows.hpp"

namespace sotto {

/// out = dense * sparse^T, of the size of that, which shares no memory with `dense`. Blocks of rows
/// are shared by threads; results do not depend on their number. Cost rows(dense) *
/// entries(sparse).
void multiply_transpose(const Eigen::Ref<const Eigen::MatrixXd>& dense,
                        const SparseRows& sparse,
                        Eigen::Ref<Eigen::MatrixXd> out);

/// dense * sparse^T.
[[nodiscard]] Eigen::MatrixXd times_transpose(const Eigen::Ref<const Eigen::MatrixXd>& dense,
                                              const SparseRows& sparse);

/// out = sparse * right where that is symmetric, as with right = S sparse^T and S symmetric: one
/// triangle is computed, the other copied. Cost half of multiply_transpose's.
void multiply_symmetric(const SparseRows& sparse,
                        const Eigen::MatrixXd& right,
                        Eigen::Ref<Eigen::MatrixXd> out);

}  // namespace sotto
