#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <span>
#include <vector>

#include "sotto/plan/membership.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/plan_use.hpp"

namespace sotto {

/// Rounds under one noise plan, with keys of their own: from the beginning of a run, or from where
/// it was taken up, to where it ended or was lost.
struct PrivacyPhase {
    NoisePlan plan;                   ///< of places
    Membership members;               ///< who is there
    std::vector<double> sensitivity;  ///< Delta_u of every place
    PlanUse use;                      ///< of places; begins at use.steps.first_round of the run
    long rounds = 0;  ///< whose messages may have left; the next phase may repeat some
    std::uint32_t key_epoch = 0;
};

/// What phases together have revealed to one kind of observer (docs/equations.md 7): agents of the
/// run x participation patterns. Noise of different phases is independent, so mu^2 adds up, and
/// under Laplace noise epsilon. A round that is repeated is one more participation.
class PrivacyLosses {
  public:
    explicit PrivacyLosses(int agents) : losses_(Eigen::MatrixXd::Zero(agents, 1)) {}
    /// The phase's first `rounds` rounds. @param precision of every place, against the observer.
    void add(const PrivacyPhase& phase, long rounds, const Eigen::VectorXd& precision);
    /// The same where pattern_sensitivity_squared of these rounds is known, for many observers.
    void add(const PrivacyPhase& phase,
             const Eigen::MatrixXd& squared,
             const Eigen::VectorXd& precision);
    /// Against the worst coalition of `size` agents the phase's plan knows. Where different
    /// coalitions are the worst in different phases the sum is an upper bound.
    void add(const PrivacyPhase& phase, long rounds, int size);
    /// Largest sum of one agent over patterns: mu^2, or epsilon under Laplace noise.
    [[nodiscard]] double of(int number) const { return losses_.row(number).maxCoeff(); }
    [[nodiscard]] double of(int number, long pattern) const;
    [[nodiscard]] Eigen::VectorXd by_pattern(int number) const { return losses_.row(number); }
    /// The guarantee of one agent.
    [[nodiscard]] Guarantee guarantee(int number, bool laplace, double delta) const;

  private:
    Eigen::MatrixXd losses_;
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
