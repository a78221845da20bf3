#include "core/linear_algebra.hpp"

#include <dlfcn.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <string>

#include "core/blas_memory.hpp"
#include "core/host.hpp"
#include "core/parallel.hpp"
#include "sotto/core/error.hpp"

#ifdef SOTTO_HAVE_LAPACK
#include <cblas.h>
#include <lapacke.h>
#endif

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

int thread_limit = 0;  // 0: all cores

/// Least work worth sharing between threads. [multiplications]
constexpr double worth_sharing = 1e7;
constexpr Index narrowest_block = 64, most_blocks = 16;

/// Calls block(first, count) for blocks of columns or rows. Block sizes are multiples of what
/// kernels compute together, so that every value is the same as without blocks.
template <class Block>
void for_blocks(Index size, double multiplications, const Block& block) {
    const Index even = (size + most_blocks - 1) / most_blocks;
    const Index width =
        multiplications < worth_sharing ? size : std::max(narrowest_block, (even + 7) / 8 * 8);
    parallel_for((size + width - 1) / width, linear_algebra_threads(), [&](long i) {
        block(i * width, std::min(width, size - i * width));
    });
}

/// Multiplications of a product whose values are sums of `sum` terms.
double multiplications_of(const Eigen::Ref<const MatrixXd>& product, Index sum) {
    return static_cast<double>(product.size()) * static_cast<double>(sum);
}

SymmetricEigen decompose(const MatrixXd& matrix, bool with_vectors) {
    if (!matrix.allFinite())
        throw Error(ExitCode::other, "eigendecomposition of a matrix that holds NaN or infinity");
    SymmetricEigen result;
    if (matrix.rows() == 0) return result;
#ifdef SOTTO_HAVE_LAPACK
    end_blas_threads();
    const auto n = static_cast<lapack_int>(matrix.rows());
    result.values.resize(n);
    result.vectors = matrix;
    const lapack_int status = LAPACKE_dsyevd(LAPACK_COL_MAJOR,
                                             with_vectors ? 'V' : 'N',
                                             'L',
                                             n,
                                             result.vectors.data(),
                                             n,
                                             result.values.data());
    if (status != 0)
        throw Error(ExitCode::other,
                    "LAPACK dsyevd did not converge (status " + std::to_string(status) + ")");
    if (!with_vectors) result.vectors.resize(0, 0);
#else
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(
        matrix, with_vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
    if (solver.info() != Eigen::Success)
        throw Error(ExitCode::other, "Eigen's symmetric eigensolver did not converge");
    result.values = solver.eigenvalues();
    if (with_vectors) result.vectors = solver.eigenvectors();
#endif
    return result;
}

/// add_gram of one diagonal block.
void add_gram_block(const Eigen::Ref<const MatrixXd>& rows, Eigen::Ref<MatrixXd> out) {
#ifdef SOTTO_HAVE_LAPACK
    cblas_dsyrk(CblasColMajor,
                CblasLower,
                CblasTrans,
                static_cast<int>(out.rows()),
                static_cast<int>(rows.rows()),
                1.0,
                rows.data(),
                static_cast<int>(rows.outerStride()),
                1.0,
                out.data(),
                static_cast<int>(out.outerStride()));
#else
    out.selfadjointView<Eigen::Lower>().rankUpdate(rows.transpose());
#endif
}

/// add_product of one block.
void add_block(double alpha,
               const Eigen::Ref<const MatrixXd>& a,
               bool transpose_a,
               const Eigen::Ref<const MatrixXd>& b,
               bool transpose_b,
               Eigen::Ref<MatrixXd> out) {
#ifdef SOTTO_HAVE_LAPACK
    cblas_dgemm(CblasColMajor,
                transpose_a ? CblasTrans : CblasNoTrans,
                transpose_b ? CblasTrans : CblasNoTrans,
                static_cast<int>(out.rows()),
                static_cast<int>(out.cols()),
                static_cast<int>(transpose_a ? a.rows() : a.cols()),
                alpha,
                a.data(),
                static_cast<int>(a.outerStride()),
                b.data(),
                static_cast<int>(b.outerStride()),
                1.0,
                out.data(),
                static_cast<int>(out.outerStride()));
#else
    if (transpose_a && transpose_b)
        out.noalias() += alpha * (a.transpose() * b.transpose());
    else if (transpose_a)
        out.noalias() += alpha * (a.transpose() * b);
    else if (transpose_b)
        out.noalias() += alpha * (a * b.transpose());
    else
        out.noalias() += alpha * (a * b);
#endif
}

/// right <- lower^-1 right, or lower^-T right.
void solve_triangular(const Eigen::Ref<const MatrixXd>& lower,
                      bool transpose,
                      Eigen::Ref<MatrixXd> right) {
#ifdef SOTTO_HAVE_LAPACK
    cblas_dtrsm(CblasColMajor,
                CblasLeft,
                CblasLower,
                transpose ? CblasTrans : CblasNoTrans,
                CblasNonUnit,
                static_cast<int>(right.rows()),
                static_cast<int>(right.cols()),
                1.0,
                lower.data(),
                static_cast<int>(lower.outerStride()),
                right.data(),
                static_cast<int>(right.outerStride()));
#else
    if (transpose)
        lower.triangularView<Eigen::Lower>().transpose().solveInPlace(right);
    else
        lower.triangularView<Eigen::Lower>().solveInPlace(right);
#endif
}

}  // namespace

SymmetricEigen symmetric_eigen(const MatrixXd& matrix) { return decompose(matrix, true); }

Eigen::VectorXd symmetric_eigenvalues(const MatrixXd& matrix) {
    return decompose(matrix, false).values;
}

void add_gram(const MatrixXd& rows, MatrixXd& matrix) {
    if (rows.rows() == 0) return;
    end_blas_threads();
    const Index size = matrix.rows();
    for_blocks(size, multiplications_of(rows, size) / 2, [&](Index first, Index count) {
        const auto own = rows.middleCols(first, count);
        const Index below = size - first - count;
        add_gram_block(own, matrix.block(first, first, count, count));
        if (below > 0)
            add_block(1,
                      rows.rightCols(below),
                      true,
                      own,
                      false,
                      matrix.block(first + count, first, below, count));
    });
}

bool solve_positive_definite(MatrixXd& matrix, MatrixXd& right) {
    end_blas_threads();
    const Index n = matrix.rows();
#ifdef SOTTO_HAVE_LAPACK
    const auto size = static_cast<lapack_int>(n);
    if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', size, matrix.data(), size) != 0) return false;
#else
    const Eigen::LLT<Eigen::Ref<MatrixXd>, Eigen::Lower> factor(matrix);
    if (factor.info() != Eigen::Success) return false;
#endif
    for_blocks(right.cols(), multiplications_of(right, n), [&](Index first, Index count) {
        auto part = right.middleCols(first, count);
#ifdef SOTTO_HAVE_LAPACK
        LAPACKE_dpotrs(LAPACK_COL_MAJOR,
                       'L',
                       size,
                       static_cast<lapack_int>(count),
                       matrix.data(),
                       size,
                       part.data(),
                       size);
#else
        part = factor.solve(part).eval();
#endif
    });
    return true;
}

bool invert_positive_definite(MatrixXd& matrix) {
    if (!cholesky(matrix)) return false;
    const Index n = matrix.rows();
    if (n == 0) return true;
    MatrixXd inverse = MatrixXd::Identity(n, n);
    for_blocks(n, multiplications_of(matrix, n) / 2, [&](Index first, Index count) {
        const Index below = n - first;  // above, these columns of L^-1 are 0
        const auto factor = matrix.bottomRightCorner(below, below);
        auto part = inverse.block(first, first, below, count);
        solve_triangular(factor, false, part);
        solve_triangular(factor, true, part);
    });
    matrix = inverse.selfadjointView<Eigen::Lower>();
    return true;
}

MatrixXd multiply(const Eigen::Ref<const MatrixXd>& a, const Eigen::Ref<const MatrixXd>& b) {
    MatrixXd out(a.rows(), b.cols());
    for_blocks(out.cols(), multiplications_of(out, a.cols()), [&](Index first, Index count) {
        out.middleCols(first, count).noalias() = a * b.middleCols(first, count);
    });
    return out;
}

void add_product(double alpha,
                 const Eigen::Ref<const MatrixXd>& a,
                 bool transpose_a,
                 const Eigen::Ref<const MatrixXd>& b,
                 bool transpose_b,
                 Eigen::Ref<MatrixXd> out) {
    const Index inner = transpose_a ? a.rows() : a.cols();
    if (out.size() == 0 || inner == 0) return;
    end_blas_threads();
    const double multiplications = multiplications_of(out, inner);
    if (out.rows() > out.cols())
        for_blocks(out.rows(), multiplications, [&](Index first, Index count) {
            const auto part =
                transpose_a ? a.block(0, first, inner, count) : a.block(first, 0, count, inner);
            add_block(alpha, part, transpose_a, b, transpose_b, out.middleRows(first, count));
        });
    else
        for_blocks(out.cols(), multiplications, [&](Index first, Index count) {
            const auto part =
                transpose_b ? b.block(first, 0, count, inner) : b.block(0, first, inner, count);
            add_block(alpha, a, transpose_a, part, transpose_b, out.middleCols(first, count));
        });
}

bool cholesky(MatrixXd& matrix) {
    if (matrix.size() == 0) return true;
#ifdef SOTTO_HAVE_LAPACK
    end_blas_threads();
    const auto n = static_cast<lapack_int>(matrix.rows());
    if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', n, matrix.data(), n) != 0) return false;
#else
    const Eigen::LLT<Eigen::Ref<MatrixXd>, Eigen::Lower> factor(matrix);
    if (factor.info() != Eigen::Success) return false;
#endif
    matrix.triangularView<Eigen::StrictlyUpper>().setZero();
    return true;
}

void solve_lower(const MatrixXd& lower, MatrixXd& right) {
    if (right.size() == 0) return;
    end_blas_threads();
    for_blocks(
        right.cols(), multiplications_of(right, lower.rows()) / 2, [&](Index first, Index count) {
            solve_triangular(lower, false, right.middleCols(first, count));
        });
}

void solve_lower_from_right(const MatrixXd& lower, MatrixXd& left) {
    if (left.size() == 0) return;
    end_blas_threads();
    for_blocks(
        left.rows(), multiplications_of(left, lower.rows()) / 2, [&](Index first, Index count) {
            auto part = left.middleRows(first, count);
#ifdef SOTTO_HAVE_LAPACK
            cblas_dtrsm(CblasColMajor,
                        CblasRight,
                        CblasLower,
                        CblasTrans,
                        CblasNonUnit,
                        static_cast<int>(count),
                        static_cast<int>(left.cols()),
                        1.0,
                        lower.data(),
                        static_cast<int>(lower.rows()),
                        part.data(),
                        static_cast<int>(part.outerStride()));
#else
            lower.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(part);
#endif
        });
}

void set_linear_algebra_threads(int threads) {
    if (threads < 1)
        throw ConfigError("threads is " + std::to_string(threads) + "; must be at least 1");
    thread_limit = threads;
}

int linear_algebra_threads() {
    static const int cores = usable_processors();
    return std::min(thread_limit > 0 ? thread_limit : cores, most_blas_threads());
}

void end_blas_threads() {
    static const bool done = [] {
        using SetThreads = void (*)(int);
        using End = int (*)();
        const auto set_threads =
            reinterpret_cast<SetThreads>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
        const auto end = reinterpret_cast<End>(::dlsym(RTLD_DEFAULT, "blas_thread_shutdown_"));
        if (set_threads == nullptr) return false;
        set_threads(1);  // first: it would restart the threads
        if (end != nullptr) end();
        return true;
    }();
    static_cast<void>(done);
}

const char* eigen_backend() {
#ifdef SOTTO_HAVE_LAPACK
    return "LAPACK";
#else
    return "Eigen";
#endif
}

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
    // Columns throughout: they are contiguous in memory.
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
