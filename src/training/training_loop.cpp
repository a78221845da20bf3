#include "training/training_loop.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error_line.hpp"
#include "sotto/net/launch_environment.hpp"
#include "training/sealed_ledger.hpp"

namespace sotto {

EvaluatedRecords usual_records(bool after_last_round) {
    constexpr long some = 1000;
    if (after_last_round) return {std::nullopt, some};
    return {some, some};
}

TrainingLoop::TrainingLoop(OpenRun& run,
                           Trainer& trainer,
                           TrainingListener& listener,
                           const std::function<bool()>& stop_requested)
    : open_(run),
      run_(run.prepared.run),
      trainer_(trainer),
      listener_(listener),
      progress_(run.progress),
      checkpoints_(run, trainer),
      vote_(run_.network, stop_requested),
      grace_(run_.leader() && run_.network.processes() > 1 ? seconds_before_kill() : std::nullopt),
      ends_here_(run.prepared.resumption && run.prepared.resumption->finish),
      every_(run_.config.evaluate_every > 0 ? run_.config.evaluate_every
                                            : std::max(1L, run_.config.plan.rounds / 50)) {}

void TrainingLoop::begin(std::optional<double> compute_seconds) {
    if (compute_seconds)
        if (const auto advice = grace_.advice_before(*compute_seconds)) print_error_line(*advice);
    if (!ends_here_) {
        checkpoints_.begin();
        declare_begun(open_);
        checkpoints_.copy_beginning();
    }
    if (run_.optimality_gap)
        minimum_ = minimum_of_average(
            run_.network, trainer_.agents(), run_.config.l2, run_.config.threads);
    evaluate_now();
    stretch_ = Clock::now();
}

bool TrainingLoop::more() const {
    return !ends_here_ && !stopped_ && progress_.rounds < run_.config.plan.rounds;
}

void TrainingLoop::end() {
    if (!ends_here_) {
        finish_rounds();
        evaluate_now();
    }
    progress_.last = progress_.averaged = progress_.evaluation;
    if (!progress_.interrupted && !ends_here_) finish_models();
}

void TrainingLoop::finish_models() {
    const Smoothing& smoothing = trainer_.smoothing();
    if (smoothing.averages()) {
        trainer_.take_means();
        evaluate_now(ModelStage::averaged);
        progress_.averaged = progress_.evaluation;
    }
    if (smoothing.final_gossip.steps() == 0) return;
    trainer_.run_final_gossip();
    evaluate_now(ModelStage::consensus);
}

void TrainingLoop::run_round() {
    checkpoints_.before_round(progress_.rounds);
    trainer_.run_round(progress_.rounds);
    ++progress_.rounds;
    if (run_.leader())
        listener_.on_round(progress_.rounds, run_.config.plan.rounds, open_.prepared.ledger);
    stopped_ = stops();
    if (more() && progress_.rounds % every_ == 0) {
        progress_.totals = totals();
        evaluate_now();
        stretch_ = Clock::now();
    }
    if (more() && checkpoints_.due(progress_.rounds))
        checkpoints_.seal(progress_.rounds, false, totals());
}

void TrainingLoop::finish_rounds() {
    vote_.finish();
    progress_.totals = totals();
    progress_.interrupted = progress_.rounds < run_.config.plan.rounds;
    if (!progress_.interrupted) return;
    // A launcher that passes an interrupt on kills soon after: the ledger comes first.
    seal_ledger(open_, Ledger::Status::interrupted, progress_.rounds);
    stretch_ = Clock::now();
    checkpoints_.seal(progress_.rounds, true, totals());
}

bool TrainingLoop::stops() {
    const bool stopped = vote_.after_round();
    const auto advice = grace_.advice(vote_.seconds_to_stop(), checkpoints_.seconds());
    if (advice && !stopped) print_error_line(*advice);
    return stopped;
}

RunTotals TrainingLoop::totals() const {
    RunTotals totals = progress_.totals;
    totals.loop_seconds += seconds_since(stretch_);
    return totals;
}

EvaluatedRecords TrainingLoop::records_now() const {
    EvaluatedRecords records = run_.config.evaluated_records.value_or(
        usual_records(progress_.rounds == run_.config.plan.rounds));
    records.own_tests = run_.own_tests;
    return records;
}

void TrainingLoop::evaluate_now(ModelStage stage) {
    const auto start = Clock::now();
    progress_.evaluation = evaluate(run_.network,
                                    trainer_.agents(),
                                    trainer_.estimates(),
                                    run_.config.l2,
                                    minimum_,
                                    records_now(),
                                    run_.config.threads);
    progress_.totals.evaluate_seconds += seconds_since(start);
    progress_.losses.add(progress_.rounds, progress_.evaluation.test_loss_mean_model);
    if (run_.leader()) report_evaluation(stage);
    // Of the models alone: what losses are at an agent's data ends nothing. Every process has the
    // same figures, so all of them end here.
    const double limit = trainer_.message_limit();
    const double reached =
        std::max(progress_.evaluation.largest_parameter, progress_.evaluation.consensus_distance);
    if (!(reached <= limit / 4))
        throw DivergedError(fmt::format(
            "the training diverged: models reach {:.3g}, and messages carry up to {:.3g}{} (use a "
            "smaller --step-size)",
            reached,
            limit,
            run_.config.secure_sum ? " with --secure-sum on" : ""));
}

void TrainingLoop::report_evaluation(ModelStage stage) {
    Ledger& ledger = open_.prepared.ledger;
    LedgerViews& views = *open_.prepared.views;
    const long round = progress_.rounds;
    const double loop_seconds = progress_.totals.loop_seconds;
    const double epsilon = ledger.epsilon_after(round);
    const MetricsRow row{round,
                         epsilon,
                         progress_.evaluation,
                         loop_seconds,
                         seconds_to_tell(trainer_.seconds(), run_.config, run_.network.processes()),
                         stage};
    open_.directory.append_metrics(row);
    if (open_.tensorboard) open_.tensorboard->add(row);
    listener_.on_evaluation(round, epsilon, progress_.evaluation);
    if (views.empty() || round >= run_.config.plan.rounds || progress_.interrupted ||
        !views.cheap(loop_seconds))
        return;
    ledger.set_views(views.after(round));
    write_open_ledger(open_, Ledger::Status::running, round);
}

}  // namespace sotto
