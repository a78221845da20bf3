#include "audit/audit_job.hpp"

#include <fmt/format.h>

#include "audit/attack.hpp"
#include "audit/audit_options.hpp"
#include "audit/audit_report.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/views/argument.hpp"
#include "sotto/views/worst_signs.hpp"
#include "store/ledger_digest.hpp"
#include "store/run_directory.hpp"

namespace sotto {

namespace {

/// The training whose messages are recorded.
TrainConfig recorded_training(TrainConfig train, bool fixed_inputs, const View& view) {
    train.evaluate_every = train.plan.rounds;
    train.optimality_gap = false;
    if (fixed_inputs) train.l2 = 0;
    train.secure_sum = view.kind == View::Kind::secure_sum;
    train.record_views = view.members;
    train.record_wire = view.kind != View::Kind::neighbours;
    return train;
}

/// The run; config.ini of its directory starts the audit again. COLLECTIVE.
/// @return its run directory.  @throws Error where it was interrupted.
std::string run_recorded(const AuditConfig& config,
                         const TrainConfig& train,
                         const std::function<LocalTask()>& inputs,
                         Network& network,
                         TrainingListener& observer,
                         const std::function<bool()>& stop_requested) {
    const TrainResult trained = run_training(train, network, observer, stop_requested, inputs);
    network.agree([&] {
        if (network.process() == 0)
            RunDirectory::existing(trained.run_directory).write("config.ini", as_ini(config));
    });
    if (trained.interrupted)
        throw Error(ExitCode::other,
                    fmt::format("stopped after {} of {} rounds; there is nothing to analyse",
                                trained.rounds,
                                train.plan.rounds));
    observer.on_analysis();
    return trained.run_directory;
}

/// Looks at the recordings, and keeps what was found where the run is the audit's own. LOCAL.
std::unique_ptr<AuditResult> examine(const Attack& attack,
                                     const std::string& folder,
                                     Clock::time_point start) {
    const AuditConfig& config = attack.config();
    const RunDirectory directory = RunDirectory::existing(folder);
    if (config.run) (void)read_sealed_ledger(folder);  // nobody audits an edited run unawares
    if (!config.run) attack.write_inputs(directory);
    std::unique_ptr<AuditResult> result = attack.analyse(folder);
    result->attack = config.attack;
    result->view = attack.subject().view_name;
    result->agents = attack.subject().topography.graph.agents();
    result->rounds = config.train.plan.rounds;
    result->level = config.level;
    result->seed = config.train.task.seed;
    result->run_directory = folder;
    result->seconds = seconds_since(start);
    if (config.run) return result;
    result->write_files(directory);
    directory.write("audit.json", audit_report_json(*result));
    return result;
}

}  // namespace

AuditOutcome run_audit(const AuditConfig& config,
                       Network& network,
                       TrainingListener& observer,
                       const std::function<bool()>& stop_requested) {
    const auto start = Clock::now();
    const AttackRecord& record = attacks().find("--attack", config.attack);
    AuditSubject subject = build_audit_subject(config, record.fixed_inputs, network);
    const std::unique_ptr<Attack> attack = record.start(config, std::move(subject), network);
    const std::string folder =
        config.run ? *config.run
                   : run_recorded(config,
                                  recorded_training(
                                      config.train, record.fixed_inputs, attack->subject().view),
                                  attack->inputs(network),
                                  network,
                                  observer,
                                  stop_requested);
    attack->gather(folder, network);
    AuditOutcome outcome;
    network.agree([&] {
        if (network.process() == 0) outcome.result = examine(*attack, folder, start);
    });
    const bool consistent = !outcome.result || outcome.result->consistent();
    outcome.consistent = network.broadcast(consistent ? "consistent" : "inconsistent",
                                           most_line_bytes) == "consistent";
    return outcome;
}

}  // namespace sotto
