#include "training/close_run.hpp"

#include <algorithm>
#include <iterator>

#include "store/checkpoint_store.hpp"
#include "training/rank_figures.hpp"
#include "training/run_accounts.hpp"
#include "training/sealed_ledger.hpp"
#include "training/training_summary.hpp"
#include "training/training_warnings.hpp"

namespace sotto {

namespace {

/// Where the run ends at its checkpoint, those that may have left after it too.
long counted_rounds(const OpenRun& open) {
    const auto& resumption = open.prepared.resumption;
    return resumption ? resumption->counted(open.progress.rounds) : open.progress.rounds;
}

/// COLLECTIVE.
TrainResult result_of(const OpenRun& open, Clock::time_point start) {
    const Run& run = open.prepared.run;
    const RunProgress& progress = open.progress;
    TrainResult result = result_with_account(open.prepared, counted_rounds(open));
    result.run_directory = open.directory.path().string();
    result.rounds = progress.rounds;
    result.interrupted = progress.interrupted;
    result.own_reports = progress.own_reports;
    result.evaluation = progress.evaluation;
    result.last = progress.last;
    result.averaged = progress.averaged;
    result.baselines.without_privacy_accuracy = progress.without_privacy_accuracy;
    result.baselines.without_privacy_loss = progress.without_privacy_loss;
    result.clipped_share = progress.clipped_share;
    result.clip_norm = progress.clip_norm;
    result.evaluate_seconds = progress.totals.evaluate_seconds;
    JobFigures job = gather_figures(
        run.network, own_figures(run.network, run.members, progress.seconds, run.config));
    result.ranks = std::move(job.ranks);
    result.phases = job.phases;
    result.bytes_sent = job.bytes_sent;
    result.peak_memory_mib = job.peak_memory_mib;
    result.loop_seconds = run.network.maximum(progress.totals.loop_seconds);
    result.losses = progress.losses;
    result.warnings_before = result.warnings.size();
    if (run.leader())
        std::ranges::move(warnings_after_rounds(result), std::back_inserter(result.warnings));
    result.total_seconds = seconds_since(start);
    return result;
}

/// On process 0.
void write_end(OpenRun& open, const TrainResult& result) {
    open.directory.write("summary.json", summary_json(result, open.prepared.run.config.plan));
    if (result.interrupted || !open.prepared.run.resumable) return;
    open.prepared.history.completed = true;
    open.directory.write("history.json", to_json(open.prepared.history));
}

}  // namespace

TrainResult close_run(OpenRun& open, Clock::time_point start) {
    TrainResult result = result_of(open, start);
    const long counted = counted_rounds(open);
    result.account = settle_accounts(open.prepared, counted, std::move(open.account));
    open.prepared.run.network.agree([&] {
        if (open.prepared.run.leader())
            open.prepared.ledger.set_views(open.prepared.views->after(counted));
    });
    seal_ledger(open,
                result.interrupted ? Ledger::Status::interrupted : Ledger::Status::completed,
                counted);
    open.prepared.run.network.agree([&] {
        if (open.prepared.run.leader()) write_end(open, result);
    });
    // Nothing goes on after the last round, whoever kept seeds for it.
    if (!result.interrupted)
        open.prepared.run.network.agree([&] { erase_saved_seeds(open.directory.path()); });
    return result;
}

}  // namespace sotto
