#include "design/coalition_certificate.hpp"

#include <Eigen/Cholesky>
#include <algorithm>

#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// P, sum kappa lambda, and -grad P.
struct PricedPrecision {
    double reward = 0, limit = 0;
    VectorXd private_slope;
    std::vector<MatrixXd> slope;  // on the block of each group
};

PricedPrecision priced_precision(const CoalitionProblem& problem, const CoalitionPoint& point) {
    const std::vector<SeedGroup>& groups = problem.groups();
    PricedPrecision priced;
    for (const SeedGroup& group : groups) {
        const auto size = static_cast<Index>(group.members.size());
        priced.slope.emplace_back(MatrixXd::Zero(size, size));
    }
    priced.private_slope = VectorXd::Zero(problem.agents());
    for (std::size_t c = 0; c < problem.coalitions().size(); ++c) {
        const MatrixXd& inverse = point.precision[c];
        // A price of 1/f >= 1/kappa is one of f <= kappa times f^2.
        VectorXd price = point.price.limit.col(static_cast<Index>(c));
        for (int u = 0; u < problem.agents(); ++u)
            if (price(u) > 0) price(u) /= inverse(u, u) * inverse(u, u);
        priced.reward += price.dot(inverse.diagonal());
        priced.limit += price.dot(problem.kappa());
        const MatrixXd square = inverse * price.asDiagonal() * inverse;
        priced.private_slope += square.diagonal();
        for (std::size_t k = 0; k < groups.size(); ++k)
            if (!meets(groups[k], problem.coalitions()[c]))
                priced.slope[k] += square(groups[k].members, groups[k].members);
    }
    return priced;
}

/// Smallest a with slope <= a block on the noise of one group.
double slope_ratio(const MatrixXd& slope, const MatrixXd& block, GroupNoise shape) {
    if (shape == GroupNoise::difference) {
        const auto difference = [](const MatrixXd& a) { return a(0, 0) + a(1, 1) - 2 * a(0, 1); };
        return difference(slope) / difference(block);
    }
    // Of L^-1 slope L^-T, block = L L^T.
    const Eigen::LLT<MatrixXd> factor(block);
    if (factor.info() != Eigen::Success) return infinity;
    const MatrixXd half = factor.matrixL().solve(slope);
    const MatrixXd ratio = factor.matrixL().solve(half.transpose());
    return symmetric_eigenvalues(ratio).maxCoeff();
}

/// Smallest a^2 with slope <= a^2 costs, for private noise and on the block of every group.
double largest_slope(const CoalitionProblem& problem,
                     const PricedPrecision& priced,
                     const MatrixXd& costs) {
    double largest = problem.common_variance()
                         ? priced.private_slope.sum() / costs.trace()
                         : priced.private_slope.cwiseQuotient(costs.diagonal()).maxCoeff();
    for (std::size_t k = 0; k < problem.groups().size(); ++k) {
        const auto& members = problem.groups()[k].members;
        largest = std::max(largest,
                           slope_ratio(priced.slope[k], costs(members, members), problem.shape()));
    }
    return largest;
}

}  // namespace

double certified_lower_bound(const CoalitionProblem& problem, const CoalitionPoint& point) {
    const PricedPrecision priced = priced_precision(problem, point);
    // Any prices of the cap will do. Where M is singular on a block, rounding in the slope must
    // not be divided by almost nothing: try what a little more costs.
    double best = 0;
    for (double more = 0; more < 1e-4; more = more == 0 ? 1e-13 : 10 * more) {
        const VectorXd cap_price = point.price.cap.array() + more;
        const MatrixXd costs = problem.utility() + MatrixXd(cap_price.asDiagonal());
        const double largest = largest_slope(problem, priced, costs);
        best = std::max(best,
                        priced.reward * priced.reward / (largest * priced.limit) -
                            cap_price.dot(problem.cap()));
    }
    return best;
}

}  // namespace sotto
