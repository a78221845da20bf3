#pragma once

#include <Eigen/Dense>
#include <string>
#include <utility>
#include <vector>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/composition.hpp"
#include "sotto/privacy/plan_use.hpp"

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

/// What a training has revealed so far: everything needed to state its guarantee, and the words
/// that go with it. Written as ledger.json (docs/ledger.md).
class Ledger {
  public:
    /// @param exposures one per agent.  @param budgets one per agent (mu unused when the plan adds
    /// no noise).  @param rounds the run is planned for.
    /// @param reproducible_noise keys came from a noise seed instead of the operating system.
    /// @param authentication "roster <digest>" of a run whose agents proved who they are,
    /// "unauthenticated" of any other run, empty for a plan that nobody runs yet.
    Ledger(NoisePlan plan,
           std::vector<Exposure> exposures,
           std::vector<PrivacyBudget> budgets,
           Adjacency adjacency,
           PlanUse use,
           long rounds,
           bool reproducible_noise,
           std::string authentication = "unauthenticated");

    /// Of a run that was taken up again: what the constructor got is the phase under way.
    /// @param past phases before it, in order; their rounds have all been sent.
    /// @param members who is there now; the constructor's lists are of places.
    /// @param key_epoch of the phase under way.  @param run_budgets of all agents of the run, by
    /// number, for the whole run.
    void continue_from(std::vector<PrivacyPhase> past,
                       Membership members,
                       std::uint32_t key_epoch,
                       std::vector<PrivacyBudget> run_budgets);

    enum class Status { running, completed, interrupted, failed };

    /// Guarantee after `rounds` rounds of the run, one per agent of the run: against the
    /// eavesdropper on all messages and, where the plan is made for it, every coalition of
    /// plan.coalition_size other agents with it.
    [[nodiscard]] std::vector<Guarantee> after(long rounds) const;
    /// What `after` makes its guarantees of.
    [[nodiscard]] PrivacyLosses losses_after(long rounds) const;
    /// The largest epsilon over the agents after `rounds` rounds: what progress and summary show.
    [[nodiscard]] double epsilon_after(long rounds) const;
    [[nodiscard]] double mu_after(long rounds) const;
    /// 0 under Laplace noise.
    [[nodiscard]] double delta() const { return budgets_.front().delta; }

    /// The ledger as JSON text. While `running` (or after a failure, when messages of a started
    /// round may have left) the figures are those of all planned rounds: an upper bound that stays
    /// true if the process dies before it can write again.
    [[nodiscard]] std::string to_json(Status status, long rounds_completed) const;

    /// Sentences a reader must know: who is not protected, and what is not covered.
    [[nodiscard]] std::vector<std::string> statements() const;
    /// Adds one about how this run is carried out; it stands last.
    void add_statement(std::string statement) { more_statements_.push_back(std::move(statement)); }

    /// Replaces the additional views, listed under "views".
    void set_views(std::vector<LedgerView> views) { views_ = std::move(views); }

  private:
    /// Rounds of the phase under way after so many of the run.
    [[nodiscard]] long rounds_here(long rounds) const {
        return rounds - now_.use.steps.first_round;
    }
    /// Of all phases with so many rounds of the last one; `precision_of` a phase, by place.
    template <class PrecisionOf>
    [[nodiscard]] PrivacyLosses losses(long rounds, PrecisionOf&& precision_of) const;
    [[nodiscard]] std::vector<Guarantee> guarantees_of(const PrivacyLosses& losses) const;

    PrivacyPhase now_;
    std::vector<PrivacyPhase> past_;
    std::vector<PrivacyBudget> budgets_;  // of all agents of the run
    Adjacency adjacency_;
    long rounds_;  // planned, of the run
    bool reproducible_noise_;
    std::string authentication_;
    std::vector<std::string> more_statements_;
    std::vector<LedgerView> views_;
    // Of every phase, by place, against the worst coalition its plan is made for.
    std::vector<Eigen::VectorXd> precisions_;
};

}  // namespace sotto
