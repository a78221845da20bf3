#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/noise/spatial_solver.hpp"

namespace sotto {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// R = s2 (I + ratio L), with s2 the smallest that satisfies every agent.
class LaplacianFamily {
  public:
    LaplacianFamily(const MatrixXd& utility, const MatrixXd& laplacian, const VectorXd& kappa)
        : kappa_(kappa), eigen_(symmetric_eigen(laplacian)) {
        private_cost_ = utility.trace();
        edge_cost_ = utility.cwiseProduct(laplacian).sum();
        degree_ = laplacian.diagonal();
        squares_ = eigen_.vectors.cwiseAbs2();
    }

    [[nodiscard]] double private_variance(double ratio) const {
        const VectorXd gains = (1 + ratio * eigen_.values.array()).inverse().matrix();
        return (squares_ * gains).cwiseQuotient(kappa_).maxCoeff();
    }
    [[nodiscard]] double value(double ratio) const {
        return private_variance(ratio) * (private_cost_ + ratio * edge_cost_);
    }
    /// Largest R_uu kappa_u.
    [[nodiscard]] double relative_variance(double ratio) const {
        return private_variance(ratio) *
               ((1 + ratio * degree_.array()) * kappa_.array()).maxCoeff();
    }

    /// Smallest cost over (s2, c) >= 0 that satisfies the constraints linearised at a point. The
    /// constraints are convex, so every feasible point satisfies the linearisation: a lower bound.
    [[nodiscard]] double lower_bound(double ratio) const {
        const double s2 = private_variance(ratio);
        const Eigen::ArrayXd inverse = (s2 * (1 + ratio * eigen_.values.array())).inverse();
        // h_u = [R^-1]_uu;  -dh_u/ds2 = |R^-1 e_u|^2,  -dh_u/dc = (R^-1 e_u)^T L (R^-1 e_u).
        const VectorXd precision = squares_ * inverse.matrix();
        const VectorXd private_slope = squares_ * inverse.square().matrix();
        const VectorXd edge_slope = squares_ * (inverse.square() * eigen_.values.array()).matrix();
        // a s2 + b c >= r for every agent; only the tightest matter, and fewer still bound.
        std::vector<Eigen::Index> order(static_cast<std::size_t>(kappa_.size()));
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Eigen::Index>(i);
        std::sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) {
            return precision(a) / kappa_(a) > precision(b) / kappa_(b);
        });
        if (order.size() > 24) order.resize(24);
        struct HalfPlane {
            double a, b, r;
        };
        // However large c is, [R^-1]_uu >= q_u^2 / s2, q the unit vector that L maps to 0. Where
        // edge noise costs nothing (the complete graph) no linearisation says so.
        const double least_s2 = squares_.col(0).cwiseQuotient(kappa_).maxCoeff();
        std::vector<HalfPlane> planes{{1, 0, least_s2}, {0, 1, 0}};
        for (const Eigen::Index u : order) {
            const double right =
                precision(u) - kappa_(u) + private_slope(u) * s2 + edge_slope(u) * ratio * s2;
            planes.push_back({private_slope(u), edge_slope(u), right});
        }
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < planes.size(); ++i)
            for (std::size_t j = i + 1; j < planes.size(); ++j) {
                const auto& p = planes[i];
                const auto& q = planes[j];
                const double determinant = p.a * q.b - p.b * q.a;
                if (!(std::abs(determinant) > 0)) continue;
                const double x = (p.r * q.b - p.b * q.r) / determinant;
                const double y = (p.a * q.r - p.r * q.a) / determinant;
                const bool feasible =
                    std::all_of(planes.begin(), planes.end(), [&](const HalfPlane& plane) {
                        return plane.a * x + plane.b * y >=
                               plane.r - 1e-12 * std::abs(plane.r) - 1e-300;
                    });
                if (feasible) best = std::min(best, private_cost_ * x + edge_cost_ * y);
            }
        return best;
    }

  private:
    VectorXd kappa_;
    SymmetricEigen eigen_;
    MatrixXd squares_;
    VectorXd degree_;
    double private_cost_ = 0, edge_cost_ = 0;
};

}  // namespace

LaplacianSolution solve_laplacian_covariance(const MatrixXd& utility,
                                             const MatrixXd& laplacian,
                                             const VectorXd& kappa,
                                             double variance_cap) {
    for (Eigen::Index u = 0; u < kappa.size(); ++u)
        if (!(kappa(u) > 0 && std::isfinite(kappa(u))))
            throw ConfigError(fmt::format(
                "kappa of agent {}: {} is not allowed (must be finite and above 0)", u, kappa(u)));
    if (!(variance_cap > 1))
        throw ConfigError(
            fmt::format("variance-cap: {} is not allowed (must be above 1)", variance_cap));
    const LaplacianFamily family(utility, laplacian, kappa);
    // Unequal kappa can exceed the cap with private noise alone; the cap is then relative to that.
    const double cap = std::max(variance_cap, family.relative_variance(0) * (1 + 1e-12));

    // log(c/s2): from far below any effect up to where the cap is met.
    double lower = std::log(1e-9), upper = std::log(1e12);
    LaplacianSolution solution;
    if (family.relative_variance(std::exp(upper)) > cap) {
        double inside = lower;
        for (int i = 0; i < 100; ++i) {
            const double middle = 0.5 * (inside + upper);
            (family.relative_variance(std::exp(middle)) <= cap ? inside : upper) = middle;
        }
        upper = inside;
    }
    const auto value = [&](double log_ratio) { return family.value(std::exp(log_ratio)); };
    // Brent's method finds a minimum of a unimodal function to half the digits of its argument,
    // which is all digits of the value.
    double best = boost::math::tools::brent_find_minima(value, lower, upper, 40).first;
    if (value(upper) < value(best)) best = upper;
    double ratio = std::exp(best);
    if (family.value(0) <= family.value(ratio)) ratio = 0;
    solution.capped = ratio > 0 && family.relative_variance(ratio) > 0.999 * cap;
    solution.private_variance = family.private_variance(ratio);
    solution.edge_variance = ratio * solution.private_variance;
    solution.value = family.value(ratio);
    // Where two agents' constraints cross, linearising slightly to both sides tightens the bound.
    for (const double shift : {0.0, -1e-7, 1e-7, -1e-5, 1e-5})
        solution.lower_bound =
            std::max(solution.lower_bound, family.lower_bound(ratio * std::exp(shift)));
    return solution;
}

}  // namespace sotto
