#include "training/open_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "agent/bootstrap.hpp"
#include "core/disk.hpp"
#include "core/output.hpp"
#include "graph/edge_list.hpp"
#include "options/train_options.hpp"
#include "planning/configured_gossip.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "store/checkpoint_store.hpp"
#include "tasks/predictions.hpp"
#include "training/local_agents.hpp"
#include "training/manifest.hpp"
#include "training/run_accounts.hpp"
#include "training/train_report.hpp"

namespace sotto {

namespace {

long rounds_before(const PreparedRun& prepared) {
    return prepared.resumption ? prepared.resumption->round : 0;
}

/// Process 0's directory.
RunDirectory make_directory(const PreparedRun& prepared) {
    const Run& run = prepared.run;
    return prepared.resumption
               ? RunDirectory::reopen(run.config.resume->directory, prepared.resumption->round)
               : RunDirectory::create(run.config.run_directory.value_or(""), run.plan.mechanism);
}

/// On process 0, writes the phases so far, with the plans of those that this start adds.
void write_history(const PreparedRun& prepared, const RunDirectory& directory) {
    const std::vector<PrivacyPhase>& phases = prepared.history.phases;
    const std::size_t before = prepared.resumption ? prepared.resumption->past.size() : 0;
    for (std::size_t k = before; k < phases.size(); ++k)
        directory.write(plan_file_of(phases, k), to_json(phases[k].plan));
    if (prepared.run.resumable) directory.write("history.json", to_json(prepared.history));
}

/// On process 0, writes what is known before the first round, except config.ini (declare_begun).
void write_beginning(const PreparedRun& prepared, const RunDirectory& directory) {
    const Run& run = prepared.run;
    if (run.config.graph.agreed)
        directory.write("graph.edges", format_edge_list(*run.config.graph.agreed));
    if (run.data.own.empty() && !run.data.shared.empty())
        directory.write("data.json", data_json(run.data, 0, run.data_commitments.front()));
}

/// The edges of a graph that agents told each other.
std::string graph_file(const RunDirectory& directory) {
    return (directory.path() / "graph.edges").string();
}

/// Writes what an agent keeps to itself: the files that it alone reads, and how to use its model.
void write_own_data(const PreparedRun& prepared, const RunDirectory& directory) {
    const Run& run = prepared.run;
    FileBatch together;
    for (std::size_t a = 0; a < run.data.own.size(); ++a)
        directory.write_for(prepared.agents[a].number,
                            "data.json",
                            data_json(run.data, a, run.data_commitments[a]));
    for (std::size_t a = 0; a < run.scaling.size(); ++a)
        directory.write_for(prepared.agents[a].number,
                            "model.json",
                            to_json(model_card(run.config.task, run.shape, run.scaling[a])));
    together.commit();
}

/// Makes sure that every host can write its agents' files; otherwise no process begins. COLLECTIVE.
void prepare_on_every_host(const PreparedRun& prepared, RunDirectory& directory) try {
    std::vector<int> numbers;
    for (const LocalAgent& agent : prepared.agents) numbers.push_back(agent.number);
    Network& network = prepared.run.network;
    network.agree([&] {
        if (!prepared.resumption) directory.require_unbegun();
        directory.prepare_for(numbers);
    });
    // No peer's message makes a process discard its record of what it revealed. It does so only if
    // it begins a new run itself and has just found that nothing was sent.
    const bool unbegun = network.maximum(directory.holds_unbegun() ? 1 : 0) > 0;
    if (unbegun && !prepared.resumption) directory.forget_unbegun(numbers);
} catch (const Error&) {
    if (prepared.run.leader() && !prepared.resumption) directory.abandon();
    throw;
}

/// The directory of this process, which no other process chooses. @param said process 0's.
RunDirectory own_directory_of(const Run& run, const std::string& said) {
    const auto& resume = run.config.resume;
    return RunDirectory::existing(own_directory(
        resume ? std::optional(resume->directory) : std::nullopt, run.config.run_directory, said));
}

/// The run directory, on every process. COLLECTIVE.
RunDirectory open_directory(const PreparedRun& prepared) {
    const Run& run = prepared.run;
    std::optional<RunDirectory> directory;
    run.network.agree([&] {
        if (run.leader()) directory = make_directory(prepared);
    });
    const std::string path = run.network.broadcast(
        run.leader() ? directory->path().string() : std::string(), most_line_bytes);
    run.network.agree([&] {
        if (!run.leader()) directory = own_directory_of(run, path);
    });
    prepare_on_every_host(prepared, *directory);
    run.network.agree([&] {
        write_own_data(prepared, *directory);
        if (run.leader()) write_beginning(prepared, *directory);
        if (run.leader()) write_history(prepared, *directory);
    });
    return std::move(*directory);
}

/// Seeds of the local agents: derived from a noise seed, those of the phase that continues, or
/// fresh ones. COLLECTIVE.
std::vector<KeyRing> take_rings(PreparedRun& prepared) {
    Run& run = prepared.run;
    if (run.config.noise_seed)
        return distribute_seeds(run.network, run.plan, *run.config.noise_seed);
    // A run that ends here draws no more noise.
    if (prepared.resumption && prepared.resumption->going_on && !prepared.resumption->finish)
        return std::move(prepared.resumption->rings);
    return distribute_seeds(run.network, run.plan, run.session, run.config.threads);
}

/// Where batches are secret, draws those of the local agents with their own keys, which are stored
/// with their seeds. Batches drawn with fresh keys are never drawn again.
void take_coins(PreparedRun& prepared, std::vector<KeyRing>& rings) {
    if (!prepared.run.config.plan.participation.is_secret()) return;
    const std::optional<std::uint64_t> seed = prepared.run.config.noise_seed;
    const PrivacyPhase& now = prepared.ledger.record().now();
    for (std::size_t a = 0; a < rings.size(); ++a) {
        LocalAgent& agent = prepared.agents[a];
        if (!rings[a].holds_coins())
            rings[a].add_coins(seed ? reproducible_coins(*seed, now.key_epoch, agent.number)
                                    : SecretKey::random());
        agent.batches = drawn_batches(prepared.run,
                                      agent.number,
                                      agent.objective->records(),
                                      agent.batch_size,
                                      now.probability(agent.id),
                                      rings[a].coins().clone());
    }
}

/// Masks of the local agents for secure sums.
std::vector<SecureSum> make_sums(Run& run) {
    std::vector<SecureSum> sums;
    if (run.config.secure_sum)
        for (PairSecrets& own : run.session.secrets)
            sums.emplace_back(run.topography.graph, own, run.key_epoch, run.config.mask_partners);
    return sums;
}

RunProgress progress_before(const PreparedRun& prepared) {
    RunProgress progress;
    progress.rounds = rounds_before(prepared);
    if (prepared.resumption) progress.totals = prepared.resumption->totals;
    return progress;
}

/// Connects the agents with the keys of the training and creates the files that hold its rounds.
/// COLLECTIVE.
Recorders begin_phase(Run& run,
                      std::span<const KeyRing> rings,
                      const std::filesystem::path& folder,
                      Eigen::Index dimension) {
    Recorders recorders;
    run.network.agree([&] {
        if (run.config.link_encryption && run.network.processes() > 1)
            run.network.protect(run.session.secrets, run.key_epoch);
        recorders = Recorders(run, rings, folder, recorded_rounds(run, dimension));
    });
    return recorders;
}

/// The manifest of this start, on process 0. COLLECTIVE.
/// @param warning what all users must know of the processes' keys; empty: nothing.
std::string manifest_of(const Run& run, const std::vector<KeyRing>& rings, std::string& warning) {
    const auto notes = run.network.all_gather(
        to_json(process_note(run.network, rings)),
        largest_note_bytes(run.plan, run.network.most_agents_of_a_process()));
    std::string manifest;
    run.network.agree([&] {
        if (!run.leader()) return;
        manifest = manifest_json(run, notes);
        warning = statement_on_unlocked_keys(notes);
    });
    return manifest;
}

std::filesystem::path views_folder(const RunDirectory& directory, int start) {
    return directory.path() / numbered_file("views", "", start);
}

}  // namespace

OpenRun open_run(PreparedRun prepared) {
    Run& run = prepared.run;
    Network& network = run.network;
    DeductedRun deducted(prepared);
    const int start = prepared.history.starts++;
    std::string configuration;
    network.agree([&] { configuration = as_ini(run.config); });
    RunDirectory directory = open_directory(prepared);
    deducted.write(prepared);
    if (run.config.graph.agreed)
        network.agree([&] {
            run.config.graph.file = graph_file(directory);
            configuration = as_ini(run.config);
        });
    std::vector<KeyRing> rings = take_rings(prepared);
    take_coins(prepared, rings);
    std::vector<SecureSum> sums;
    Recorders recorders;
    std::optional<TensorboardFile> tensorboard;
    if (prepared.surveys.empty())
        recorders =
            begin_phase(run, rings, views_folder(directory, start), prepared.initial.size());
    network.agree([&] {
        sums = make_sums(run);
        if (run.leader() && run.config.tensorboard)
            tensorboard =
                TensorboardFile::create(directory.path() / "tensorboard", rounds_before(prepared));
    });
    std::string warning;
    std::string manifest = manifest_of(run, rings, warning);
    if (!warning.empty()) {
        prepared.ledger.add_statement(warning);
        prepared.warnings.push_back(warning);
    }
    RunProgress progress = progress_before(prepared);
    OpenRun open{.prepared = std::move(prepared),
                 .directory = std::move(directory),
                 .rings = std::move(rings),
                 .sums = std::move(sums),
                 .recorders = std::move(recorders),
                 .tensorboard = std::move(tensorboard),
                 .progress = progress,
                 .account = deducted.keep(),
                 .configuration = std::move(configuration),
                 .manifest_file = numbered_file("manifest", ".json", start),
                 .manifest = std::move(manifest)};
    seal_ledger(open, Ledger::Status::running, progress.rounds);
    return open;
}

void go_on_to_training(OpenRun& open) {
    Run& run = open.prepared.run;
    const int start = open.prepared.history.starts - 1;
    open.surveyed = true;
    open.recorders = begin_phase(
        run, open.rings, views_folder(open.directory, start), open.prepared.initial.size());
    run.network.agree([&] {
        open.configuration = as_ini(run.config);
        write_own_data(open.prepared, open.directory);  // model.json has what was learnt
        if (run.leader()) write_history(open.prepared, open.directory);
    });
    std::string known;
    open.manifest = manifest_of(run, open.rings, known);
    if (!open.gradients.empty()) open.manifest = with_gradients(open.manifest, open.gradients);
    seal_ledger(open, Ledger::Status::running, open.progress.rounds);
}

void declare_begun(const OpenRun& open) {
    const Run& run = open.prepared.run;
    run.network.agree([&] {
        if (run.leader() && (!open.prepared.resumption || open.surveyed))
            open.directory.write("config.ini", open.configuration);
    });
}

namespace {

std::optional<TunedRun> tuned_run(const PreparedRun& prepared) {
    if (!prepared.tuning.active) return std::nullopt;
    const AskedPlan& plan = prepared.run.config.plan;
    TunedRun tuned{.rounds = plan.rounds, .batch = plan.batch_size};
    if (prepared.tuning.measured.norms) tuned.mu_share = survey_of_norms.share;
    if (plan.open.measured()) return tuned;
    if (prepared.tuning.measured.norms) tuned.norm = prepared.tuning.norm;
    tuned.clip_norm = plan.clip_norm;
    tuned.step_size = plan.steps.step_size;
    return tuned;
}

}  // namespace

TrainResult result_with_account(const PreparedRun& prepared, long rounds) {
    const Run& run = prepared.run;
    TrainResult result;
    const std::vector<Guarantee> spent = prepared.ledger.after(rounds);
    const Guarantee worst = prepared.ledger.record().unit_agents > 1
                                ? prepared.ledger.persons_after(rounds)
                                : largest(spent);
    result.mu = worst.loss.mu().value_or(not_a_number);
    result.epsilon = worst.epsilon;
    for (const Guarantee& agent : spent) result.epsilons.push_back(agent.epsilon);
    result.agent_files = run.file_names;
    result.mechanism = run.plan.mechanism;
    result.agents = run.network.agents();
    result.processes = run.network.processes();
    result.delta = run.config.plan.delta;
    result.dry_run = run.config.dry_run;
    result.planned_rounds = run.config.plan.rounds;
    result.gossip_steps = run.config.plan.gossip_steps;
    result.final_gossip = final_gossip_steps(run.phase, run.topography.schedule());
    if (prepared.planned) result.plan_seconds = prepared.planned->seconds;
    result.words = prepared.words;
    result.warnings = prepared.warnings;
    result.tuned = tuned_run(prepared);
    result.baselines.constant_accuracy = run.targets.constant_accuracy;
    result.baselines.constant_loss = run.targets.constant_loss;
    result.baselines.test_records = run.targets.test_records;
    if (prepared.resumption) {
        result.rounds = prepared.resumption->round;
        result.resumed = resumed_run(*prepared.resumption, run.members);
    }
    return result;
}

namespace {

/// Completed rounds that count. A run that ends at its checkpoint includes rounds that may have
/// been sent after it.
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
    result.suspected = progress.suspected;
    result.evaluation = progress.evaluation;
    result.last = progress.last;
    result.averaged = progress.averaged;
    result.baselines.without_privacy_accuracy = progress.without_privacy_accuracy;
    result.baselines.without_privacy_loss = progress.without_privacy_loss;
    result.clipped_share = progress.clipped_share;
    result.clip_norm = progress.clip_norm;
    result.evaluate_seconds = progress.totals.evaluate_seconds;
    RankFigures own = own_figures(run.network, run.members, progress.seconds, run.config);
    own.late.skipped = progress.rounds_skipped;
    own.late.noiseless = progress.rounds_without_noise;
    JobFigures job = gather_figures(run.network, own);
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
    // No continuation follows the last round, even if seeds were kept.
    if (!result.interrupted)
        open.prepared.run.network.agree([&] { erase_saved_seeds(open.directory.path()); });
    return result;
}

namespace {

ExitCode exit_code_of(const std::exception& failure) {
    const auto* known = dynamic_cast<const Error*>(&failure);
    return known != nullptr ? known->exit_code() : ExitCode::other;
}

}  // namespace

void end_failed_run(const OpenRun& run, const std::exception& failure) {
    Network& network = run.prepared.run.network;
    const long rounds = run.progress.rounds;
    // Messages of a started round may have been sent, so the ledger keeps counting all planned
    // rounds. The existing ledger does so too if this one cannot be written.
    if (run.prepared.run.leader()) try {
            write_open_ledger(run, Ledger::Status::failed, rounds);
        } catch (const Error& unwritten) {
            print_error_line(unwritten.what());
        }
    const std::string message =
        fmt::format("{}, round {}: {}", network.process_name(), rounds, failure.what());
    const bool first = run.directory.claim_failure(message);
    if (network.processes() == 1) throw;
    // Meanwhile the process that reports the failure ends the job, unless it is cut off. Not
    // ::sleep: the launcher's signals would interrupt it.
    if (!first) std::this_thread::sleep_for(std::chrono::seconds(5));
    print_error_line(message);
    network.abort(exit_code_of(failure));
}

std::string to_json(const AgentReport& report) {
    const nlohmann::ordered_json json{{"gradients_set_to_zero", report.gradients_set_to_zero},
                                      {"records_set_to_zero", report.records_set_to_zero},
                                      {"messages_limited", report.messages_limited}};
    return json.dump(2) + "\n";
}

void write_own_reports(const RunDirectory& directory, const Trainer& trainer) {
    FileBatch together;
    for (std::size_t a = 0; a < trainer.agents().size(); ++a)
        directory.write_for(trainer.agents()[a].number, "report.json", to_json(trainer.report(a)));
    together.commit();
}

std::string own_reports_text(const Trainer& trainer) {
    AgentReport total;
    int agents = 0;
    for (std::size_t a = 0; a < trainer.agents().size(); ++a) {
        const AgentReport& report = trainer.report(a);
        if (report.empty()) continue;
        ++agents;
        total.gradients_set_to_zero += report.gradients_set_to_zero;
        total.records_set_to_zero += report.records_set_to_zero;
        total.messages_limited += report.messages_limited;
    }
    if (agents == 0) return {};
    return fmt::format(
        "{} of {} agents: {} gradients and {} gradients of records were not finite and counted as "
        "zero, {} messages held values beyond {:.3g} (agents/<agent>/report.json)",
        agents,
        trainer.agents().size(),
        total.gradients_set_to_zero,
        total.records_set_to_zero,
        total.messages_limited,
        trainer.message_limit());
}

}  // namespace sotto
