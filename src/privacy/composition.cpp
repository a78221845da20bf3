#include "sotto/privacy/composition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {

void PrivacyLosses::add(const PrivacyPhase& phase, long rounds, const Eigen::VectorXd& precision) {
    add(phase, pattern_sensitivity_squared(phase.plan, phase.use, rounds), precision);
}

void PrivacyLosses::add(const PrivacyPhase& phase,
                        const Eigen::MatrixXd& squared,
                        const Eigen::VectorXd& precision) {
    if (squared.cols() > losses_.cols()) {
        const Eigen::Index before = losses_.cols();
        losses_.conservativeResize(Eigen::NoChange, squared.cols());
        losses_.rightCols(squared.cols() - before).setZero();
    }
    const bool laplace = phase.plan.distribution() == StreamDistribution::laplace;
    for (int place = 0; place < phase.members.size(); ++place)
        for (Eigen::Index p = 0; p < squared.cols(); ++p) {
            if (squared(place, p) == 0) continue;  // infinite times nothing is nothing
            const double delta = phase.sensitivity[static_cast<std::size_t>(place)];
            const double loss = delta * delta * squared(place, p) * precision(place);
            losses_(phase.members.number(place), p) += laplace ? std::sqrt(loss) : loss;
        }
}

void PrivacyLosses::add(const PrivacyPhase& phase, long rounds, int size) {
    add(phase, rounds, coalition_precision(phase.plan, size));
}

double PrivacyLosses::of(int number, long pattern) const {
    return pattern < losses_.cols() ? losses_(number, pattern) : 0;
}

Guarantee PrivacyLosses::guarantee(int number, bool laplace, double delta) const {
    if (laplace) return {not_a_number, of(number)};
    const double mu = std::sqrt(of(number));
    return {mu, gdp_epsilon(mu, delta)};
}

std::vector<PrivacyBudget> remaining_budgets(std::vector<PrivacyBudget> budgets,
                                             const PrivacyLosses& spent,
                                             const Membership& members,
                                             const PlanUse& use,
                                             long rounds,
                                             bool independent_rounds) {
    const long cycle = use.participation.cycle;
    const Eigen::VectorXd counts =
        pattern_sensitivities_squared(TemporalFactor{}, use.participation, rounds);
    for (int place = 0; place < members.size(); ++place) {
        PrivacyBudget& budget = budgets[static_cast<std::size_t>(place)];
        const int number = members.number(place);
        const double whole = budget.pure ? budget.mu : budget.mu * budget.mu;
        // Of the largest count: the phase's plan is made for its worst pattern.
        double left = whole - spent.of(number);
        if (independent_rounds) {
            left = infinity;
            for (Eigen::Index j = 0; j < counts.size(); ++j)
                left = std::min(left,
                                (whole - spent.of(number, (use.steps.first_round + j) % cycle)) *
                                    counts.maxCoeff() / counts(j));
            // Patterns without a round to come must be within the budget all the same.
            if (!(spent.of(number) <= whole * (1 + 1e-12))) left = 0;
        }
        if (!(left > 1e-9 * whole))
            throw PrivacyError(fmt::format(
                "agent {}: the rounds so far have spent {} {:.6g} of {:.6g} (epsilon {}), and "
                "nothing is left for {} more; start a run with a larger budget",
                number,
                budget.pure ? "epsilon" : "mu^2",
                spent.of(number),
                whole,
                budget.epsilon,
                rounds));
        budget.mu = budget.pure ? left : std::sqrt(left);
    }
    return budgets;
}

}  // namespace sotto
