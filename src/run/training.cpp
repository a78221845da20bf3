#include "run/training.hpp"

#include <iterator>
#include <utility>

#include "run/agent_path.hpp"
#include "run/plan_report.hpp"
#include "run/training/close_run.hpp"
#include "run/training/estimate_run.hpp"
#include "run/training/open_run.hpp"
#include "run/training/prepare_run.hpp"
#include "run/training/run_accounts.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/plan/plan_json.hpp"
#include "sotto/privacy/ledger_json.hpp"
#include "sotto/trust/seed_agreement.hpp"

namespace sotto {

namespace {

/// @param estimate null: the first round comes next.
void announce(const PreparedRun& prepared,
              TrainingListener& listener,
              const RunEstimate* estimate) {
    listener.on_members(prepared.run.members);
    if (prepared.run.leader())
        listener.on_start(*prepared.planned,
                          *prepared.built,
                          prepared.run.task_description,
                          prepared.report,
                          estimate);
}

/// What the run would take and cost; nothing is left behind. COLLECTIVE.
TrainResult dry_run(PreparedRun prepared, TrainingListener& listener, Clock::time_point start) {
    require_accounts_allow(prepared);
    TrainResult result = result_before_rounds(prepared);
    result.estimate = estimate_run(prepared);
    const long rounds = prepared.run.config.plan.rounds;
    result.mu = prepared.ledger.mu_after(rounds);
    result.epsilon = prepared.ledger.epsilon_after(rounds);
    result.total_seconds = seconds_since(start);
    announce(prepared, listener, &result.estimate);
    return result;
}

OpenRun announced(OpenRun open, TrainingListener& listener) {
    announce(open.prepared, listener, nullptr);
    return open;
}

}  // namespace

Training::Training(Clock::time_point start,
                   PreparedRun prepared,
                   TrainingListener& listener,
                   std::function<bool()> stop_requested)
    : start_(start),
      stop_requested_(std::move(stop_requested)),
      open_(announced(open_run(std::move(prepared)), listener)),
      rounds_(open_, listener, stop_requested_) {}

Training::Training(const TrainConfig& config,
                   Network& network,
                   TrainingListener& listener,
                   std::function<bool()> stop_requested,
                   const std::function<LocalTask()>& make_task)
    : Training{Clock::now(),
               prepare_run(config, network, make_task),
               listener,
               std::move(stop_requested)} {}

TrainResult Training::finish() {
    rounds_.finish();
    return close_run(open_, start_);
}

TrainResult run_training(const TrainConfig& config,
                         Network& network,
                         TrainingListener& listener,
                         const std::function<bool()>& stop_requested,
                         const std::function<LocalTask()>& make_task) {
    const Clock::time_point start = Clock::now();
    PreparedRun prepared = prepare_run(config, network, make_task);
    if (config.dry_run) return dry_run(std::move(prepared), listener, start);
    Training training(start, std::move(prepared), listener, stop_requested);
    while (training.more()) training.run_round();
    return training.finish();
}

}  // namespace sotto
