#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/composition.hpp"
#include "sotto/privacy/guarantee.hpp"
#include "sotto/privacy/privacy_record.hpp"
#include "sotto/privacy/tails.hpp"

namespace sotto {

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
