#include "training/training_rounds.hpp"

#include <utility>

#include "core/file_batch.hpp"
#include "planning/configured_gossip.hpp"
#include "sotto/net/launch_environment.hpp"
#include "sotto/noise/noise_source.hpp"
#include "training/estimate_run.hpp"
#include "training/failed_run.hpp"
#include "training/learnt_clip.hpp"
#include "training/own_reports.hpp"
#include "training/stall_limits.hpp"
#include "training/training_loop.hpp"
#include "training/training_without_privacy.hpp"

namespace sotto {

namespace {

TrainerOptions trainer_options(const PreparedRun& prepared) {
    const Run& run = prepared.run;
    TrainerOptions options;
    options.clip_norm = run.config.plan.clip_norm;
    options.adjacency = run.config.plan.adjacency;
    options.coordinates = prepared.coordinates;
    options.steps = run.config.plan.steps;
    options.local_steps = run.config.plan.local_steps;
    // At least what is counted, which is rounded down.
    options.client_probability = run.config.plan.client_probability.value_or(1);
    options.l2 = run.config.l2;
    options.gossip = configured_gossip(run.phase, run.topography.mixing);
    options.smoothing = configured_smoothing(run.phase, run.topography);
    options.rounds = run.config.plan.rounds;
    options.key_epoch = run.key_epoch;
    options.first_noise_round = run.phase.steps.first_round;
    options.threads = run.config.threads;
    return options;
}

/// d x local agents; no columns where some agent has none.
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

/// Where the checkpoints of the local agents are, which it takes.
void go_on(Trainer& trainer, Resumption& resumption) {
    const std::vector<Checkpoint> local = std::exchange(resumption.local, {});
    if (resumption.round == 0) return;  // every model is where it begins
    const Eigen::Index dimension = trainer.models().rows();
    trainer.start_from(columns_of(local, &Checkpoint::model, dimension));
    trainer.start_smoothing_from(columns_of(local, &Checkpoint::velocity, dimension),
                                 columns_of(local, &Checkpoint::mean, dimension),
                                 resumption.round);
}

/// Takes the run's agents, and the model they begin with.
Trainer make_trainer(OpenRun& open) {
    PreparedRun& prepared = open.prepared;
    const Run& run = prepared.run;
    return {run.network,
            run.topography.schedule(),
            run.plan,
            NoiseSource(run.plan, open.rings, run.config.threads, run.most_past_bytes()),
            std::move(prepared.agents),
            std::exchange(prepared.initial, {}),
            trainer_options(prepared)};
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

/// Mean over all agents of the part of their gradients that the clip shortened; not a number where
/// nobody counts. For the experimenter, as losses are. COLLECTIVE.
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

/// Seconds that computing a round takes, where the launcher grants only so many to stop. Of secret
/// batches nobody else may learn how large they are. COLLECTIVE.
std::optional<double> compute_before_rounds(PreparedRun& prepared) {
    const Run& run = prepared.run;
    const bool asks = run.leader() && run.network.processes() > 1 && seconds_before_kill();
    if (run.network.maximum(asks ? 1 : 0) == 0 || run.config.plan.participation.poisson)
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
    if (open.prepared.resumption) go_on(trainer_, *open.prepared.resumption);
    open.recorders.observe(trainer_);
    run.network.watch_for_stalls(stall_limits(
        run.config.stall_warn_seconds, run.config.stall_abort_seconds, run.network.process_name()));
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
    run.network.watch_for_stalls(stall_limits(run.config.stall_warn_seconds,
                                              run.config.stall_abort_seconds,
                                              run.network.process_name(),
                                              patience_outside_rounds));
    open_.progress.seconds = trainer_.seconds();
    open_.progress.clipped_share = clipped_share(run.network, trainer_);
    if (run.config.baseline && !open_.progress.interrupted) compare_without_privacy();
    if (run.config.plan.learn_clip)
        open_.progress.clip_norm =
            configured_clip(run.config)
                .clip_norm(trainer_.estimates()(trainer_.estimates().rows() - 1, 0));
    // Of other processes nobody learns it.
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

}  // namespace sotto
