#pragma once

#include <vector>

#include "sotto/agent/bootstrap.hpp"
#include "sotto/experiment/config.hpp"
#include "sotto/experiment/view_query.hpp"
#include "sotto/privacy/ledger.hpp"

namespace sotto {

/// The additional views of a training (`train --view`): what each of them has learnt after so many
/// rounds, by the accountant of partial views. The headline of the ledger does not depend on them.
class LedgerViews {
  public:
    /// @param config of the run, with its views.  @param exposures one per agent.  @param
    /// fixed_inputs whether inputs do not depend on messages. The arguments outlive the object.
    /// @throws ConfigError as parse_views, and for worst-coalition and worst-all-messages, which
    /// take too long beside a training.
    LedgerViews(const TrainConfig& config,
                const Topography& topography,
                const NoisePlan& plan,
                const std::vector<Exposure>& exposures,
                bool fixed_inputs);

    [[nodiscard]] bool empty() const { return queries_.empty(); }
    /// One entry per view: its worst pair, and the mean epsilon over its pairs. Cost: one filter an
    /// observer. @param rounds completed; 0 gives nothing.
    [[nodiscard]] std::vector<LedgerView> after(long rounds);
    /// Whether another `after` would add less than a twentieth to a run that has taken so long.
    [[nodiscard]] bool cheap(double run_seconds) const { return spent_ + last_ < run_seconds / 20; }

  private:
    [[nodiscard]] LedgerView worst_of(const ViewQuery& query, long rounds) const;
    const TrainConfig& config_;
    const Topography& topography_;
    const NoisePlan& plan_;
    const std::vector<Exposure>& exposures_;
    bool fixed_inputs_;
    std::vector<ViewQuery> queries_;
    double spent_ = 0, last_ = 0;  // seconds
};

}  // namespace sotto
