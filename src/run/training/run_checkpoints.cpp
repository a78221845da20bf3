#include "run/training/run_checkpoints.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "run/checkpoint_copies.hpp"
#include "run/disks.hpp"
#include "run/history_copies.hpp"
#include "run/options/train_options.hpp"
#include "sotto/agent/saved_seeds.hpp"

namespace sotto {

RunCheckpoints::RunCheckpoints(const OpenRun& run, const Trainer& trainer)
    : run_(run),
      trainer_(trainer),
      every_(run.prepared.run.config.checkpoint_every),
      phase_(static_cast<int>(run.prepared.history.phases.size()) - 1),
      plan_hash_(run.prepared.run.plan.hash()) {
    if (run.prepared.run.resumable) start_mark();
}

void RunCheckpoints::begin() {
    if (!mark_) return;
    Network& network = run_.prepared.run.network;
    if (network.processes() > 1)
        keepers_ = keepers_on(disks_of(run_.directory.path() / "checkpoints",
                                       network,
                                       fmt::format("{}-{}",
                                                   to_hex(run_.prepared.history.run).substr(0, 16),
                                                   run_.prepared.history.starts)));
    const auto& resumption = run_.prepared.resumption;
    // Whoever joins has one before its first message, too.
    if (resumption && run_.prepared.run.config.resume->joining.empty()) return;
    const long round = resumption ? resumption->round : 0;
    network.agree([&] { mark_->set(round); });
    seal(round, false, resumption ? resumption->totals : RunTotals());
}

void RunCheckpoints::copy_beginning() {
    if (keepers_.empty()) return;
    // First the history: it must know every phase that a copy is of.
    keep_history(run_.directory.path(), run_.prepared.run.network, keepers_.front());
    if (const auto& resumption = run_.prepared.resumption)
        copy(resumption->round, sent_until(resumption->round));
}

long RunCheckpoints::sent_until(long round) const {
    return next_checkpoint(every_, round, run_.prepared.run.config.plan.rounds);
}

void RunCheckpoints::copy(long round, long until) {
    if (keepers_.empty()) return;
    const Run& run = run_.prepared.run;
    keep_copies(
        run_.directory.path(),
        run.network,
        keepers_,
        {round, phase_, until},
        run.members,
        run.credentials ? std::span(run.credentials->identities) : std::span<const Identity>());
    keep_manifest(run_.directory.path(), run.network, keepers_.front(), round);
}

void RunCheckpoints::before_round(long round) {
    if (!mark_) return;
    mark_->before_round(round, sent_until(round));
    // From here on they open nothing that may still be used: the mark rules the old keys out.
    const auto& resume = run_.prepared.run.config.resume;
    if (resume && !std::exchange(seeds_erased_, true)) erase_saved_seeds(resume->directory);
}

void RunCheckpoints::seal(long round, bool clean, const RunTotals& totals) {
    const Run& run = run_.prepared.run;
    if (!run.resumable) return;
    const auto start = Clock::now();
    if (clean) run.network.agree([&] { mark_->set(round); });
    std::vector<Checkpoint> local;
    std::vector<std::string> seeds;
    const PrivacyLosses losses = run_.prepared.ledger.losses_after(round);
    for (std::size_t a = 0; a < trainer_.agents().size(); ++a) {
        const Checkpoint& own = local.emplace_back(checkpoint_of(a, round, losses));
        // They open the way to go on with the same keys, which only a clean stop leaves open.
        if (clean && run.credentials && !run.config.noise_seed)
            seeds.push_back(
                seal_seeds_for(run.credentials->identities[a], run_.rings[a], own, plan_hash_));
    }
    seal_checkpoint(
        run_.directory.path(), run.network, {round, phase_, clean, {}, totals}, local, seeds);
    // Nothing is sent after a clean stop.
    copy(round, clean ? round : sent_until(round));
    seconds_ = seconds_since(start);
}

Checkpoint RunCheckpoints::checkpoint_of(std::size_t local_index,
                                         long round,
                                         const PrivacyLosses& losses) const {
    const Run& run = run_.prepared.run;
    const LocalAgent& agent = trainer_.agents()[local_index];
    Checkpoint own;
    own.run = run_.prepared.history.run;
    own.agent = agent.number;
    own.round = round;
    own.phase_round = run.phase.steps.first_round;
    own.key_epoch = run.key_epoch;
    own.batch_seed = run.config.task.seed;
    own.records = agent.objective->records();
    const auto column = static_cast<Eigen::Index>(local_index);
    own.data = run.data_commitments[local_index];
    if (round > 0) {  // before, all follow from the options
        own.model = trainer_.models().col(column);
        if (trainer_.velocities().cols() > 0) own.velocity = trainer_.velocities().col(column);
        if (trainer_.means().cols() > 0) own.mean = trainer_.means().col(column);
    }
    own.spent = losses.amounts_of(agent.number);
    own.own_options = own_options(run.config);
    return own;
}

void RunCheckpoints::start_mark() {
    std::vector<int> numbers;
    for (const LocalAgent& agent : trainer_.agents()) numbers.push_back(agent.number);
    mark_.emplace(run_.directory.path(), run_.prepared.history.run, std::move(numbers), phase_);
}

}  // namespace sotto
