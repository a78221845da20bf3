#pragma once

#include <functional>
#include <vector>

#include "account/account_subject.hpp"
#include "agent/bootstrap.hpp"
#include "config/config.hpp"
#include "net/control.hpp"
#include "sotto/privacy/ledger.hpp"
#include "sotto/views/view_losses.hpp"
#include "sotto/views/view_sensitivity.hpp"

namespace sotto {

struct SentRounds;

/// The additional views of a training (`train --view`): what each has learnt after so many rounds,
/// by the accountant of partial views. The headline of the ledger does not depend on them.
class LedgerViews {
  public:
    /// @param config of the run, with its views.  @param topography of all agents.  @param phases
    /// of the run, complete (history files leave out parts of `use`); the last one is in progress.
    /// @param inputs fixed: they do not depend on messages; convex: all agents enforce
    /// PrivacyRecord::convex, which bounds views while the agents stay the same.
    /// @throws ConfigError as parse_views, and for views that no ledger takes (ViewUse::ledger): a
    /// search takes too long beside a training.
    LedgerViews(const TrainConfig& config,
                Topography topography,
                std::vector<PrivacyPhase> phases,
                Inputs inputs);

    [[nodiscard]] bool empty() const { return queries_.empty(); }
    /// One entry per view: its worst pair, and the mean epsilon over its pairs; none before the
    /// first sent round. Cost: one filter per observer and phase, continued between calls. @param
    /// rounds of the run completed.
    [[nodiscard]] std::vector<LedgerView> after(long rounds);
    /// Whether another `after` would take less than a twentieth of a run of this duration.
    [[nodiscard]] bool cheap(double run_seconds) const { return spent_ + last_ < run_seconds / 20; }

  private:
    /// Of these rounds: convex only if all of them are of the same agents.
    [[nodiscard]] Inputs inputs_of(const SentRounds& run) const;
    [[nodiscard]] std::vector<Guarantee> guarantees(const SentRounds& run,
                                                    const View& view,
                                                    const std::vector<int>& targets) const;
    [[nodiscard]] LedgerView worst_of(const ViewQuery& query, const SentRounds& run) const;
    TrainConfig config_;
    Topography topography_;
    std::vector<PrivacyPhase> phases_;
    std::vector<NoisePlan> plans_;  // of phases_, of all agents of the run
    Inputs inputs_;
    std::vector<ViewQuery> queries_;
    double spent_ = 0, last_ = 0;  // seconds
};

struct Question {
    View view;
    std::vector<int> targets;
};
using Answers = std::vector<std::vector<SquaredSensitivity>>;  // by question, by target

struct AskOptions : ViewOptions {
    /// Called after each question of this process, by one thread at a time, with how many of how
    /// many are answered.
    std::function<void(long done, long all)> on_answer;
};

/// Answers of all questions, on every process; process i mod P works on question i. COLLECTIVE.
[[nodiscard]] Answers answer(Control& network,
                             const AccountSubject& subject,
                             const std::vector<Question>& questions,
                             const AskOptions& options);

[[nodiscard]] std::vector<int> without(const std::vector<int>& targets,
                                       const std::vector<int>& members);

}  // namespace sotto
