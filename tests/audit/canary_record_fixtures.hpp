#pragma once

// Audits of secretly sampled batches on pipelines of production parts, honest ones and broken ones.

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>

#include "audit/audit_fixtures.hpp"
#include "audit/canary_record_attack.hpp"
#include "audit/wrapped_objective.hpp"
#include "training/local_agents.hpp"

namespace sotto::test {

inline AuditConfig canary_config(const std::string& mechanism, const std::string& view) {
    AuditConfig config = audit_config(mechanism, 4, 60);
    config.train.graph.topology.topology = Topology::ring;
    config.train.threads = 1;
    config.train.plan.adjacency = Adjacency::record_add_remove;
    config.train.plan.participation = {.cycle = 1, .poisson = true};
    config.train.plan.batch_size = 160;  // of 1600: q = 0.1
    config.attack = "canary-records";
    config.view = view;
    config.trials = 400;
    return config;
}

/// What is done to a pipeline. Everything that is not named is as in production.
struct CoinSabotage {
    /// Batches that an agent really draws.
    std::function<BatchSampler(int agent, Eigen::Index records, double probability)> batches;
    bool divide_by_drawn = false;  ///< sums, instead of by the batch size
    double clip_factor = 1;        ///< by which the clip of records is longer
    double noise_factor = 1;       ///< by which the noise is stronger than planned
    long more_rounds = 0;          ///< than are accounted for
};

/// An agent whose records are clipped to another norm, or that divides by how many were drawn: its
/// sum is scaled to what the trainer, which divides by the batch size, makes that of.
class TamperedSum final : public WrappedObjective {
  public:
    TamperedSum(std::unique_ptr<Objective> inner,
                const CoinSabotage& sabotage,
                Eigen::Index batch_size)
        : WrappedObjective(std::move(inner)),
          sabotage_(sabotage),
          batch_size_(static_cast<double>(batch_size)) {}
    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>& model,
                              std::span<const Eigen::Index> rows,
                              double clip_norm,
                              double grid_step,
                              Eigen::Ref<Eigen::VectorXd> sum) override {
        WrappedObjective::clipped_gradient_sum(
            model, rows, sabotage_.clip_factor * clip_norm, grid_step, sum);
        if (sabotage_.divide_by_drawn && !rows.empty())
            sum *= batch_size_ / static_cast<double>(rows.size());
    }

  private:
    CoinSabotage sabotage_;
    double batch_size_;
};

/// Rounds with real parts, recorded and looked at; what is accounted for is worked out once.
class CanaryPipeline {
  public:
    explicit CanaryPipeline(AuditConfig config)
        : config_(std::move(config)),
          network_(make_memory_network(config_.train.graph.topology.agents, 1)),
          subject_(build_audit_subject(config_, true, *network_)),
          canaries_{.target = 0,
                    .seed = config_.train.task.seed,
                    .trials = *config_.trials,
                    .members = subject_.view.members},
          account_(account_of(canaries_, subject_)) {
        network_->connect(subject_.topography.graph);
    }

    [[nodiscard]] const AuditSubject& subject() const { return subject_; }
    [[nodiscard]] const CanaryRecords& canaries() const { return canaries_; }
    [[nodiscard]] const CanaryAccount& account() const { return account_; }

    /// @param seed that everybody knows; also of who is in the shard.
    CanaryRecordResult run(const CoinSabotage& sabotage = {},
                           std::uint64_t noise_seed = 7,
                           std::uint64_t seed = 1) {
        const TemporaryFolder folder;
        canaries_.seed = seed;
        record(folder.path("views"), sabotage, noise_seed);
        return analyse(folder.path("views"));
    }
    [[nodiscard]] CanaryRecordResult analyse(const std::filesystem::path& views) const {
        return analyse_canary_records(
            views, subject_.process, subject_.view, canaries_, account_, config_.level, 1);
    }
    void record(const std::filesystem::path& views,
                const CoinSabotage& sabotage = {},
                std::uint64_t noise_seed = 7) {
        const NoisePlan& plan = subject_.account->plan;
        const int agents = plan.agents;
        NoisePlan injected = plan;
        injected.scale *= sabotage.noise_factor;
        std::vector<KeyRing> rings = distribute_seeds(*network_, plan, noise_seed);
        Trainer trainer(*network_,
                        subject_.topography.schedule(),
                        plan,
                        NoiseSource(injected, rings, 1),
                        local_agents(sabotage, noise_seed),
                        Eigen::VectorXd::Zero(canaries_.dimension()),
                        options());
        std::vector<int> all(static_cast<std::size_t>(agents));
        std::iota(all.begin(), all.end(), 0);
        // What the target contributes is known to tests.
        std::vector<int> recorded = subject_.view.members;
        recorded.insert(std::ranges::lower_bound(recorded, canaries_.target), canaries_.target);
        ViewRecorder recorder(views,
                              all,
                              recorded,
                              subject_.topography.graph,
                              plan,
                              {canaries_.dimension(), Received::messages, 1, 0});
        WireRecorder wire(views / "wire",
                          all,
                          subject_.topography.graph,
                          plan,
                          {canaries_.dimension(), WireContent::messages, 1, 0});
        trainer.observe(&recorder);
        trainer.observe(&wire);
        for (const int agent : subject_.view.members)
            record_seeds(views, plan, rings[static_cast<std::size_t>(agent)]);
        const long rounds = config_.train.plan.rounds + sabotage.more_rounds;
        for (long round = 0; round < rounds; ++round) trainer.run_round(round);
        recorder.finish();
        wire.finish();
    }

  private:
    [[nodiscard]] TrainerOptions options() const {
        TrainerOptions options;
        options.clip_norm = config_.train.plan.clip_norm;
        options.adjacency = config_.train.plan.adjacency;
        options.steps = config_.train.plan.steps;
        return options;
    }
    std::vector<LocalAgent> local_agents(const CoinSabotage& sabotage, std::uint64_t noise_seed) {
        LocalTask task =
            make_canary_record_task(canaries_, config_.train.plan.clip_norm, *network_);
        std::vector<LocalAgent> local;
        for (int u = 0; u < subject_.account->plan.agents; ++u) {
            auto objective = std::move(task.objectives[static_cast<std::size_t>(u)]);
            const Eigen::Index records = objective->records();
            if (sabotage.divide_by_drawn || sabotage.clip_factor != 1)
                objective = std::make_unique<TamperedSum>(
                    std::move(objective), sabotage, account_.batch_size);
            local.push_back({u,
                             std::move(objective),
                             sabotage.batches
                                 ? sabotage.batches(u, records, account_.secret.probability)
                             : account_.secret.rounds_an_epoch > 1
                                 ? allocated_batches(records,
                                                     account_.secret.rounds_an_epoch,
                                                     reproducible_coins(noise_seed, 0, u),
                                                     0)
                                 : sampled_batches(records,
                                                   account_.secret.probability,
                                                   reproducible_coins(noise_seed, 0, u)),
                             account_.batch_size});
        }
        return local;
    }

    AuditConfig config_;
    std::unique_ptr<Network> network_;
    AuditSubject subject_;
    CanaryRecords canaries_;
    CanaryAccount account_;
};

}  // namespace sotto::test
