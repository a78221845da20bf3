#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

/// What all phases together have revealed to one kind of observer
/// (docs/equations.md#sensitivity-participation-budget), for agents of the run x participation
/// patterns. Noise of different phases is independent, so losses compose. A repeated round counts
/// as one more participation.
class PrivacyLosses {
  public:
    explicit PrivacyLosses(int agents)
        : agents_(agents),
          in_all_(static_cast<std::size_t>(agents)),
          losses_(static_cast<std::size_t>(agents)) {}
    /// Adds the phase's first `rounds` rounds. A phase with one pattern (cycle 1) adds to every
    /// pattern of the others: its rounds use all records. @param precision of every place, against
    /// the observer.
    void add(const PrivacyPhase& phase, long rounds, const Eigen::VectorXd& precision);
    /// The same with pattern_sensitivity_squared given, to be reused for many observers.
    void add(const PrivacyPhase& phase,
             long rounds,
             const Eigen::MatrixXd& squared,
             const Eigen::VectorXd& precision);
    /// Against the worst coalition of `size` agents of the phase. If the worst coalition differs
    /// between phases the sum is an upper bound.
    void add(const PrivacyPhase& phase, long rounds, int size);
    /// Loss of one agent in one pattern.
    [[nodiscard]] PrivacyLoss of(int number, long pattern) const;
    /// Loss of one agent in its worst pattern at this delta.
    [[nodiscard]] PrivacyLoss worst_of(int number, double delta) const;
    /// Upper bound on one agent's losses in every pattern: each part is the largest over all
    /// patterns. Loose only if no pattern is the worst in all parts.
    [[nodiscard]] PrivacyLoss bound_of(int number) const;
    /// PrivacyLoss::largest_part of one agent, by pattern; stored in checkpoints.
    [[nodiscard]] Eigen::VectorXd amounts_of(int number) const;
    /// The guarantee of one agent.
    [[nodiscard]] Guarantee guarantee(int number, double delta) const {
        return guarantee_of(worst_of(number, delta), delta);
    }

  private:
    [[nodiscard]] long patterns() const { return std::ssize(losses_) / agents_; }

    int agents_;
    std::vector<PrivacyLoss> in_all_;  // of every agent, in every pattern
    std::vector<PrivacyLoss> losses_;  // all agents of the first pattern, then of the second, ...
};

/// Budgets for a phase to be planned that keep the total over all phases within `budgets`.
/// @param budgets of every place, for the whole run.  @param spent by earlier phases, against the
/// coalitions that count.
/// @param independent_rounds whether the phase's noise will be on gradients and independent between
/// rounds: patterns with more past rounds may then have fewer to come. Otherwise every pattern
/// counts as the worst.
/// @throws PrivacyError naming agent, what was spent and the budget, if nothing is left.
[[nodiscard]] std::vector<PrivacyBudget> remaining_budgets(std::vector<PrivacyBudget> budgets,
                                                           const PrivacyLosses& spent,
                                                           const Membership& members,
                                                           const PlanUse& use,
                                                           long rounds,
                                                           bool independent_rounds);

/// delta that the tails of drawn noise add for one value of noise in one round; at most 1. Drawn
/// normals follow the normal distribution only up to R = tail_radius. docs/decisions/grid.md has
/// the proof of
///
///     normal value:   5 exp(-(R - shift)^2 / 2),     1 where shift >= R,
///     Laplace value:  20 exp(shift - R^2 / 2),       of four normals.
///
/// @param shift at least 0: a bound on how far neighbouring data move the mean of one round's
/// noise, in units of that noise: Delta_u sqrt(precision_u) largest_round_shift (L1 and scales
/// under Laplace noise).
[[nodiscard]] double tail_delta(StreamDistribution noise, double shift);

/// Largest share of delta that tails may take. A smaller delta moves epsilon by less than a
/// relative 1e-9, which the verification of a plan tolerates.
inline constexpr double largest_tail_share = 0x1p-40;
/// Largest delta of tails where epsilon is otherwise pure.
inline constexpr double largest_tail_of_pure = 0x1p-60;

/// Tails of a whole run.
struct Tails {
    double values = 0;  ///< of noise drawn: dimension * streams * rounds; 0 if unknown
    double delta = 0;   ///< their contribution; at most 1
    double most = 0;    ///< allowed
    [[nodiscard]] bool allowed() const { return delta <= most; }
};

/// @throws PrivacyError with values, delta and what is allowed unless tails.allowed().
void require_small_tails(const Tails& tails, double delta);

/// What an additional observer has learnt: the worst pair of a view. It never changes the headline.
struct LedgerView {
    std::string view;            ///< as the user named it
    std::string argument;        ///< why the figure holds
    bool sound = false;          ///< holds for gradients that depend on messages
    long rounds = 0;             ///< counted
    std::vector<int> observers;  ///< of the worst pair; ascending
    int target = 0;
    Guarantee worst;          ///< may be infinite
    double mean_epsilon = 0;  ///< over all pairs of the view; may be infinite
    std::string statement;    ///< in words
};

/// Computes what a training has revealed so far, from its PrivacyRecord. Written as ledger.json
/// (ledger_json.hpp). `rounds` always counts rounds of the run.
class Ledger {
  public:
    enum class Status { running, completed, interrupted, failed };

    /// Cost: coalition_precision and largest_round_shifts of every phase. @throws as those.
    explicit Ledger(PrivacyRecord record);

    [[nodiscard]] const PrivacyRecord& record() const { return record_; }
    /// 0 under Laplace noise.
    [[nodiscard]] double delta() const {
        return stated_delta(record_.now().plan.distribution(), record_.budgets.front().delta);
    }

    /// Share of delta of the tails of all noise drawn in `rounds` rounds, for the agent with the
    /// largest shift under the headline's observer.
    [[nodiscard]] Tails tails(long rounds) const;

    /// Guarantee after `rounds` rounds, one per agent of the run, at delta less tails(rounds):
    /// against the eavesdropper on all messages and, where the plan protects against them, all
    /// coalitions of plan.coalition_size other agents.
    [[nodiscard]] std::vector<Guarantee> after(long rounds) const;
    /// The same for one agent.
    [[nodiscard]] Guarantee after(long rounds, int number) const;
    /// The losses on which `after` is based.
    [[nodiscard]] PrivacyLosses losses_after(long rounds) const;
    /// Losses of one phase alone, after `rounds` rounds of the run.
    [[nodiscard]] PrivacyLosses losses_in(std::size_t phase, long rounds) const;
    /// The largest of `after`; where persons may be at several agents, what is revealed about those
    /// (persons_after), which is no less. Cost: one epsilon, and two more for each agent whose loss
    /// is neither smaller nor larger in every part than that of the agents before it.
    [[nodiscard]] Guarantee largest_after(long rounds) const;
    /// The guarantee of every person with records at up to PrivacyRecord::unit_agents agents,
    /// against the same observers (worst_person), certified from above: the sum over phases of the
    /// largest.
    [[nodiscard]] Guarantee persons_after(long rounds) const;
    /// The agents of the worst person of a phase with Delta_u alone.
    [[nodiscard]] const WorstPerson& worst_person_of(std::size_t phase) const {
        return persons_.at(phase);
    }
    /// Epsilon of largest_after: what progress and metrics.csv show.
    [[nodiscard]] double epsilon_after(long rounds) const;
    /// Mu of largest_after; NaN if the loss has none (PrivacyLoss::mu).
    [[nodiscard]] double mu_after(long rounds) const;

    /// The largest guarantee over the agents, against the eavesdropper alone.
    [[nodiscard]] Guarantee against_eavesdropper(long rounds) const;
    /// The pair (one curious agent, target) that leaks most; nothing for one agent. An agent that
    /// has left sees all messages and knows no noise of others. Cost: n eigendecompositions a
    /// phase.
    [[nodiscard]] std::optional<CuriousAgent> worst_curious_agent(long rounds) const;
    /// Rounds whose messages count; repeated rounds count twice.
    [[nodiscard]] long rounds_accounted(long rounds) const;
    /// Rounds of the current phase.
    [[nodiscard]] long rounds_now(long rounds) const {
        return rounds - record_.now().use.steps.first_round;
    }

    /// Appends to PrivacyRecord::more_statements.
    void add_statement(std::string statement) {
        record_.more_statements.push_back(std::move(statement));
    }

    /// Replaces the additional views.
    void set_views(std::vector<LedgerView> views) { views_ = std::move(views); }
    [[nodiscard]] const std::vector<LedgerView>& views() const { return views_; }

  private:
    /// Over all phases, with so many rounds of the last one; `precision_of` is called with the
    /// index of the phase and returns the precision by place.
    template <class PrecisionOf>
    [[nodiscard]] PrivacyLosses losses(long rounds, PrecisionOf&& precision_of) const;
    [[nodiscard]] std::vector<Guarantee> guarantees_of(const PrivacyLosses& losses,
                                                       long rounds) const;

    PrivacyRecord record_;
    std::vector<LedgerView> views_;
    // Of every phase, by place, against the worst coalition of the current plan's size.
    std::vector<Eigen::VectorXd> precisions_;
    std::vector<WorstPerson> persons_;  // of every phase, for one unit of sens2; empty: K = 1
    std::vector<double> value_tails_;   // delta of one value of noise in every phase, by place
};

}  // namespace sotto
