#include "views/whitening.hpp"

#include <algorithm>

#include "privacy/unknown_noise.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/views/squared_sensitivity.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr double well_conditioned = 1e-7;  // smallest squared pivot: no eigenvalues needed

}  // namespace

bool Whitening::shows_without_noise(const MatrixXd& columns) const {
    return blind.rows() > 0 && (blind * columns).colwise().norm().maxCoeff() > seen_without_noise;
}

Whitening whiten(const MatrixXd& covariance, double floor) {
    const Index size = covariance.rows();
    Whitening result;
    result.rows.resize(0, size);
    result.blind.resize(0, size);
    if (size == 0) return result;
    const double largest = covariance.diagonal().maxCoeff();
    if (!(largest > floor)) {
        result.blind = MatrixXd::Identity(size, size);
        return result;
    }
    MatrixXd lower = covariance;
    if (cholesky(lower)) {
        const double pivot = lower.diagonal().cwiseAbs2().minCoeff();
        if (pivot > well_conditioned * largest && pivot > 100 * floor) {
            result.rows = MatrixXd::Identity(size, size);
            solve_lower(lower, result.rows);
            return result;
        }
    }
    const SymmetricEigen eigen = symmetric_eigen(covariance);
    const double cut_off = std::max(floor, rank_cut_off * eigen.values(size - 1));
    Index blind = 0;
    while (blind < size && !(eigen.values(blind) > cut_off)) ++blind;
    result.blind = eigen.vectors.leftCols(blind).transpose();
    result.rows = eigen.values.tail(size - blind).cwiseSqrt().cwiseInverse().asDiagonal() *
                  eigen.vectors.rightCols(size - blind).transpose();
    return result;
}

}  // namespace sotto
