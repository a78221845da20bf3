#include "training/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <utility>

#include "config/agent_path.hpp"
#include "core/disk.hpp"
#include "core/files.hpp"
#include "core/numbers.hpp"
#include "core/output.hpp"
#include "core/stopwatch.hpp"
#include "net/mpi_session.hpp"
#include "noise/noise_source.hpp"
#include "planning/configured_gossip.hpp"
#include "planning/plan_report.hpp"
#include "privacy/ledger_json.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "training/estimate_run.hpp"
#include "training/learnt_clip.hpp"
#include "training/manifest.hpp"
#include "training/open_run.hpp"
#include "training/preconditioning.hpp"
#include "training/prepare_run.hpp"
#include "training/robust_run.hpp"
#include "training/round_deadline.hpp"
#include "training/run_accounts.hpp"
#include "training/short_messages.hpp"
#include "training/stop_signal.hpp"
#include "training/training_without_privacy.hpp"
#include "trust/seed_agreement.hpp"

namespace sotto {

EvaluatedRecords usual_records(bool after_last_round, int agents) {
    constexpr long some = 1000, few_agents = 10'000, of_all = 4'000'000,
                   of_all_at_end = 200'000'000;
    if (!after_last_round) return {std::clamp(of_all / agents, 1L, some), some};
    if (agents <= few_agents) return {std::nullopt, some};
    return {std::max(of_all_at_end / agents, 1L), some};
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
      checkpoints_(run, trainer, static_cast<int>(run.prepared.history.phases.size()) - 1),
      vote_(run_.network, stop_requested),
      grace_(run_.leader() && run_.network.processes() > 1 ? seconds_before_kill() : std::nullopt),
      ends_here_(run.prepared.resumption && run.prepared.resumption->finish),
      every_(run_.config.evaluate_every > 0
                 ? run_.config.evaluate_every
                 : std::max(1L, run_.config.plan.rounds / (run_.config.round_deadline ? 10 : 50))),
      stop_requested_(stop_requested),
      measured_(!run_.config.round_deadline || *run_.config.round_deadline > 0) {}

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
    started_ = progress_.rounds;
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

long TrainingLoop::next_meeting() const {
    const long rounds = run_.config.plan.rounds, now = progress_.rounds;
    if (!run_.config.round_deadline) return now + 1;
    return std::min({rounds,
                     (now / every_ + 1) * every_,
                     next_checkpoint(run_.config.checkpoint_every, now, rounds),
                     measured_ ? rounds : now + 1});
}

void TrainingLoop::run_round() {
    checkpoints_.before_round(progress_.rounds);
    const long meeting = next_meeting();
    progress_.rounds = trainer_.run_round(progress_.rounds, meeting);
    if (run_.leader())
        listener_.on_round(progress_.rounds, run_.config.plan.rounds, open_.prepared.ledger);
    if (run_.config.round_deadline) {
        if (stop_requested_()) run_.network.call_meeting();
        if (progress_.rounds < meeting) return;
        run_.network.meet(meeting);
        trainer_.take_late();
        if (!measured_) measure_deadline();
    }
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
    // The ledger first: a launcher that forwards an interrupt kills soon afterwards.
    seal_ledger(open_, Ledger::Status::interrupted, progress_.rounds);
    stretch_ = Clock::now();
    checkpoints_.seal(progress_.rounds, true, totals());
}

void TrainingLoop::measure_deadline() {
    if (progress_.rounds < std::min(started_ + measured_rounds, run_.config.plan.rounds)) return;
    measured_ = true;
    const std::optional<double> seconds = agree_on_deadline(run_, trainer_.arrivals());
    if (!seconds) return;
    trainer_.set_deadline(*seconds);
    if (run_.leader())
        print_error_line(fmt::format("rounds go on after {:.3g} ms", 1e3 * *seconds));
}

bool TrainingLoop::stops() {
    if (run_.config.round_deadline) return run_.network.maximum(stop_requested_() ? 1 : 0) > 0;
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
        usual_records(progress_.rounds == run_.config.plan.rounds, run_.network.agents()));
    records.own_tests = run_.own_tests;
    for (const int number : run_.members.numbers)
        if (run_.config.faults.lie_of(number) != nullptr) ++records.liars;
    return records;
}

namespace {

/// Why messages carry less than the largest values.
const char* why_limited(const Run& run) {
    if (run.config.secure_sum) return " with --secure-sum on";
    return run.network.message_precision() == MessagePrecision::nibble ? " with --precision nibble"
                                                                       : "";
}

}  // namespace

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
    // Only the models decide: no loss on an agent's data ends the run. Every process has the same
    // figures, so all end here.
    const double limit = trainer_.message_limit();
    const double reached =
        std::max(progress_.evaluation.largest_parameter, progress_.evaluation.consensus_distance);
    if (!(reached <= limit / 4))
        throw DivergedError(fmt::format(
            "the training diverged: models reach {:.3g}, and messages carry up to {:.3g}{} (use a "
            "smaller --step-size)",
            reached,
            limit,
            why_limited(run_)));
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

namespace {

/// COLLECTIVE.
TrainerOptions trainer_options(const PreparedRun& prepared, Eigen::Index dimension) {
    const Run& run = prepared.run;
    TrainerOptions options;
    if (run.network.message_precision() == MessagePrecision::nibble)
        options.message_steps = agree_on_message_steps(run, dimension, prepared.coordinates);
    options.clip_norm = run.config.plan.clip_norm;
    options.adjacency = run.config.plan.adjacency;
    options.coordinates = prepared.coordinates;
    options.steps = run.config.plan.steps;
    options.local_steps = run.config.plan.local_steps;
    // The real probability is at least the counted one, which is rounded down.
    options.client_probability = run.config.plan.client_probability.value_or(1);
    options.l2 = run.config.l2;
    options.gossip = configured_gossip(run.phase, run.topography.mixing);
    options.smoothing = configured_smoothing(run.phase, run.topography);
    options.preconditioning = configured_preconditioning(run);
    options.rounds = run.config.plan.rounds;
    options.key_epoch = run.key_epoch;
    options.first_noise_round = run.phase.steps.first_round;
    options.threads = run.config.threads;
    if (run.config.round_deadline)
        options.deadline = *run.config.round_deadline > 0 ? *run.config.round_deadline : infinity;
    options.max_lag = run.config.max_lag;
    options.faults = run.config.faults;
    options.faults_seed = run.config.task.seed;
    options.lies = lies_by_place(run);
    options.robust = run.config.robust;
    return options;
}

/// d x local agents; no columns if some agent has no vector.
Eigen::MatrixXd columns_of(const std::vector<Checkpoint>& local,
                           Eigen::VectorXd Checkpoint::*vector,
                           Eigen::Index dimension) {
    Eigen::MatrixXd columns(dimension, std::ssize(local));
    for (std::size_t a = 0; a < local.size(); ++a) {
        if ((local[a].*vector).size() != dimension) return Eigen::MatrixXd(dimension, 0);
        columns.col(static_cast<Eigen::Index>(a)) = local[a].*vector;
    }
    return columns;
}

/// Whether the agents are those of the checkpoint's phase. If some left or joined, the corrections
/// of those who are there do not add up to zero.
bool are_those_of(const std::vector<Checkpoint>& local,
                  const Resumption& resumption,
                  const Run& run) {
    if (!run.config.resume->joining.empty()) return false;
    const auto same_phase = [&](const PrivacyPhase& phase) {
        return phase.survey == nullptr && phase.key_epoch == local.front().key_epoch;
    };
    if (resumption.going_on && same_phase(*resumption.going_on)) return true;
    const auto before = std::ranges::find_if(resumption.past, same_phase);
    return before != resumption.past.end() && before->members.numbers == run.members.numbers;
}

/// Moves the local agents' checkpoints into the trainer.
void go_on(Trainer& trainer, Resumption& resumption, const Run& run) {
    const std::vector<Checkpoint> local = std::exchange(resumption.local, {});
    if (resumption.round == 0) return;  // models start at the initial one
    const Eigen::Index dimension = trainer.models().rows();
    trainer.start_from(columns_of(local, &Checkpoint::model, dimension));
    trainer.start_smoothing_from(columns_of(local, &Checkpoint::velocity, dimension),
                                 columns_of(local, &Checkpoint::mean, dimension),
                                 resumption.round);
    if (are_those_of(local, resumption, run))
        trainer.start_correction_from(columns_of(local, &Checkpoint::carried, dimension),
                                      columns_of(local, &Checkpoint::direction, dimension));
    trainer.start_preconditioner_from(columns_of(local, &Checkpoint::anchor, dimension),
                                      columns_of(local, &Checkpoint::moments, dimension));
}

/// Takes the run's agents and starts them at the initial model.
Trainer make_trainer(OpenRun& open) {
    PreparedRun& prepared = open.prepared;
    const Run& run = prepared.run;
    TrainerOptions options = trainer_options(prepared, prepared.initial.size());
    return {run.network,
            run.topography.schedule(),
            run.plan,
            NoiseSource(options.lies.empty() ? run.plan : plan_of_liars(run.plan, options.lies),
                        open.rings,
                        run.config.threads,
                        run.most_past_bytes()),
            std::move(prepared.agents),
            std::exchange(prepared.initial, {}),
            std::move(options)};
}

void write_models(const OpenRun& open, const Trainer& trainer) {
    FileBatch together;
    for (Eigen::Index a = 0; a < trainer.estimates().cols(); ++a) {
        const LocalAgent& agent = trainer.agents()[static_cast<std::size_t>(a)];
        open.directory.write_model(agent.number,
                                   {trainer.estimates().col(a).data(),
                                    static_cast<std::size_t>(agent.objective->model_parameters())});
    }
    together.commit();
}

/// Share of gradients that the clip shortened, averaged over all agents; not a number if none is
/// counted. For the experimenter, as losses are. COLLECTIVE.
double clipped_share(Network& network, const Trainer& trainer) {
    Eigen::MatrixXd local = Eigen::MatrixXd::Zero(2, std::ssize(trainer.agents()));
    for (Eigen::Index a = 0; a < local.cols(); ++a) {
        const AgentReport& report = trainer.report(static_cast<std::size_t>(a));
        if (report.gradients == 0) continue;
        local.col(a) << static_cast<double>(report.gradients_shortened) /
                            static_cast<double>(report.gradients),
            1;
    }
    const Eigen::VectorXd sum = network.sum_over_agents(local);
    return sum(0) / sum(1);
}

/// Compute time of a round [s], measured only if the launcher limits the time of a stop, and no
/// batch size is secret. COLLECTIVE.
std::optional<double> compute_before_rounds(PreparedRun& prepared) {
    const Run& run = prepared.run;
    const bool asks = run.leader() && run.network.processes() > 1 && seconds_before_kill();
    if (run.network.maximum(asks ? 1 : 0) == 0 || run.config.plan.participation.is_secret())
        return std::nullopt;
    return compute_seconds(prepared);
}

}  // namespace

TrainingRounds::TrainingRounds(OpenRun& open,
                               TrainingListener& listener,
                               const std::function<bool()>& stop_requested)
    : open_(open),
      compute_seconds_(compute_before_rounds(open.prepared)),
      trainer_(make_trainer(open)),
      loop_(open, trainer_, listener, stop_requested) {
    const Run& run = open.prepared.run;
    if (run.config.secure_sum) trainer_.use_secure_sums(std::move(open.sums));
    if (run.config.robust.on())
        trainer_.check_shared_noise(shared_noise_check(run, open.rings, trainer_.models().rows()));
    if (open.prepared.resumption) go_on(trainer_, *open.prepared.resumption, run);
    open.recorders.observe(trainer_);
    run.network.watch_for_stalls(
        stall_limits(run.config.stall_abort_seconds, run.network.process_name()));
    listener.on_rounds();
    or_end_all([this] { loop_.begin(compute_seconds_); });
}

void TrainingRounds::finish() {
    const Run& run = open_.prepared.run;
    or_end_all([this] {
        loop_.end();
        open_.recorders.finish();
        write_models(open_, trainer_);
        write_own_reports(open_.directory, trainer_);
    });
    run.network.watch_for_stalls(stall_limits(
        run.config.stall_abort_seconds, run.network.process_name(), patience_outside_rounds));
    open_.progress.seconds = trainer_.seconds();
    open_.progress.rounds_skipped = trainer_.rounds_skipped();
    open_.progress.rounds_without_noise = trainer_.rounds_without_noise();
    if (run.config.robust.on())
        open_.progress.suspected =
            gather_suspected(run.network, run.members, trainer_.suspicions());
    open_.progress.clipped_share = clipped_share(run.network, trainer_);
    if (run.config.baseline && !open_.progress.interrupted) compare_without_privacy();
    if (run.config.plan.learn_clip)
        open_.progress.clip_norm =
            configured_clip(run.config)
                .clip_norm(trainer_.estimates()(trainer_.estimates().rows() - 1, 0));
    // Reports of other processes stay there.
    if (run.network.processes() == 1) open_.progress.own_reports = own_reports_text(trainer_);
}

void TrainingRounds::compare_without_privacy() {
    const Run& run = open_.prepared.run;
    const LossSum reached = train_without_privacy(
        trainer_.agents(), run.config.l2, run.own_tests, run.config.task.seed, run.config.threads);
    const auto records = static_cast<double>(reached.records);
    open_.progress.without_privacy_loss = reached.loss / records;
    if (reached.has_accuracy) open_.progress.without_privacy_accuracy = reached.correct / records;
}

namespace {

/// @param estimate null: the first round follows.
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

/// Predicts cost and duration of the run; writes nothing. COLLECTIVE.
TrainResult dry_run(PreparedRun prepared, TrainingListener& listener, Clock::time_point start) {
    require_accounts_allow(prepared);
    TrainResult result = result_with_account(prepared, prepared.run.config.plan.rounds);
    result.estimate = estimate_run(prepared);
    result.total_seconds = seconds_since(start);
    announce(prepared, listener, "", &result.estimate);
    return result;
}

/// Manifests of the run's earlier starts, on process 0.
std::vector<std::string> earlier_manifests(const OpenRun& open) {
    std::vector<std::string> manifests;
    for (int start = 0; start + 1 < open.prepared.history.starts; ++start) {
        const auto file = open.directory.path() / numbered_file("manifest", ".json", start);
        if (std::filesystem::exists(file)) manifests.push_back(read_file(file));
    }
    return manifests;
}

}  // namespace

namespace {

OpenRun opened(PreparedRun prepared, TrainingListener& listener) {
    listener.on_preparing("writing the run directory");
    return open_run(std::move(prepared));
}

}  // namespace

Training::Training(Clock::time_point start,
                   PreparedRun prepared,
                   TrainingListener& listener,
                   std::function<bool()> stop_requested)
    : start_(start),
      listener_(listener),
      stop_requested_(std::move(stop_requested)),
      open_(opened(std::move(prepared), listener)) {
    if (open_.prepared.surveys.empty()) survey();
}

void Training::survey() {
    try {
        carry_out_surveys(open_);
    } catch (const std::exception& failure) {
        end_failed_run(open_, failure);
    }
    announce(open_.prepared, listener_, open_.directory.path().string(), nullptr);
    rounds_.emplace(open_, listener_, stop_requested_);
}

Training::Training(const TrainConfig& config,
                   Network& network,
                   TrainingListener& listener,
                   std::function<bool()> stop_requested,
                   const std::function<LocalTask()>& make_task)
    : Training{Clock::now(),
               prepare_run(config, network, make_task, listener),
               listener,
               std::move(stop_requested)} {}

void Training::state_gradients(const std::string& own) {
    const Run& run = open_.prepared.run;
    const std::vector<std::string> said = run.network.all_gather(own, most_line_bytes);
    std::string lines;
    run.network.agree([&] {
        if (!run.leader()) return;
        open_.gradients = gradient_statements(said, run.members, earlier_manifests(open_));
        open_.manifest = with_gradients(open_.manifest, open_.gradients);
        for (const std::string& statement : open_.gradients) lines += statement + "\n";
    });
    lines = run.network.broadcast(lines, most_document_bytes);
    if (lines.empty()) return;
    std::istringstream read(lines);
    for (std::string line; std::getline(read, line);) open_.prepared.ledger.add_statement(line);
    seal_ledger(open_, Ledger::Status::running, open_.progress.rounds);
}

TrainResult Training::finish() {
    rounds_->finish();
    return close_run(open_, start_);
}

TrainResult run_training(const TrainConfig& config,
                         Network& network,
                         TrainingListener& listener,
                         const std::function<bool()>& stop_requested,
                         const std::function<LocalTask()>& make_task) {
    const Clock::time_point start = Clock::now();
    listener.on_preparing("making the graph");
    PreparedRun prepared = prepare_run(config, network, make_task, listener);
    if (config.dry_run) return dry_run(std::move(prepared), listener, start);
    Training training(start, std::move(prepared), listener, stop_requested);
    if (training.to_survey()) training.survey();
    while (training.more()) training.run_round();
    return training.finish();
}

}  // namespace sotto
