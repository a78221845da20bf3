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

/// What the tails of drawn noise cost. Drawn normals follow the normal distribution up to
/// tail_radius only; what lies beyond can tell neighbouring data apart, with a probability that
/// has to be counted in delta (docs/decisions/grid.md).
///
/// Let `shift` bound how far neighbouring data move what one round's noise hides, in units of that
/// noise: Delta_u sqrt(precision_u) largest_round_shift (L1 and scales under Laplace noise). Let a
/// pair be bad if its radius, or that of the pair moved by the shift, exceeds R = tail_radius.
/// Outcomes of which less than half the probability under the neighbour comes from bad pairs lose
/// at most twice that share, all others count in full, so bad pairs add to delta at most
/// P(bad) + 2 P(bad after the shift), and
///
///     normal value:   5 exp(-(R - shift)^2 / 2),     1 where shift >= R,
///     Laplace value:  20 exp(shift - R^2 / 2),       of four normals,
///
/// where 5 and 4 * 5 rather than 3 make up for the width of a grid step and for 2^-44.
/// @param shift at least 0.  @return of one value of noise, one round; at most 1.
[[nodiscard]] double tail_delta(StreamDistribution noise, double shift);

/// Of delta: what tails may take. Less moves epsilon by less than 1e-9 of it, which the
/// verification of a plan forgives.
inline constexpr double largest_tail_share = 0x1p-40;
/// The same where delta is 0, because epsilon is pure but for the tails.
inline constexpr double largest_tail_of_pure = 0x1p-60;

/// Of a run.
struct Tails {
    double values = 0;  ///< of noise drawn: dimension * streams * rounds; 0 where unknown
    double delta = 0;   ///< that they add; at most 1
    double most = 0;    ///< allowed
    [[nodiscard]] bool allowed() const { return delta <= most; }
};

/// @throws PrivacyError with values, delta and what is allowed if tails take too much of `delta`.
void require_small_tails(const Tails& tails, double delta);

/// What one additional observer has learnt: the worst pair of a view. Its figures never change the
/// headline.
struct LedgerView {
    std::string view;            ///< as its user named it
    std::string argument;        ///< why the figure holds
    bool sound = false;          ///< holds for gradients that follow messages
    long rounds = 0;             ///< counted
    std::vector<int> observers;  ///< of the worst pair; ascending
    int target = 0;
    Guarantee worst;          ///< may be infinite
    double mean_epsilon = 0;  ///< over all pairs of the view; may be infinite
    std::string statement;    ///< in words
};

/// Counts what a training has revealed so far, from the record of what happened in it. Written as
/// ledger.json (ledger_json.hpp). `rounds` is always of the run.
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

    /// What the tails of all noise drawn in `rounds` rounds take of delta, for the agent that the
    /// headline's observer comes closest to.
    [[nodiscard]] Tails tails(long rounds) const;

    /// Guarantee after `rounds` rounds, one per agent of the run, at delta less tails(rounds):
    /// against the eavesdropper on all messages and, where the plan is made for it, every coalition
    /// of plan.coalition_size other agents with it.
    [[nodiscard]] std::vector<Guarantee> after(long rounds) const;
    /// The same of one agent.
    [[nodiscard]] Guarantee after(long rounds, int number) const;
    /// What `after` makes its guarantees of.
    [[nodiscard]] PrivacyLosses losses_after(long rounds) const;
    /// Of one phase alone, after so many rounds of the run.
    [[nodiscard]] PrivacyLosses losses_in(std::size_t phase, long rounds) const;
    /// The largest of `after`. Cost: one epsilon, and two more for each agent whose loss is neither
    /// smaller nor larger in every part than that of those before it.
    [[nodiscard]] Guarantee largest_after(long rounds) const;
    /// Its epsilon: what progress and metrics.csv show.
    [[nodiscard]] double epsilon_after(long rounds) const;
    /// Its mu; not a number where the loss has none (PrivacyLoss::mu).
    [[nodiscard]] double mu_after(long rounds) const;

    /// The largest over the agents, against the eavesdropper alone.
    [[nodiscard]] Guarantee against_eavesdropper(long rounds) const;
    /// The pair (one curious agent, target) that leaks most; nothing for one agent. An agent that
    /// has left sees all messages, and knows nobody's noise. Cost: n eigendecompositions a phase.
    [[nodiscard]] std::optional<CuriousAgent> worst_curious_agent(long rounds) const;
    /// Rounds whose messages count: repeated ones twice.
    [[nodiscard]] long rounds_accounted(long rounds) const;
    /// Of the phase under way.
    [[nodiscard]] long rounds_now(long rounds) const {
        return rounds - record_.now().use.steps.first_round;
    }

    /// One more sentence of PrivacyRecord::more_statements.
    void add_statement(std::string statement) {
        record_.more_statements.push_back(std::move(statement));
    }

    /// Replaces the additional views.
    void set_views(std::vector<LedgerView> views) { views_ = std::move(views); }
    [[nodiscard]] const std::vector<LedgerView>& views() const { return views_; }

  private:
    /// Of all phases with so many rounds of the last one; `precision_of` the k-th phase, by place.
    template <class PrecisionOf>
    [[nodiscard]] PrivacyLosses losses(long rounds, PrecisionOf&& precision_of) const;
    [[nodiscard]] std::vector<Guarantee> guarantees_of(const PrivacyLosses& losses,
                                                       long rounds) const;

    PrivacyRecord record_;
    std::vector<LedgerView> views_;
    // Of every phase, by place, against the worst coalition the plan under way is made for.
    std::vector<Eigen::VectorXd> precisions_;
    std::vector<double> value_tails_;  // delta of one value of noise in every phase, by place
};

}  // namespace sotto
