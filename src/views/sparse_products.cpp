#include "views/sparse_products.hpp"

#include <algorithm>

#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/parallel.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr Index width = 16;         // rows side by side: what stays in registers
constexpr double worth_them = 1e6;  // multiplications that are worth threads

using Rows = Eigen::Array<double, width, 1>;
using Packed = Eigen::Array<double, width, Eigen::Dynamic>;

/// Columns `first` on of out^T: those rows of dense * sparse^T of which `packed` holds the dense
/// ones.
void multiply_packed(const Packed& packed,
                     const SparseRows& sparse,
                     Index first,
                     Index count,
                     Index first_column,
                     Eigen::Ref<MatrixXd> out) {
    for (Index i = first_column; i < sparse.rows(); ++i) {
        Rows sum = Rows::Zero();
        for (SparseRows::InnerIterator it(sparse, i); it; ++it)
            sum += it.value() * packed.col(it.col());
        out.col(i).segment(first, count) = sum.head(count).matrix();
    }
}

/// pack(first, count, packed) puts rows of the dense matrix into the first rows of `packed`;
/// from(first) is the first column of out that is wanted of them.
template <class Pack, class From>
void multiply_blocks(Index inner,
                     const SparseRows& sparse,
                     const Pack& pack,
                     const From& from,
                     Eigen::Ref<MatrixXd> out) {
    const Index rows = out.rows();
    const double work = static_cast<double>(rows) * static_cast<double>(sparse.nonZeros());
    parallel_for((rows + width - 1) / width,
                 work < worth_them ? 1 : linear_algebra_threads(),
                 [&](long block) {
                     const Index first = block * width;
                     const Index count = std::min(width, rows - first);
                     Packed packed = Packed::Zero(width, inner);
                     pack(first, count, packed);
                     multiply_packed(packed, sparse, first, count, from(first), out);
                 });
}

}  // namespace

void multiply_transpose(const Eigen::Ref<const MatrixXd>& dense,
                        const SparseRows& sparse,
                        Eigen::Ref<MatrixXd> out) {
    multiply_blocks(
        dense.cols(),
        sparse,
        [&](Index first, Index count, Packed& packed) {
            packed.topRows(count) = dense.middleRows(first, count).array();
        },
        [](Index) { return Index{0}; },
        out);
}

MatrixXd times_transpose(const Eigen::Ref<const MatrixXd>& dense, const SparseRows& sparse) {
    MatrixXd out(dense.rows(), sparse.rows());
    multiply_transpose(dense, sparse, out);
    return out;
}

void multiply_symmetric(const SparseRows& sparse, const MatrixXd& right, Eigen::Ref<MatrixXd> out) {
    // Rows of right^T * sparse^T, each from the diagonal on.
    multiply_blocks(
        right.rows(),
        sparse,
        [&](Index first, Index count, Packed& packed) {
            packed.topRows(count) = right.middleCols(first, count).transpose().array();
        },
        [](Index first) { return first; },
        out);
    out.triangularView<Eigen::StrictlyLower>() = out.transpose();
}

}  // namespace sotto
