#include "sotto/core/linear_algebra.hpp"

#include <dlfcn.h>

#include <Eigen/Eigenvalues>
#include <string>

#include "sotto/core/error.hpp"

#ifdef SOTTO_HAVE_LAPACK
#include <cblas.h>
#include <lapacke.h>
#endif

namespace sotto {

namespace {

[[maybe_unused]] int thread_limit = 0;  // 0: what the library starts with

#ifdef SOTTO_HAVE_LAPACK

constexpr Eigen::Index one_thread_below = 600;

/// OpenBLAS's own setting, for the scope; nothing where another BLAS is in use.
class BlasThreads {
  public:
    explicit BlasThreads(int threads) {
        using Count = int (*)();
        using Set = void (*)(int);
        static const auto count =
            reinterpret_cast<Count>(::dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
        static const auto set =
            reinterpret_cast<Set>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
        if (threads == 0 || count == nullptr || set == nullptr || count() == threads) return;
        set_ = set;
        before_ = count();
        set_(threads);
    }
    ~BlasThreads() {
        if (set_ != nullptr) set_(before_);
    }
    BlasThreads(const BlasThreads&) = delete;
    BlasThreads& operator=(const BlasThreads&) = delete;

  private:
    void (*set_)(int) = nullptr;
    int before_ = 0;
};

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
    const BlasThreads threads(matrix.rows() < one_thread_below ? 1 : thread_limit);
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
    const BlasThreads threads(matrix.rows() < one_thread_below ? 1 : thread_limit);
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
    const BlasThreads threads(matrix.rows() < one_thread_below ? 1 : thread_limit);
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

void set_linear_algebra_threads(int threads) {
    if (threads < 1)
        throw ConfigError("threads is " + std::to_string(threads) + "; must be at least 1");
    thread_limit = threads;
    Eigen::setNbThreads(threads);
}

const char* eigen_backend() {
#ifdef SOTTO_HAVE_LAPACK
    return "LAPACK";
#else
    return "Eigen";
#endif
}

}  // namespace sotto
