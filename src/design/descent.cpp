#include "design/descent.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>
#include <vector>

namespace sotto {

namespace {

using Eigen::VectorXd;

/// What the last steps say of the inverse Hessian.
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

/// The first of some ever shorter steps that lowers f enough. False if there is none.
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
        // The minimum of the parabola through what is known, but not too near.
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

}  // namespace sotto
