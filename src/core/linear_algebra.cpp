#include "sotto/core/linear_algebra.hpp"

#include <dlfcn.h>

#include <Eigen/Eigenvalues>
#include <string>

#include "sotto/core/error.hpp"

#ifdef SOTTO_HAVE_LAPACK
#ifdef _OPENMP
#include <omp.h>
#endif
#include <cblas.h>
#include <lapacke.h>
#endif

namespace sotto {

namespace {

int thread_limit = 0;  // 0: what the library starts with

#ifdef SOTTO_HAVE_LAPACK

constexpr Eigen::Index one_thread_below = 600;

/// OpenBLAS's own setting for the calls that follow; nothing where another BLAS is in use. It is
/// not put back: threads that each did so would change it under each other.
void use_blas_threads(int threads) {
    using Count = int (*)();
    using Set = void (*)(int);
    static const auto count =
        reinterpret_cast<Count>(::dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
    static const auto set =
        reinterpret_cast<Set>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
    if (count == nullptr || set == nullptr) return;
    static const int at_start = count();
    const int wanted = threads == 0 ? at_start : threads;
    if (count() != wanted) set(wanted);
}

/// Threads for so many multiplications.
int threads_for(double multiplications) {
#ifdef _OPENMP
    if (omp_in_parallel() != 0) return 1;
#endif
    return multiplications < 1e8 ? 1 : thread_limit;
}

#endif

SymmetricEigen decompose(const Eigen::MatrixXd& matrix, bool with_vectors) {
    if (!matrix.allFinite())
        throw Error(ExitCode::other, "eigendecomposition of a matrix that holds NaN or infinity");
    SymmetricEigen result;
    if (matrix.rows() == 0) return result;
#ifdef SOTTO_HAVE_LAPACK
    const auto n = static_cast<lapack_int>(matrix.rows());
    result.values.resize(n);
    result.vectors = matrix;
    use_blas_threads(matrix.rows() < one_thread_below ? 1 : thread_limit);
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
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(
        matrix, with_vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
    if (solver.info() != Eigen::Success)
        throw Error(ExitCode::other, "Eigen's symmetric eigensolver did not converge");
    result.values = solver.eigenvalues();
    if (with_vectors) result.vectors = solver.eigenvectors();
#endif
    return result;
}

}  // namespace

SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& matrix) { return decompose(matrix, true); }

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& matrix) {
    return decompose(matrix, false).values;
}

void add_gram(const Eigen::MatrixXd& rows, Eigen::MatrixXd& matrix) {
    if (rows.rows() == 0) return;
#ifdef SOTTO_HAVE_LAPACK
    use_blas_threads(matrix.rows() < one_thread_below ? 1 : thread_limit);
    cblas_dsyrk(CblasColMajor,
                CblasLower,
                CblasTrans,
                static_cast<int>(matrix.rows()),
                static_cast<int>(rows.rows()),
                1.0,
                rows.data(),
                static_cast<int>(rows.rows()),
                1.0,
                matrix.data(),
                static_cast<int>(matrix.rows()));
#else
    matrix.selfadjointView<Eigen::Lower>().rankUpdate(rows.transpose());
#endif
}

bool solve_positive_definite(Eigen::MatrixXd& matrix, Eigen::MatrixXd& right) {
#ifdef SOTTO_HAVE_LAPACK
    use_blas_threads(matrix.rows() < one_thread_below ? 1 : thread_limit);
    const auto n = static_cast<lapack_int>(matrix.rows());
    return LAPACKE_dposv(LAPACK_COL_MAJOR,
                         'L',
                         n,
                         static_cast<lapack_int>(right.cols()),
                         matrix.data(),
                         n,
                         right.data(),
                         n) == 0;
#else
    const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>, Eigen::Lower> factor(matrix);
    if (factor.info() != Eigen::Success) return false;
    right = factor.solve(right);
    return true;
#endif
}

void add_product(double alpha,
                 const Eigen::Ref<const Eigen::MatrixXd>& a,
                 bool transpose_a,
                 const Eigen::Ref<const Eigen::MatrixXd>& b,
                 bool transpose_b,
                 Eigen::Ref<Eigen::MatrixXd> out) {
    const Eigen::Index inner = transpose_a ? a.rows() : a.cols();
    if (out.size() == 0 || inner == 0) return;
#ifdef SOTTO_HAVE_LAPACK
    use_blas_threads(threads_for(static_cast<double>(out.size()) * static_cast<double>(inner)));
    cblas_dgemm(CblasColMajor,
                transpose_a ? CblasTrans : CblasNoTrans,
                transpose_b ? CblasTrans : CblasNoTrans,
                static_cast<int>(out.rows()),
                static_cast<int>(out.cols()),
                static_cast<int>(inner),
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

bool cholesky(Eigen::MatrixXd& matrix) {
    if (matrix.size() == 0) return true;
#ifdef SOTTO_HAVE_LAPACK
    const auto n = static_cast<lapack_int>(matrix.rows());
    const auto size = static_cast<double>(matrix.rows());
    use_blas_threads(threads_for(size * size * size / 6));
    if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', n, matrix.data(), n) != 0) return false;
#else
    const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>, Eigen::Lower> factor(matrix);
    if (factor.info() != Eigen::Success) return false;
#endif
    matrix.triangularView<Eigen::StrictlyUpper>().setZero();
    return true;
}

void solve_lower(const Eigen::MatrixXd& lower, Eigen::MatrixXd& right) {
    if (right.size() == 0) return;
#ifdef SOTTO_HAVE_LAPACK
    use_blas_threads(
        threads_for(static_cast<double>(right.size()) * static_cast<double>(lower.rows()) / 2));
    cblas_dtrsm(CblasColMajor,
                CblasLeft,
                CblasLower,
                CblasNoTrans,
                CblasNonUnit,
                static_cast<int>(right.rows()),
                static_cast<int>(right.cols()),
                1.0,
                lower.data(),
                static_cast<int>(lower.rows()),
                right.data(),
                static_cast<int>(right.rows()));
#else
    lower.triangularView<Eigen::Lower>().solveInPlace(right);
#endif
}

void set_linear_algebra_threads(int threads) {
    if (threads < 1)
        throw ConfigError("threads is " + std::to_string(threads) + "; must be at least 1");
    thread_limit = threads;
    Eigen::setNbThreads(threads);
}

int linear_algebra_threads() { return thread_limit > 0 ? thread_limit : Eigen::nbThreads(); }

const char* eigen_backend() {
#ifdef SOTTO_HAVE_LAPACK
    return "LAPACK";
#else
    return "Eigen";
#endif
}

}  // namespace sotto
