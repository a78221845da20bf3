#include "design/descent.hpp"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"

namespace sotto {

namespace {

using Eigen::VectorXd;

/// Approximation of the inverse Hessian from the last steps.
class Curvature {
  public:
    void add(VectorXd step, VectorXd change) {
        const double curvature = step.dot(change);
        if (!(curvature > 1e-12 * step.norm() * change.norm())) return;
        pairs_.push_back({std::move(step), std::move(change), curvature});
        if (pairs_.size() > most) pairs_.pop_front();
    }
    void clear() { pairs_.clear(); }
    [[nodiscard]] bool empty() const { return pairs_.empty(); }
    /// -(inverse Hessian) gradient, by the two-loop recursion.
    [[nodiscard]] VectorXd direction(const VectorXd& gradient) const {
        VectorXd result = -gradient;
        if (pairs_.empty()) return result;
        std::vector<double> shares(pairs_.size());
        for (std::size_t i = pairs_.size(); i-- > 0;) {
            shares[i] = pairs_[i].step.dot(result) / pairs_[i].curvature;
            result -= shares[i] * pairs_[i].change;
        }
        result *= pairs_.back().curvature / pairs_.back().change.squaredNorm();
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            const double share = pairs_[i].change.dot(result) / pairs_[i].curvature;
            result += (shares[i] - share) * pairs_[i].step;
        }
        return result;
    }

  private:
    static constexpr std::size_t most = 20;
    struct Pair {
        VectorXd step, change;
        double curvature;
    };
    std::deque<Pair> pairs_;
};

/// The first of ever shorter steps that lowers f enough. False if there is none.
bool shorten_until_lower(const DescentFunction& f,
                         const DescentPoint& from,
                         const VectorXd& direction,
                         double length,
                         DescentPoint& to) {
    constexpr double share = 1e-4;
    const double slope = from.gradient.dot(direction);
    if (!(slope < 0)) return false;
    to.gradient.resizeLike(from.gradient);
    for (int i = 0; i < 30; ++i) {
        to.point = from.point + length * direction;
        to.value = f(to.point, to.gradient);
        if (to.value <= from.value + share * length * slope) return true;
        // The minimum of the interpolating parabola, but not too near.
        const double bend = 2 * (to.value - from.value - length * slope);
        const double shorter = std::isfinite(to.value) && bend > 0
                                   ? std::clamp(-slope * length / bend, 0.1, 0.5)
                                   : 0.3;
        length *= shorter;
    }
    return false;
}

}  // namespace

DescentPoint find_minimum(const DescentFunction& f, VectorXd start, const DescentOptions& options) {
    DescentPoint now{std::move(start), {}, 0}, next;
    now.gradient.setZero(now.point.size());
    now.value = f(now.point, now.gradient);
    Curvature curvature;
    std::deque<double> last;
    for (int step = 0; step < options.max_steps && std::isfinite(now.value); ++step) {
        const double size = now.gradient.norm();
        if (!(size > 0)) break;
        const bool first = curvature.empty();
        const VectorXd direction = curvature.direction(now.gradient);
        if (!shorten_until_lower(
                f, now, direction, first ? options.first_length / size : 1.0, next)) {
            if (first) break;
            curvature.clear();
            continue;
        }
        curvature.add(next.point - now.point, next.gradient - now.gradient);
        std::swap(now, next);
        last.push_back(next.value);
        if (last.size() <= 10) continue;
        if (!(last.front() - now.value > options.least_decrease * std::abs(now.value))) break;
        last.pop_front();
    }
    return now;
}

using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd AndersonSteps::next(const VectorXd& point, const VectorXd& image) {
    const VectorXd residual = image - point;
    if (last_image_.size() > 0) {
        image_changes_.push_back(image - last_image_);
        residual_changes_.push_back(residual - last_residual_);
        if (image_changes_.size() > memory_) {
            image_changes_.pop_front();
            residual_changes_.pop_front();
        }
    }
    last_image_ = image;
    last_residual_ = residual;
    if (residual_changes_.empty()) return image;
    MatrixXd changes(residual.size(), std::ssize(residual_changes_));
    for (std::size_t i = 0; i < residual_changes_.size(); ++i)
        changes.col(static_cast<Eigen::Index>(i)) = residual_changes_[i];
    Eigen::ColPivHouseholderQR<MatrixXd> solver(changes);
    solver.setThreshold(1e-10);
    const VectorXd shares = solver.solve(residual);
    VectorXd result = image;
    for (std::size_t i = 0; i < image_changes_.size(); ++i)
        result -= shares(static_cast<Eigen::Index>(i)) * image_changes_[i];
    return result;
}

void AndersonSteps::forget() {
    last_image_.resize(0);
    last_residual_.resize(0);
    image_changes_.clear();
    residual_changes_.clear();
}

using Eigen::MatrixXd;

MatrixXd bought(const MatrixXd& s, const MatrixXd& gain, const MatrixXd& cost, double kept) {
    const Eigen::LLT<MatrixXd> factor(cost);
    if (factor.info() != Eigen::Success) return s;
    MatrixXd inner = factor.matrixU() * s;
    inner = inner * gain * inner.transpose();
    inner.diagonal().array() += kept * inner.trace();
    const SymmetricEigen eigen = symmetric_eigen(inner);
    const MatrixXd root = eigen.vectors * eigen.values.cwiseMax(0).cwiseSqrt().asDiagonal() *
                          eigen.vectors.transpose();
    const MatrixXd left = factor.matrixU().solve(root);
    const MatrixXd both = factor.matrixU().solve(left.transpose());
    return 0.5 * (both + both.transpose());
}

double largest_ratio(const MatrixXd& gain, const MatrixXd& cost) {
    const Eigen::LLT<MatrixXd> factor(cost);
    if (factor.info() != Eigen::Success) return infinity;
    const MatrixXd half = factor.matrixL().solve(gain);
    return symmetric_eigenvalues(factor.matrixL().solve(half.transpose())).maxCoeff();
}

using Eigen::Index;
using Eigen::VectorXd;

void NumberSteps::take(const VectorXd& earned, double haste, VectorXd& numbers) {
    constexpr double least = 0.5, longest = 8, growth = 1.3;
    const double most = least + haste * (longest - least);
    const double most_change = 2 * (1 + haste);
    if (power_.size() == 0) {
        power_ = VectorXd::Constant(earned.size(), least);
        rose_.assign(static_cast<std::size_t>(earned.size()), false);
    }
    for (Index i = 0; i < earned.size(); ++i) {
        const auto place = static_cast<std::size_t>(i);
        const bool rises = earned(i) > 1;
        power_(i) = rises == rose_[place] ? std::min(most, growth * power_(i)) : least;
        rose_[place] = rises;
        numbers(i) *= std::clamp(std::pow(earned(i), power_(i)), 1 / most_change, most_change);
    }
}

}  // namespace sotto
