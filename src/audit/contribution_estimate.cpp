#include "audit/contribution_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/numbers.hpp"
#include "views/dense_matrices.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Nothing covers rounding where there is no noise, so weaker directions than this are left to it.
constexpr double weakest_noiseless = 1e-7;
constexpr double weakest_noisy = 1e-9;
// A response to a contribution of 1 that is smaller is rounding.
constexpr double rounding = 1e-9;
// Part of an unknown in directions that nothing shows, or that noise covers, which counts as none.
constexpr double no_part = 1e-7;

/// The directions of the unknowns that a matrix of responses shows, and those it does not.
struct Directions {
    MatrixXd left;    // rows x shown
    VectorXd values;  // shown
    MatrixXd shown;   // unknowns x shown
    MatrixXd hidden;  // unknowns x the rest
};

Directions directions_of(const MatrixXd& responses, double relative, double least) {
    const Index unknowns = responses.cols();
    if (responses.rows() == 0 || unknowns == 0)
        return {MatrixXd(responses.rows(), 0),
                VectorXd(0),
                MatrixXd(unknowns, 0),
                MatrixXd::Identity(unknowns, unknowns)};
    const Eigen::BDCSVD<MatrixXd> svd(responses, Eigen::ComputeThinU | Eigen::ComputeFullV);
    const VectorXd& values = svd.singularValues();
    const double smallest = std::max(least, relative * values(0));
    const Index rank = (values.array() > smallest).count();
    return {svd.matrixU().leftCols(rank),
            values.head(rank),
            svd.matrixV().leftCols(rank),
            svd.matrixV().rightCols(unknowns - rank)};
}

/// sum += projection^T values, of the rows of the projection that belong to them.
void accumulate(const MatrixXd& projection, const MatrixXd& values, Index& row, MatrixXd& sum) {
    if (row + values.rows() > projection.rows())
        throw ConfigError(fmt::format("contributions: {} innovations more than the {} expected",
                                      row + values.rows() - projection.rows(),
                                      projection.rows()));
    add_product(1, projection.middleRows(row, values.rows()), true, values, false, sum);
    row += values.rows();
}

}  // namespace

ContributionEstimator::ContributionEstimator(ViewInnovations::Innovation responses,
                                             Index coordinates) {
    const Directions exact = directions_of(responses.noiseless, weakest_noiseless, rounding);
    const MatrixXd remaining = product(responses.whitened, false, exact.hidden);
    const Directions covered =
        directions_of(remaining, weakest_noisy, 1e-12 * responses.whitened.norm());

    noiseless_projection_ = exact.left;
    from_noiseless_ = exact.shown * exact.values.cwiseInverse().asDiagonal();
    noisy_projection_ = covered.left;
    from_noisy_ =
        product(exact.hidden, false, covered.shown) * covered.values.cwiseInverse().asDiagonal();
    noisy_from_noiseless_ =
        product(covered.left, true, product(responses.whitened, false, from_noiseless_));
    noiseless_ = MatrixXd::Zero(exact.left.cols(), coordinates);
    noisy_ = MatrixXd::Zero(covered.left.cols(), coordinates);

    const MatrixXd hidden = product(exact.hidden, false, covered.hidden);
    variances_ = from_noisy_.rowwise().squaredNorm();
    for (Index u = 0; u < variances_.size(); ++u) {
        if (hidden.row(u).norm() > no_part)
            variances_(u) = infinity;
        else if (exact.hidden.row(u).norm() <= no_part)
            variances_(u) = 0;
    }
}

void ContributionEstimator::add(const ViewInnovations::Innovation& seen) {
    accumulate(noisy_projection_, seen.whitened, noisy_rows_, noisy_);
    accumulate(noiseless_projection_, seen.noiseless, noiseless_rows_, noiseless_);
}

MatrixXd ContributionEstimator::estimates() const {
    MatrixXd result = product(from_noiseless_, false, noiseless_);
    const MatrixXd rest = noisy_ - product(noisy_from_noiseless_, false, noiseless_);
    add_product(1, from_noisy_, false, rest, false, result);
    return result;
}

double chance_of_smaller_error(double mean_square, double variance, Index errors) {
    require_positive("variance", variance);
    const auto freedom = static_cast<double>(errors);
    return boost::math::cdf(boost::math::chi_squared(freedom), freedom * mean_square / variance);
}

}  // namespace sotto
