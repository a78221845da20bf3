#include "commands/report/full_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "account/sent_rounds.hpp"
#include "commands/report/shown_observers.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/composition.hpp"

namespace sotto {

namespace {

/// Observers with every message: the sums of the ledger, for each of them.
class LedgerSums {
  public:
    explicit LedgerSums(const RecordedRun& run) : agents_(run.history.phases.front().members.all) {
        const auto& phases = run.history.phases;
        delta_ = stated_delta(phases.back().plan.distribution(), run.config.plan.delta);
        for (std::size_t k = 0; k < phases.size(); ++k) {
            const PrivacyPhase& phase = phases[k];
            const long rounds = rounds_sent(phases, k, run.rounds);
            if (rounds <= 0) continue;
            phases_.push_back(&phase);
            precisions_.emplace_back(phase.plan);
            squared_.push_back(pattern_sensitivity_squared(phase.plan, phase.use, rounds));
        }
    }

    /// Epsilon of every agent.
    [[nodiscard]] std::vector<float> against(const std::vector<int>& members) const {
        PrivacyLosses losses(agents_);
        // A member that has left sees all messages still, and knows nobody's noise any more.
        for (std::size_t k = 0; k < phases_.size(); ++k)
            losses.add(
                *phases_[k], squared_[k], precisions_[k].of({phases_[k]->members.places(members)}));
        std::vector<float> epsilon(static_cast<std::size_t>(agents_),
                                   std::numeric_limits<float>::quiet_NaN());
        for (int u = 0; u < agents_; ++u)
            if (!std::ranges::binary_search(members, u) && was_there(u))
                epsilon[static_cast<std::size_t>(u)] =
                    static_cast<float>(losses.guarantee(u, delta_).epsilon);
        return epsilon;
    }

  private:
    [[nodiscard]] bool was_there(int agent) const {
        return std::ranges::any_of(
            phases_, [&](const PrivacyPhase* phase) { return phase->members.place(agent) >= 0; });
    }

    int agents_;
    double delta_ = 0;
    std::vector<const PrivacyPhase*> phases_;
    std::vector<ObservedPrecisions> precisions_;
    std::vector<Eigen::MatrixXd> squared_;
};

}  // namespace

ObserverFigures figures_of_all_messages(const RecordedRun& run,
                                        const ReportConfig& config,
                                        Clock::time_point until) {
    ObserverFigures figures = blank_figures(run, View::Kind::all_messages, 0);
    const int largest = largest_shown_coalition(figures.agents, config.coalition_size);
    const auto observers = coalitions_by_size(figures.agents, 0, largest);
    const LedgerSums sums(run);
    add_observers(figures, observers, until, config.threads, [&](const std::vector<int>& members) {
        return sums.against(members);
    });
    figures.out_of_time = figures.observers < std::ssize(observers);
    if (figures.out_of_time)
        figures.note = out_of_time_note(figures, std::ssize(observers), config.time_limit);
    else if (largest == 0 && figures.agents > 1)
        figures.note = "only the eavesdropper is in this page, for the time it takes";
    else if (largest + 1 < figures.agents)
        figures.note = fmt::format(
            "coalitions of up to {} agent{} are in this page", largest, largest == 1 ? "" : "s");
    return figures;
}

}  // namespace sotto
