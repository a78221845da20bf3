#pragma once

#include <Eigen/SparseCore>

namespace sotto {

/// A sparse matrix that is read row by row: mixing weights, records, what observers see.
using SparseRows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

}  // namespace sotto
