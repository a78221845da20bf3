#include "audit/audit_job.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "audit/attack.hpp"
#include "audit/audit_options.hpp"
#include "core/json.hpp"
#include "core/numbers.hpp"
#include "core/stopwatch.hpp"
#include "sotto/core/error.hpp"
#include "store/recorded_ledger.hpp"
#include "store/run_directory.hpp"
#include "views/tight_sensitivity.hpp"
#include "views/view_parameter.hpp"

namespace sotto {

namespace {

/// The training to record.
TrainConfig recorded_training(TrainConfig train, bool fixed_inputs, const View& view) {
    train.evaluate_every = train.plan.rounds;
    train.optimality_gap = false;
    if (fixed_inputs) train.l2 = 0;
    train.secure_sum = view.kind == View::Kind::secure_sum;
    train.record_views = view.members;
    train.record_wire = view.kind != View::Kind::neighbours;
    return train;
}

/// Runs it; config.ini of its directory starts the audit again. COLLECTIVE.
/// @return its run directory.  @throws Error if it was interrupted.
std::string run_recorded(const Attack& attack,
                         bool fixed_inputs,
                         Network& network,
                         TrainingListener& observer,
                         const std::function<bool()>& stop_requested) {
    const AuditConfig& config = attack.config();
    const TrainConfig train = recorded_training(config.train, fixed_inputs, attack.subject().view);
    const std::function<LocalTask()> inputs = attack.inputs(network);
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

/// Analyses the recordings, and saves the result if the run is the audit's own. LOCAL.
std::unique_ptr<AuditResult> examine(const Attack& attack,
                                     const std::string& folder,
                                     Clock::time_point start) {
    const AuditConfig& config = attack.config();
    const RunDirectory directory = RunDirectory::existing(folder);
    if (config.run) (void)read_sealed_ledger(folder);  // refuses a run that was edited
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
                   : run_recorded(*attack, record.fixed_inputs, network, observer, stop_requested);
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

using Json = nlohmann::ordered_json;

std::string audit_report_json(const AuditResult& result) { return to_text(result.json()); }

std::string audit_report_text(const AuditResult& result) {
    std::string text = fmt::format("audit: {}, {} agents, {} rounds{}; {} {}\n",
                                   result.mechanism,
                                   result.agents,
                                   result.rounds,
                                   result.task.empty() ? "" : " of " + result.task,
                                   result.view,
                                   result.question());
    text += result.tables();
    if (result.consistent())
        return text +
               fmt::format("consistent: {} ({:.1f} s)\n", result.agreement(), result.seconds);
    text += "INCONSISTENT:\n";
    for (const auto& finding : result.findings) text += "  - " + finding + "\n";
    return text;
}

Json run_json(const AuditResult& result) {
    Json json;
    json["attack"] = result.attack;
    json["mechanism"] = result.mechanism;
    if (!result.task.empty()) json["task"] = result.task;
    json["agents"] = result.agents;
    json["rounds"] = result.rounds;
    return json;
}

void add_ending(Json& json, const AuditResult& result) {
    json["findings"] = result.findings;
    json["seed"] = result.seed;
    json["seconds"] = result.seconds;
    json["run_directory"] = result.run_directory;
}

Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(); }

std::string number_text(double value, int digits) {
    if (std::isnan(value)) return "-";
    return std::isinf(value) ? "infinite" : fmt::format("{:.{}g}", value, digits);
}

Json distance_json(int distance) { return distance < 0 ? Json() : Json(distance); }

std::string distance_text(int distance) { return distance < 0 ? "-" : std::to_string(distance); }

}  // namespace sotto
