#pragma once

#include <Eigen/Core>
#include <vector>

#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/guarantee.hpp"
#include "sotto/privacy/plan_use.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

/// What phases together have revealed to one kind of observer (docs/equations.md 7): agents of the
/// run x participation patterns. Noise of different phases is independent, so losses compose. A
/// round that is repeated is one more participation.
class PrivacyLosses {
  public:
    explicit PrivacyLosses(int agents)
        : agents_(agents), losses_(static_cast<std::size_t>(agents)) {}
    /// The phase's first `rounds` rounds. @param precision of every place, against the observer.
    void add(const PrivacyPhase& phase, long rounds, const Eigen::VectorXd& precision);
    /// The same where pattern_sensitivity_squared of these rounds is known, for many observers.
    void add(const PrivacyPhase& phase,
             const Eigen::MatrixXd& squared,
             const Eigen::VectorXd& precision);
    /// Against the worst coalition of `size` agents the phase's plan knows. Where different
    /// coalitions are the worst in different phases the sum is an upper bound.
    void add(const PrivacyPhase& phase, long rounds, int size);
    /// Of one agent in one pattern.
    [[nodiscard]] PrivacyLoss of(int number, long pattern) const;
    /// Of one agent in its worst pattern, judged at this delta.
    [[nodiscard]] PrivacyLoss worst_of(int number, double delta) const;
    /// What one agent's losses do not exceed in any pattern, whatever comes beside them: for every
    /// part the largest of all patterns (which exceeds them all only where phases make no pattern
    /// the worst in all parts).
    [[nodiscard]] PrivacyLoss bound_of(int number) const;
    /// What has added up for one agent (PrivacyLoss::largest_part), by pattern; checkpoints keep
    /// it.
    [[nodiscard]] Eigen::VectorXd amounts_of(int number) const;
    /// The guarantee of one agent.
    [[nodiscard]] Guarantee guarantee(int number, double delta) const {
        return guarantee_of(worst_of(number, delta), delta);
    }

  private:
    [[nodiscard]] long patterns() const { return std::ssize(losses_) / agents_; }

    int agents_;
    std::vector<PrivacyLoss> losses_;  // all agents of the first pattern, then of the second, ...
};

/// Budgets that keep the sum over all phases within `budgets`, for a phase still to be planned.
/// @param budgets of every place, for the whole run.  @param spent by the phases before, against
/// the coalitions that count.
/// @param independent_rounds the phase's noise will be independent from round to round and on
/// gradients: then patterns with more rounds before may have fewer to come. Otherwise every pattern
/// counts as the worst.
/// @throws PrivacyError naming agent, what was spent and the budget, if nothing is left.
[[nodiscard]] std::vector<PrivacyBudget> remaining_budgets(std::vector<PrivacyBudget> budgets,
                                                           const PrivacyLosses& spent,
                                                           const Membership& members,
                                                           const PlanUse& use,
                                                           long rounds,
                                                           bool independent_rounds);

}  // namespace sotto
