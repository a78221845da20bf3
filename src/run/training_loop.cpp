#include "run/training_loop.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/privacy/ledger_json.hpp"

namespace sotto {

namespace {

double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TrainingLoop::TrainingLoop(const TrainConfig& config,
                           Network& network,
                           TrainingObserver& observer,
                           const std::function<bool()>& stop_requested,
                           Trainer& trainer,
                           Ledger& ledger,
                           LedgerViews* views,
                           RunDirectory& directory,
                           RunCheckpoints& checkpoints,
                           TrainResult& result,
                           bool optimality_gap)
    : config_(config),
      network_(network),
      observer_(observer),
      trainer_(trainer),
      ledger_(ledger),
      views_(views),
      directory_(directory),
      checkpoints_(checkpoints),
      result_(result),
      vote_(network, stop_requested),
      every_(config.evaluate_every > 0 ? config.evaluate_every
                                       : std::max(1L, config.plan.rounds / 50)),
      optimality_gap_(optimality_gap) {}

void TrainingLoop::run() {
    if (optimality_gap_)
        minimum_ = minimum_of_average(network_, trainer_.agents(), config_.l2, config_.threads);
    evaluate_now(result_.rounds);
    const long rounds = config_.plan.rounds;
    bool stopped = false;
    auto start = Clock::now();
    while (result_.rounds < rounds && !stopped) {
        checkpoints_.before_round(result_.rounds);
        trainer_.run_round(result_.rounds);
        ++result_.rounds;
        if (network_.process() == 0) observer_.on_round(result_.rounds, rounds);
        stopped = vote_.after_round();
        if (result_.rounds % every_ == 0 && result_.rounds < rounds && !stopped) {
            result_.loop_seconds += since(start);
            evaluate_now(result_.rounds);
            start = Clock::now();
        }
        if (checkpoints_.due(result_.rounds) && result_.rounds < rounds && !stopped)
            checkpoints_.seal(result_.rounds, false, totals(start));
    }
    vote_.finish();
    result_.loop_seconds += since(start);
    result_.interrupted = result_.rounds < rounds;
    // A launcher that passes an interrupt on kills soon after: the ledger comes first.
    if (result_.interrupted && network_.process() == 0)
        directory_.write("ledger.json",
                         to_json(ledger_, Ledger::Status::interrupted, result_.rounds));
    if (result_.interrupted) checkpoints_.seal(result_.rounds, true, totals(Clock::now()));
    evaluate_now(result_.rounds);
}

RunTotals TrainingLoop::totals(Clock::time_point start) const {
    return {result_.loop_seconds + since(start), result_.evaluate_seconds};
}

void TrainingLoop::evaluate_now(long round) {
    const auto start = Clock::now();
    result_.evaluation = evaluate(
        network_, trainer_.agents(), trainer_.models(), config_.l2, minimum_, config_.threads);
    result_.evaluate_seconds += since(start);
    if (network_.process() == 0) {
        const double epsilon = ledger_.epsilon_after(round);
        directory_.append_metrics(
            round, epsilon, result_.evaluation, result_.loop_seconds, trainer_.seconds());
        observer_.on_evaluation(round, epsilon, result_.evaluation);
        if (!views_->empty() && round < config_.plan.rounds && !result_.interrupted &&
            views_->cheap(result_.loop_seconds)) {
            ledger_.set_views(views_->after(round));
            directory_.write("ledger.json", to_json(ledger_, Ledger::Status::running, round));
        }
    }
    // Every process has the same figures, so all of them end here.
    if (!std::isfinite(result_.evaluation.train_loss_mean_model) ||
        !std::isfinite(result_.evaluation.consensus_distance))
        throw DivergedError(
            "the models are not finite; the training diverged (use a smaller --step-size)");
}

}  // namespace sotto
