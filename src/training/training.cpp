#include "training/training.hpp"

#include <filesystem>
#include <iterator>
#include <sstream>
#include <utility>

#include "config/agent_path.hpp"
#include "planning/plan_report.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/plan/plan_json.hpp"
#include "sotto/privacy/ledger_json.hpp"
#include "sotto/trust/seed_agreement.hpp"
#include "training/close_run.hpp"
#include "training/estimate_run.hpp"
#include "training/manifest.hpp"
#include "training/open_run.hpp"
#include "training/prepare_run.hpp"
#include "training/run_accounts.hpp"
#include "training/sealed_ledger.hpp"

namespace sotto {

namespace {

/// @param estimate null: the first round comes next.
void announce(const PreparedRun& prepared,
              TrainingListener& listener,
              std::string run_directory,
              const RunEstimate* estimate) {
    listener.on_members(prepared.run.members);
    if (prepared.run.leader())
        listener.on_start({.config = prepared.run.config,
                           .processes = prepared.run.network.processes(),
                           .planned = *prepared.planned,
                           .built = *prepared.built,
                           .task = prepared.run.task_description,
                           .report = prepared.report,
                           .outline = prepared.outline,
                           .warnings = prepared.warnings,
                           .run_directory = std::move(run_directory),
                           .estimate = estimate});
}

/// What the run would take and cost; nothing is left behind. COLLECTIVE.
TrainResult dry_run(PreparedRun prepared, TrainingListener& listener, Clock::time_point start) {
    require_accounts_allow(prepared);
    TrainResult result = result_with_account(prepared, prepared.run.config.plan.rounds);
    result.estimate = estimate_run(prepared);
    result.total_seconds = seconds_since(start);
    announce(prepared, listener, "", &result.estimate);
    return result;
}

/// Texts of the manifests of the run's earlier starts, on process 0.
std::vector<std::string> earlier_manifests(const OpenRun& open) {
    std::vector<std::string> manifests;
    for (int start = 0; start + 1 < open.prepared.history.starts; ++start) {
        const auto file = open.directory.path() / numbered_file("manifest", ".json", start);
        if (std::filesystem::exists(file)) manifests.push_back(read_file(file));
    }
    return manifests;
}

OpenRun announced(OpenRun open, TrainingListener& listener) {
    announce(open.prepared, listener, open.directory.path().string(), nullptr);
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

void Training::state_gradients(const std::string& own) {
    const Run& run = open_.prepared.run;
    const std::vector<std::string> said = run.network.all_gather(own, most_line_bytes);
    std::string lines;
    run.network.agree([&] {
        if (!run.leader()) return;
        const auto statements = gradient_statements(said, run.members, earlier_manifests(open_));
        open_.manifest = with_gradients(open_.manifest, statements);
        for (const std::string& statement : statements) lines += statement + "\n";
    });
    lines = run.network.broadcast(lines, most_document_bytes);
    if (lines.empty()) return;
    std::istringstream read(lines);
    for (std::string line; std::getline(read, line);) open_.prepared.ledger.add_statement(line);
    seal_ledger(open_, Ledger::Status::running, open_.progress.rounds);
}

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
