#include "design/coalition_path.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "design/coalition_certificate.hpp"
#include "design/coalition_step.hpp"
#include "design/solver_input.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/privacy/coalitions.hpp"

namespace sotto {

using Eigen::VectorXd;

namespace {

/// Least mean complementarity that a step aims at, as a share of the present one. Where it proves
/// too bold, because few of the step's length could be taken, the next ones aim at more.
constexpr double centring = 0.15;
constexpr double most_cautious = 0.8;
/// Adds the coalitions that are violated most. @return the largest excess over all coalitions.
double add_violated(CoalitionProblem& problem, const VectorXd& phi, int size) {
    constexpr std::size_t most_at_once = 60;
    std::vector<std::pair<double, Coalition>> violated;
    double worst = 0;
    for_each_coalition(problem.agents(), size, [&](const Coalition& coalition) {
        const double excess = problem.excess(phi, coalition);
        worst = std::max(worst, excess);
        if (excess > 1 + 1e-9) violated.emplace_back(excess, coalition);
    });
    std::sort(violated.begin(), violated.end(), std::greater<>());
    if (violated.size() > most_at_once) violated.resize(most_at_once);
    for (auto& entry : violated) problem.add(std::move(entry.second));
    return worst;
}

}  // namespace

CoalitionPath::CoalitionPath(CoalitionProblem problem, const CoalitionOptions& options)
    : problem_(std::move(problem)),
      options_(options),
      all_(count_coalitions(problem_.agents(), options.coalition_size) <= few_coalitions) {
    restart(problem_.start(), 1e-2);
    target_ = complementarity(problem_, point_);
    aim_ = centring;
}

void CoalitionPath::follow() {
    while (iterations_ < options_.max_iterations && advance()) {
    }
    if (best_.size() == 0) (void)check_all();
}

void CoalitionPath::restart(VectorXd phi, double share) {
    std::optional<CoalitionPoint> point = feasible_point(problem_, std::move(phi));
    if (!point) throw_cap_too_small(options_.variance_cap, options_.common_variance);
    point_ = *std::move(point);
    point_.price = balanced_prices(problem_, point_, share * problem_.cost().dot(point_.phi));
    last_gap_ = last_present_ = infinity;
}

/// One step. False if it was the last.
bool CoalitionPath::advance() {
    ++iterations_;
    CoalitionStep step = take_step(problem_, point_, target_);
    if (step.length > 0) point_ = std::move(step.point);
    best_bound_ = std::max(best_bound_, certified_lower_bound(problem_, point_));
    const double value = excess(problem_, point_) * problem_.cost().dot(point_.phi);
    const bool solved = value - best_bound_ <= 0.5 * options_.relative_gap * value;
    if (all_ || solved || step.length == 0) {
        const double worst = check_all();
        if (best_value_ - best_bound_ <= options_.relative_gap * best_value_ || step.length == 0)
            return false;
        if (!all_ && solved) restart(1.02 * std::max(1.0, worst) * point_.phi, 1e-4);
    }
    const double present = complementarity(problem_, point_);
    if (stalled(std::min(best_value_, value) - best_bound_, present)) return false;
    if (present < 1e-13 * problem_.cost().dot(point_.phi)) return false;  // rounding decides
    // A short step means that the point is off the path: come back to it first.
    if (step.length < 0.5) aim_ = std::min(most_cautious, std::sqrt(aim_));
    if (step.length > 0.8) aim_ = std::max(centring, aim_ * aim_);
    target_ = (step.length > 0.2 ? aim_ : 1.0) * present;
    return true;
}

/// Of all coalitions: adds those that are violated most. @return the largest excess.
double CoalitionPath::check_all() {
    const double worst = all_ ? excess(problem_, point_)
                              : add_violated(problem_, point_.phi, options_.coalition_size);
    const double value = worst * problem_.cost().dot(point_.phi);
    if (value < best_value_) {
        best_ = worst * point_.phi;
        best_value_ = value;
    }
    return worst;
}

/// Where M is singular rounding ends the progress before the gap is met.
bool CoalitionPath::stalled(double gap, double present) {
    constexpr int patience = 25;
    if (gap < 0.9 * last_gap_ || present < 0.9 * last_present_) {
        last_gap_ = std::min(last_gap_, gap);
        last_present_ = present;
        last_progress_ = iterations_;
    }
    return iterations_ - last_progress_ > patience;
}

}  // namespace sotto
