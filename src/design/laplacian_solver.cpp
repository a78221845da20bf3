#include "design/laplacian_solver.hpp"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "core/linear_algebra.hpp"
#include "design/solver_input.hpp"
#include "privacy/protection.hpp"

namespace sotto {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Noise unknown to one coalition: s2 I + c L of the graph without it.
struct RemainingGraph {
    RemainingGraph(const MatrixXd& laplacian,
                   const VectorXd& all_kappa,
                   const std::vector<int>& coalition) {
        std::vector<Eigen::Index> outside;
        for (Eigen::Index u = 0; u < laplacian.rows(); ++u)
            if (!std::binary_search(coalition.begin(), coalition.end(), static_cast<int>(u)))
                outside.push_back(u);
        kappa = all_kappa(outside);
        MatrixXd remaining = laplacian(outside, outside);
        // Its edges to the coalition are gone.
        remaining.diagonal().setZero();
        const VectorXd degree = -remaining.rowwise().sum();
        remaining.diagonal() = degree;
        SymmetricEigen eigen = symmetric_eigen(remaining);
        values = eigen.values.cwiseMax(0);
        squares = eigen.vectors.cwiseAbs2();
    }
    VectorXd kappa;
    VectorXd values;   // eigenvalues of L
    MatrixXd squares;  // of the entries of its eigenvectors
};

/// R = s2 (I + ratio L), with the smallest s2 that satisfies every agent against every coalition.
class LaplacianFamily {
  public:
    LaplacianFamily(const MatrixXd& utility,
                    const MatrixXd& laplacian,
                    const VectorXd& kappa,
                    int coalition_size)
        : kappa_(kappa) {
        private_cost_ = utility.trace();
        // Zero on the complete graph, up to rounding.
        edge_cost_ = std::max(0.0, utility.cwiseProduct(laplacian).sum());
        degree_ = laplacian.diagonal();
        for_each_coalition(
            static_cast<int>(kappa.size()), coalition_size, [&](const std::vector<int>& coalition) {
                views_.emplace_back(laplacian, kappa, coalition);
            });
    }

    [[nodiscard]] double private_variance(double ratio) const {
        double variance = 0;
        for (const RemainingGraph& view : views_) {
            const VectorXd gains = (1 + ratio * view.values.array()).inverse().matrix();
            variance =
                std::max(variance, (view.squares * gains).cwiseQuotient(view.kappa).maxCoeff());
        }
        return variance;
    }
    [[nodiscard]] double value(double ratio) const {
        return private_variance(ratio) * (private_cost_ + ratio * edge_cost_);
    }
    /// Largest R_uu kappa_u.
    [[nodiscard]] double relative_variance(double ratio) const {
        return private_variance(ratio) *
               ((1 + ratio * degree_.array()) * kappa_.array()).maxCoeff();
    }

    /// Smallest cost over (s2, c) >= 0 that satisfies the constraints linearised at a point. They
    /// are convex, so every feasible point satisfies the linearisation: a lower bound.
    [[nodiscard]] double lower_bound(double ratio) const {
        const double s2 = private_variance(ratio);
        std::vector<HalfPlane> all;
        double least_s2 = 0;
        for (const RemainingGraph& view : views_) {
            const Eigen::ArrayXd inverse = (s2 * (1 + ratio * view.values.array())).inverse();
            // h_u = [R^-1]_uu;  -dh_u/ds2 = |R^-1 e_u|^2,  -dh_u/dc = (R^-1 e_u)^T L (R^-1 e_u).
            const VectorXd precision = view.squares * inverse.matrix();
            const VectorXd private_slope = view.squares * inverse.square().matrix();
            const VectorXd edge_slope =
                view.squares * (inverse.square() * view.values.array()).matrix();
            for (Eigen::Index u = 0; u < view.kappa.size(); ++u)
                all.push_back({private_slope(u),
                               edge_slope(u),
                               precision(u) - view.kappa(u) + private_slope(u) * s2 +
                                   edge_slope(u) * ratio * s2});
            // For every c, [R^-1]_uu >= |q_u|^2 / s2, q the null vectors of L. If edge noise costs
            // nothing (the complete graph), no linearisation implies it.
            const double zero = 1e-10 * std::max(1.0, view.values.maxCoeff());
            const VectorXd null = (view.values.array() <= zero).cast<double>().matrix();
            least_s2 =
                std::max(least_s2, (view.squares * null).cwiseQuotient(view.kappa).maxCoeff());
        }
        all.push_back({1, 0, least_s2});
        return cheapest(all);
    }

  private:
    /// a s2 + b c >= r, a > 0, b >= 0.
    struct HalfPlane {
        double a, b, r;
    };

    /// Smallest cost over all half planes and c >= 0. For given c the smallest s2 is max (r - b c)
    /// / a, so the cost is convex in c with the slope of the binding half plane: bisect to the two
    /// that bind on both sides of the optimum. Their intersection is at most the optimum of all.
    [[nodiscard]] double cheapest(const std::vector<HalfPlane>& planes) const {
        const auto binding = [&](double c) {
            const HalfPlane* best = &planes.front();
            for (const HalfPlane& plane : planes)
                if ((plane.r - plane.b * c) / plane.a > (best->r - best->b * c) / best->a)
                    best = &plane;
            return best;
        };
        const auto slope = [&](const HalfPlane& plane) {
            return edge_cost_ - private_cost_ * plane.b / plane.a;
        };
        const HalfPlane* left = binding(0);
        if (slope(*left) >= 0) return private_cost_ * left->r / left->a;
        double inside = 0, outside = 1 / kappa_.minCoeff();
        const HalfPlane* right = binding(outside);
        while (slope(*right) < 0 && outside < 1e15 / kappa_.minCoeff())
            right = binding(outside *= 4);
        if (slope(*right) < 0) return 0;
        for (int i = 0; i < 200 && outside - inside > 1e-15 * outside; ++i) {
            const double middle = 0.5 * (inside + outside);
            const HalfPlane* plane = binding(middle);
            (slope(*plane) < 0 ? inside : outside) = middle;
            (slope(*plane) < 0 ? left : right) = plane;
        }
        const double determinant = left->a * right->b - left->b * right->a;
        if (!(std::abs(determinant) > 0)) return 0;
        const double s2 = (left->r * right->b - left->b * right->r) / determinant;
        const double c = (left->a * right->r - right->a * left->r) / determinant;
        return private_cost_ * s2 + edge_cost_ * c;
    }

    VectorXd kappa_;
    std::vector<RemainingGraph> views_;
    VectorXd degree_;
    double private_cost_ = 0, edge_cost_ = 0;
};

}  // namespace

LaplacianSolution solve_laplacian_covariance(const MatrixXd& utility,
                                             const MatrixXd& laplacian,
                                             const VectorXd& kappa,
                                             double variance_cap,
                                             int coalition_size) {
    require_kappa(kappa);
    require_variance_cap(variance_cap);
    check_coalition_size(static_cast<int>(kappa.size()), coalition_size);
    const LaplacianFamily family(utility, laplacian, kappa, coalition_size);
    // Unequal kappa can exceed the cap with private noise alone; the cap is then relative to that.
    const double cap = std::max(variance_cap, family.relative_variance(0) * (1 + 1e-12));

    // log(c/s2): from far below any effect up to the cap.
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
    // hence all digits of the value.
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
