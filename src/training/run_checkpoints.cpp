#include "training/run_checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "agent/checkpoint.hpp"
#include "core/disk.hpp"
#include "core/files.hpp"
#include "options/train_options.hpp"
#include "store/copies.hpp"
#include "store/run_directory.hpp"

namespace sotto {

namespace fs = std::filesystem;

RunCheckpoints::RunCheckpoints(const OpenRun& run, const Trainer& trainer, int phase)
    : run_(run),
      trainer_(trainer),
      every_(run.prepared.run.config.checkpoint_every),
      phase_(phase) {
    if (run.prepared.run.resumable) start_mark();
}

const PrivacyPhase& RunCheckpoints::phase() const {
    return run_.prepared.history.phases[static_cast<std::size_t>(phase_)];
}

void RunCheckpoints::begin() {
    if (!mark_) return;
    Control& network = run_.prepared.run.network;
    if (network.processes() > 1)
        keepers_ = keepers_on(disks_of(run_.directory.path() / "checkpoints",
                                       network,
                                       fmt::format("{}-{}",
                                                   to_hex(run_.prepared.history.run).substr(0, 16),
                                                   run_.prepared.history.starts)));
    const auto& resumption = run_.prepared.resumption;
    const long round = resumption ? resumption->round : 0;
    // The history first: it must contain every phase that a copy belongs to.
    if (resumption || phase_ > 0) copy_history();
    keep_records(round);
    if (resumption && resumption->going_on)
        copy(round, resumption->beginning, sent_until(round));
    else
        seal(round, false, resumption ? resumption->totals : RunTotals());
}

void RunCheckpoints::keep_records(long round) {
    const Run& run = run_.prepared.run;
    const RunHistory& history = run_.prepared.history;
    const fs::path& directory = run_.directory.path();
    const bool first = phase_ == 0 && !run_.prepared.resumption;
    // Set the mark first: a record without a mark means that marks were lost.
    run.network.agree([&] {
        if (first) mark_->set(round);
    });
    run.network.agree([&] {
        FileBatch together;
        const FactsOfPhase facts(phase(), run.config.plan.adjacency, run.config.plan.delta);
        for (const LocalAgent& agent : trainer_.agents()) {
            const bool there = fs::exists(OwnRecord::file_in(directory, agent.number));
            OwnRecord record = there && !first
                                   ? OwnRecord::read(directory, history.run, agent.number)
                                   : OwnRecord(history.run, agent.number);
            record.add(entry_now(record, facts.of(agent.number), round));
            record.write(directory);
        }
        together.commit();
    });
    run.network.agree([&] { mark_->set(round); });
}

OwnEntry RunCheckpoints::entry_now(const OwnRecord& record, PhaseFacts facts, long round) const {
    const auto& phases = run_.prepared.history.phases;
    OwnEntry entry{.phase = phase_,
                   .session = phase().sessions.back(),
                   .rounds_before = 0,
                   .facts = std::move(facts)};
    if (record.entries().empty()) return entry;
    const int before = record.entries().back().phase;
    entry.rounds_before = before == phase_ ? round - phase().use.steps.first_round
                                           : phases[static_cast<std::size_t>(before)].rounds;
    return entry;
}

void RunCheckpoints::copy_history() {
    if (!keepers_.empty())
        keep_history(run_.directory.path(), run_.prepared.run.network, keepers_.front());
}

void RunCheckpoints::copy_beginning() {
    if (!run_.prepared.resumption) copy_history();
}

int RunCheckpoints::beginning_after(long round) const {
    return round == phase().use.steps.first_round ? static_cast<int>(phase().key_epoch) : 0;
}

long RunCheckpoints::sent_until(long round) const {
    return std::min(next_checkpoint(every_, round, run_.prepared.run.config.plan.rounds),
                    phase().use.steps.first_round + phase().rounds);
}

void RunCheckpoints::copy(long round, int beginning, long until) {
    if (keepers_.empty()) return;
    const Run& run = run_.prepared.run;
    keep_copies(
        run_.directory.path(),
        run.network,
        keepers_,
        {round, beginning, phase_, until},
        run.members,
        run.credentials ? std::span(run.credentials->identities) : std::span<const Identity>());
    keep_manifest(run_.directory.path(),
                  run.network,
                  keepers_.front(),
                  checkpoint_folder(run_.directory.path(), round, beginning));
}

void RunCheckpoints::before_round(long round) {
    if (!mark_) return;
    mark_->before_round(round, sent_until(round));
    // The mark now excludes the old keys, so the saved seeds are useless.
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
    const Digest plan_hash = phase().plan.hash();
    run.network.agree([&] {
        const auto options = own_options(run.config);
        for (std::size_t a = 0; a < trainer_.agents().size(); ++a) {
            local.push_back(checkpoint_of(a, round));
            local.back().own_options = options;
        }
    });
    for (std::size_t a = 0; a < trainer_.agents().size(); ++a) {
        const Checkpoint& own = local[a];
        // Seeds allow a continuation with the same keys, which needs a clean stop.
        if (clean && run.credentials && !run.config.noise_seed)
            seeds.push_back(
                seal_seeds_for(run.credentials->identities[a], run_.rings[a], own, plan_hash));
    }
    const int beginning = beginning_after(round);
    seal_checkpoint(run_.directory.path(),
                    run.network,
                    {round, phase_, beginning, clean, {}, totals},
                    local,
                    seeds);
    // Nothing is sent after a clean stop.
    copy(round, beginning, clean ? round : sent_until(round));
    seconds_ = seconds_since(start);
}

Checkpoint RunCheckpoints::checkpoint_of(std::size_t local_index, long round) const {
    const Run& run = run_.prepared.run;
    const LocalAgent& agent = trainer_.agents()[local_index];
    Checkpoint own;
    own.run = run_.prepared.history.run;
    own.agent = agent.number;
    own.round = round;
    own.phase_round = phase().use.steps.first_round;
    own.key_epoch = phase().key_epoch;
    own.batch_seed = run.config.task.seed;
    own.records = agent.objective->records();
    const auto column = static_cast<Eigen::Index>(local_index);
    own.data = run.data_commitments[local_index];
    if (round > 0) {  // at round 0 all of this follows from the options
        own.model = trainer_.models().col(column);
        if (trainer_.velocities().cols() > 0) own.velocity = trainer_.velocities().col(column);
        if (trainer_.means().cols() > 0) own.mean = trainer_.means().col(column);
        if (trainer_.carried().cols() > 0) own.carried = trainer_.carried().col(column);
        if (trainer_.directions().cols() > 0) own.direction = trainer_.directions().col(column);
        if (const SharedPreconditioner* shared = trainer_.preconditioner()) {
            own.anchor = shared->anchors().col(column);
            own.moments = shared->moments().col(column);
        }
    }
    own.revealed = read_file(OwnRecord::file_in(run_.directory.path(), agent.number));
    return own;
}

void RunCheckpoints::start_mark() {
    std::vector<int> numbers;
    for (const LocalAgent& agent : trainer_.agents()) numbers.push_back(agent.number);
    mark_.emplace(run_.directory.path(),
                  run_.prepared.history.run,
                  std::move(numbers),
                  phase_,
                  phase().sessions.back());
}

}  // namespace sotto
