#pragma once

// The audit on pipelines of production parts, honest ones and broken ones.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "agent/bootstrap.hpp"
#include "agent/recording/recorded_view.hpp"
#include "agent/recording/recorded_wire.hpp"
#include "agent/trainer.hpp"
#include "audit/canaries.hpp"
#include "audit/likelihood_attack.hpp"
#include "audit/wrapped_objective.hpp"
#include "config/run_fixtures.hpp"
#include "planning/configured_gossip.hpp"
#include "trust/pair_fixtures.hpp"

namespace sotto::test {

inline AuditConfig audit_config(const std::string& mechanism, int agents, long rounds) {
    AuditConfig config;
    config.train.graph.topology.topology = Topology::erdos_renyi;
    config.train.graph.topology.agents = agents;
    config.train.graph.topology.graph_seed = 3;
    config.train.plan.mechanism = mechanism;
    config.train.plan.utility = {Utility::Kind::horizon, 20};
    config.train.plan.rounds = rounds;
    config.train.noise_seed = 11;
    config.train.threads = 2;
    return config;
}

/// What is done to a pipeline. Everything that is not named is as in production.
struct Sabotage {
    /// Of the plan that noise is really drawn from.
    std::function<void(NoisePlan&, const MixingMatrix&)> noise;
    /// Of the seeds that noise is really drawn from.
    std::function<void(std::vector<KeyRing>&)> keys;
    /// Of the seeds that agents are given, after the noise was set up.
    std::function<void(std::vector<KeyRing>&, const AuditDesign&)> seeds;
    bool clip_after_noise = false;
    bool masks_repeat = false;
    /// Of what an agent contributes; it may look at everybody's seeds.
    std::function<std::unique_ptr<Objective>(std::unique_ptr<Objective> inner,
                                             const NoisePlan& plan,
                                             std::span<const KeyRing> rings,
                                             int agent,
                                             const AuditDesign& design)>
        objective;
    bool unclipped = false;
    DrawnCount count;  ///< of private choices
};

/// A contribution c and noise v that together are clipped: the gradient clip(c + v) - v.
class ClippedAfterNoise final : public WrappedObjective {
  public:
    ClippedAfterNoise(std::unique_ptr<Objective> inner,
                      const NoisePlan& plan,
                      const KeyRing& ring,
                      double clip)
        : WrappedObjective(std::move(inner)), noise_(plan, {&ring, 1}, 1), clip_(clip) {}
    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd> gradient) override {
        WrappedObjective::mean_gradient(model, rows, gradient);
        Eigen::MatrixXd noise(dimension(), 1);
        noise_.draw(0, static_cast<std::uint64_t>(rows.front()), noise);
        gradient = (gradient + noise.col(0)).cwiseMin(clip_).cwiseMax(-clip_) - noise.col(0);
    }

  private:
    NoiseSource noise_;
    double clip_;
};

/// The noise of a coordinate is replaced.
class ReplacedNoise final : public WrappedObjective {
  public:
    /// @param replace noise of the agent itself, and of the rings, agents x coordinates, to what
    /// the agent adds instead.
    using Replace = std::function<Eigen::VectorXd(const Eigen::MatrixXd& noise)>;
    ReplacedNoise(std::unique_ptr<Objective> inner,
                  const NoisePlan& plan,
                  std::span<const KeyRing> rings,
                  int agent,
                  Replace replace)
        : WrappedObjective(std::move(inner)),
          noise_(plan, rings, 1),
          agents_(static_cast<Eigen::Index>(rings.size())),
          agent_(agent),
          replace_(std::move(replace)) {}
    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd> gradient) override {
        WrappedObjective::mean_gradient(model, rows, gradient);
        Eigen::MatrixXd noise(dimension(), agents_);
        noise_.draw(0, static_cast<std::uint64_t>(rows.front()), noise);
        gradient += replace_(noise) - noise.col(agent_);
    }

  private:
    NoiseSource noise_;
    Eigen::Index agents_;
    int agent_;
    Replace replace_;
};

/// Puts shares on the record whose masks are those of round 0.
class RepeatedMasks final : public RoundObserver {
  public:
    RepeatedMasks(RoundObserver& recorder, const Topography& topography)
        : recorder_(recorder), topography_(topography) {}
    void on_message(long round, std::size_t local, const OwnRound& own) override {
        message_[local] = own.message;
        recorder_.on_message(round, local, own);
    }
    void on_share(long round,
                  int step,
                  std::size_t local,
                  std::size_t neighbour,
                  Eigen::Index first,
                  std::span<const std::uint64_t> words) override {
        std::vector<double> weights;
        const int own = static_cast<int>(local);
        const MixingMatrix& mixing = topography_.mixing;
        for (const int member : mixing.members(own))
            if (member != own) weights.push_back(mixing.weight(member, own));
        // begin() takes every round once: a sum of its own for every call.
        std::vector<PairSecrets> secrets = pair_secrets(mixing.agents());
        SecureSum again(topography_.graph, secrets[local], 0, 16);
        const Eigen::VectorXd& message = message_[local];
        again.begin(0, 0, {message.data(), static_cast<std::size_t>(message.size())}, weights);
        std::vector<std::uint64_t> repeated(words.size());
        again.share(neighbour, first, repeated);
        recorder_.on_share(round, step, local, neighbour, first, repeated);
    }
    void on_mixed(long round, std::size_t local) override { recorder_.on_mixed(round, local); }

  private:
    RoundObserver& recorder_;
    const Topography& topography_;
    std::map<std::size_t, Eigen::VectorXd> message_;
};

/// The rounds of a run with real parts, recorded and looked at.
inline LikelihoodResult audit_pipeline(const AuditConfig& config, const Sabotage& sabotage) {
    const int agents = config.train.graph.topology.agents;
    const auto network = make_memory_network(agents, 2);
    const AuditSubject subject = build_audit_subject(config, true, *network);
    const NoisePlan& plan = subject.account->plan;
    const Topography& topography = subject.topography;
    const View& view = subject.view;
    const AuditDesign design = design_audit(config, subject);

    NoisePlan injected = plan;
    if (sabotage.noise) sabotage.noise(injected, topography.mixing);
    std::vector<KeyRing> rings = distribute_seeds(*network, plan, 7);
    if (sabotage.keys) sabotage.keys(rings);
    LocalTask task = make_canary_task(design, 1, *network);
    std::vector<LocalAgent> local;
    for (int u = 0; u < agents; ++u) {
        auto objective = std::move(task.objectives[static_cast<std::size_t>(u)]);
        if (sabotage.clip_after_noise)
            objective = std::make_unique<ClippedAfterNoise>(std::move(objective),
                                                            injected,
                                                            rings[static_cast<std::size_t>(u)],
                                                            config.train.plan.clip_norm);
        if (sabotage.objective)
            objective = sabotage.objective(std::move(objective), injected, rings, u, design);
        local.push_back(
            {u, std::move(objective), BatchSampler::in_order(config.train.plan.rounds), 1});
    }
    TrainerOptions options;
    options.clip_norm =
        sabotage.clip_after_noise || sabotage.unclipped ? 1e6 : config.train.plan.clip_norm;
    options.coordinates = true;
    options.steps = config.train.plan.steps;
    options.gossip = configured_gossip(config.train.plan, topography.mixing);
    options.smoothing.momentum = config.train.plan.momentum;
    options.smoothing.correction = config.train.plan.correction;
    options.threads = 2;
    network->connect(topography.graph);
    Trainer trainer(*network,
                    topography.schedule(),
                    plan,
                    NoiseSource(injected, rings, 2),
                    std::move(local),
                    task.initial,
                    options);
    const bool sums = view.kind == View::Kind::secure_sum;
    std::vector<PairSecrets> secrets = pair_secrets(agents);
    if (sums) {
        std::vector<SecureSum> own_sums;
        for (PairSecrets& own : secrets) own_sums.emplace_back(topography.graph, own, 0, 16);
        trainer.use_secure_sums(std::move(own_sums));
    }
    const TemporaryFolder folder;
    const auto views = std::filesystem::path(folder.path("views"));
    std::vector<int> all(static_cast<std::size_t>(agents));
    for (int u = 0; u < agents; ++u) all[static_cast<std::size_t>(u)] = u;
    ViewRecorder recorder(views,
                          all,
                          view.members,
                          topography.graph,
                          plan,
                          {task.initial.size(),
                           sums ? Received::sum : Received::messages,
                           exchanges_of(config.train.plan),
                           0});
    WireRecorder wire(views / "wire",
                      all,
                      topography.graph,
                      plan,
                      {task.initial.size(),
                       sums ? WireContent::shares : WireContent::messages,
                       exchanges_of(config.train.plan),
                       0});
    RepeatedMasks repeated(wire, topography);
    trainer.observe(&recorder);
    if (sabotage.masks_repeat)
        trainer.observe(&repeated);
    else
        trainer.observe(&wire);
    if (sabotage.seeds) sabotage.seeds(rings, design);
    for (const int agent : view.members)
        record_seeds(views, plan, rings[static_cast<std::size_t>(agent)]);
    for (long round = 0; round < config.train.plan.rounds; ++round) trainer.run_round(round);
    recorder.finish();
    wire.finish();

    std::optional<AuditedChoice> choice;
    if (config.private_choice)
        choice = {choice_count(config), sabotage.count ? sabotage.count : drawn_counts(config)};
    return analyse_likelihood(views,
                              subject.process,
                              view,
                              design,
                              subject.account->delta,
                              config.level,
                              2,
                              false,
                              choice);
}

}  // namespace sotto::test
