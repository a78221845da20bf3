#include "run/run_checkpoints.hpp"

#include <algorithm>

namespace sotto {

RunCheckpoints::RunCheckpoints(const TrainConfig& config,
                               Network& network,
                               const Trainer& trainer,
                               const Ledger& ledger,
                               const NoisePlan& plan,
                               const std::vector<KeyRing>& rings,
                               const std::optional<Credentials>& credentials,
                               const RunDirectory& directory,
                               const Setup& setup)
    : config_(config),
      network_(network),
      trainer_(trainer),
      ledger_(ledger),
      plan_hash_(plan.hash()),
      rings_(rings),
      credentials_(credentials),
      directory_(directory),
      setup_(setup) {
    // Without checkpoints on the way there is nothing to go back to.
    if (setup.possible && (config.checkpoint_every > 0 || setup.resumed)) start_mark();
}

void RunCheckpoints::before_round(long round) {
    if (!mark_) return;
    const long every = config_.checkpoint_every;
    mark_->before_round(round,
                        every > 0 ? std::min(config_.plan.rounds, (round / every + 1) * every)
                                  : config_.plan.rounds);
}

void RunCheckpoints::seal(long round, bool clean, const RunTotals& totals) {
    if (!setup_.possible) return;
    if (clean)
        network_.agree([&] {
            if (!mark_) start_mark();
            mark_->set(round);
        });
    std::vector<Checkpoint> local;
    const PrivacyLosses losses = ledger_.losses_after(round);
    const auto agents = network_.local_agents();
    for (std::size_t a = 0; a < agents.size(); ++a) {
        Checkpoint& own = local.emplace_back();
        const LocalAgent& agent = trainer_.agents()[a];
        own.run = setup_.run;
        own.agent = agent.number;
        own.round = round;
        own.phase_round = setup_.first_round;
        own.key_epoch = setup_.key_epoch;
        own.batch_seed = config_.task.seed;
        own.records = agent.objective->records();
        own.model = trainer_.models().col(static_cast<Eigen::Index>(a));
        own.spent = losses.amounts_of(agent.number);
        // They open the way to go on with the same keys, which only a clean stop leaves open.
        if (clean && credentials_ && !config_.noise_seed)
            own.seeds = seal_seeds_for(credentials_->identities[a], rings_[a], own, plan_hash_);
    }
    seal_checkpoint(directory_.path(), network_, {round, setup_.phase, clean, {}, totals}, local);
}

void RunCheckpoints::start_mark() {
    std::vector<int> numbers;
    for (const LocalAgent& agent : trainer_.agents()) numbers.push_back(agent.number);
    mark_.emplace(directory_.path(), setup_.run, std::move(numbers), setup_.phase);
}

}  // namespace sotto
