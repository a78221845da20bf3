#include "sotto/core/linear_algebra.hpp"

#include <Eigen/Eigenvalues>

#include "sotto/core/error.hpp"

#ifdef SOTTO_HAVE_LAPACK
#include <lapacke.h>
#endif

namespace sotto {

namespace {

SymmetricEigen decompose(const Eigen::MatrixXd& matrix, bool with_vectors) {
    if (!matrix.allFinite())
        throw Error(ExitCode::other, "eigendecomposition of a matrix that holds NaN or infinity");
    SymmetricEigen result;
    if (matrix.rows() == 0) return result;
#ifdef SOTTO_HAVE_LAPACK
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

const char* eigen_backend() {
#ifdef SOTTO_HAVE_LAPACK
    return "LAPACK";
#else
    return "Eigen";
#endif
}

}  // namespace sotto
