#pragma once

// Runs the production Trainer on any Network, records what it sends, and compares the noise that
// was really injected with the noise that the plan, and so the accountant, promises.

#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "agent/bootstrap.hpp"
#include "agent/trainer.hpp"
#include "core/numbers.hpp"
#include "design/seed_groups.hpp"
#include "plan/lagged_noise.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/privacy/accountant.hpp"
#include "trust/pair_fixtures.hpp"

namespace sotto::test {

/// Metropolis mixing on a graph.
inline Topography metropolis_on(Graph graph) {
    MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    return {std::move(graph), std::move(mixing)};
}

inline Topography topography_of(Topology topology, int agents, double edge_probability = 0.5) {
    TopologySpec spec;
    spec.topology = topology;
    spec.agents = agents;
    spec.edge_probability = edge_probability;
    spec.graph_seed = 5;
    return metropolis_on(make_topology(spec).graph);
}

/// Topography whose mixing changes from round to round.
inline Topography with_schedule(Graph graph, std::vector<MixingMatrix> matrices) {
    MixingMatrix first = std::move(matrices.front());
    matrices.erase(matrices.begin());
    return {std::move(graph), std::move(first), std::move(matrices)};
}

/// In the plans below whose rounds are correlated.
inline constexpr Participation correlated_participation{10};

struct MechanismCase {
    std::string label;  ///< letters and digits only: names a test
    std::string mechanism;
    Utility utility;
    TemporalShape temporal{};
    Participation participation = correlated_participation;  ///< where rounds are correlated
};
/// So that test names are readable.
inline void PrintTo(const MechanismCase& entry, std::ostream* out) { *out << entry.label; }

inline std::vector<MechanismCase> mechanism_cases() {
    const Utility horizon{Utility::Kind::horizon, 20};
    return {{"None", "none", horizon},
            {"Ldp", "ldp", horizon},
            {"Cdp", "cdp", horizon},
            {"DpFedavg", "dp-fedavg", horizon},
            {"Decor", "decor", horizon},
            {"CornOneStep", "corn", {Utility::Kind::one_step, 1}},
            {"CornHorizon", "corn", horizon},
            {"Pairs", "pairs", horizon},
            {"CornHbc", "corn-hbc", horizon},
            {"AntiPgd", "anti-pgd", horizon},
            {"Mafalda", "mafalda", horizon},
            {"MafaldaBanded", "mafalda", horizon, {TemporalShape::Kind::banded, 4, 0}},
            {"MafaldaSampled",
             "mafalda",
             horizon,
             {TemporalShape::Kind::banded, 5, 0},
             {.cycle = 6, .poisson = true}},
            {"MafaldaRestarted", "mafalda", horizon, {TemporalShape::Kind::dense, 0, 30}},
            {"SpaceTime", "space-time", horizon},
            {"SpaceTimeOneLag", "space-time", horizon, {TemporalShape::Kind::one_lag, 0, 0}}};
}

/// Agents' limits differ, so that noise given to the wrong agent shows.
inline Eigen::VectorXd uneven_limits(int agents) {
    Eigen::VectorXd kappa(agents);
    for (int u = 0; u < agents; ++u) kappa(u) = 0.8 * (1 + 0.5 * (u % 3));
    return kappa;
}

inline NoisePlan plan_of(const MechanismCase& entry,
                         const Topography& topography,
                         const Eigen::VectorXd& kappa) {
    DesignInput input;
    input.graph = &topography.graph;
    input.mixing = &topography.mixing;
    input.utility = entry.utility;
    input.rounds = 100;
    input.kappa = kappa;
    const Mechanism& mechanism = find_mechanism("mechanism", entry.mechanism);
    input.coalition_size =
        std::min(mechanism.default_coalition_size, topography.graph.agents() - 1);
    if (mechanism.seed_groups())
        input.seed_groups = make_seed_groups(
            entry.mechanism == "pairs" ? "all-pairs" : "neighbourhoods", topography.graph);
    if (mechanism.correlates_rounds) input.participation = entry.participation;
    input.temporal = entry.temporal;
    if (mechanism.takes_spatial) input.spatial = &find_mechanism("spatial-mechanism", "corn");
    return mechanism.design(input).plan;
}

/// The same, made by process 0 for all, as that of a run is: ranks share few cores. COLLECTIVE.
inline NoisePlan shared_plan_of(Network& network,
                                const MechanismCase& entry,
                                const Topography& topography,
                                const Eigen::VectorXd& kappa) {
    constexpr double most_temporal_values = 1e4;
    std::optional<NoisePlan> own;
    if (network.process() == 0) own = plan_of(entry, topography, kappa);
    return share_plan(network, own, topography.graph, most_temporal_values);
}

/// Gradient of agent u, always the same, no two coordinates' neighbours alike; never zero.
inline Eigen::VectorXd pattern_gradient(int agent, Eigen::Index dimension) {
    Eigen::VectorXd gradient(dimension);
    for (Eigen::Index i = 0; i < dimension; ++i)
        gradient(i) = (agent + 1) * (i % 3 == 0 ? 0.3 : -0.09 * static_cast<double>(1 + i % 5));
    return gradient;
}

class PatternObjective final : public Objective {
  public:
    explicit PatternObjective(Eigen::VectorXd gradient) : gradient_(std::move(gradient)) {}
    Eigen::Index dimension() const override { return gradient_.size(); }
    Eigen::Index records() const override { return 1; }
    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>&,
                       std::span<const Eigen::Index>,
                       Eigen::Ref<Eigen::VectorXd> gradient) override {
        gradient = gradient_;
    }
    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>&,
                              std::span<const Eigen::Index>,
                              double,
                              double,
                              Eigen::Ref<Eigen::VectorXd>) override {
        throw ConfigError("pattern task: it has no records");
    }
    bool record_clipping() const override { return false; }
    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) override {
        return {gradient_.dot(model), 0, 1, false};
    }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                      Eigen::Index,
                      Eigen::Index) override {
        return train_loss(model);
    }

  private:
    Eigen::VectorXd gradient_;
};

/// What the agents of one process did: one matrix a round, dimension x agents.
struct Recording {
    std::vector<Eigen::MatrixXd> before, gradients, messages;
    Eigen::MatrixXd last;  ///< models after the last round
    Correction correction = Correction::none;
    std::vector<Eigen::MatrixXd> second{};  ///< with tracking: messages x - eta y

    /// y after a round, with tracking.
    [[nodiscard]] Eigen::MatrixXd tracked(std::size_t t, double step_size) const {
        return (before[t] - second[t]) / step_size;
    }
    /// v_u(t) = (x_u - m_u) / eta - g_u, from what was sent; with a correction for psi_u in the
    /// place of m_u, or from what has been added to y_u so far.
    [[nodiscard]] std::vector<Eigen::MatrixXd> noise(double step_size) const {
        std::vector<Eigen::MatrixXd> result;
        Eigen::MatrixXd carried = before.front(), direction = 0 * carried, y = 0 * carried;
        for (std::size_t t = 0; t < messages.size() && correction != Correction::none; ++t) {
            if (correction == Correction::exact_diffusion) {
                carried = (messages[t] - (before[t] - carried)).eval();
                result.emplace_back((before[t] - carried) / step_size - gradients[t]);
                continue;
            }
            direction += messages[t] - y;
            result.emplace_back(direction - gradients[t]);
            y = tracked(t, step_size);
        }
        if (correction != Correction::none) return result;
        for (std::size_t t = 0; t < messages.size(); ++t)
            result.emplace_back((before[t] - messages[t]) / step_size - gradients[t]);
        return result;
    }
    /// C_time v: independent over rounds, with covariance R, if the noise is as planned.
    [[nodiscard]] std::vector<Eigen::MatrixXd> fresh_noise(double step_size,
                                                           const NoisePlan& plan) const {
        const auto correlated = noise(step_size);
        if (plan.temporal.kind == TemporalFactor::Kind::identity) return correlated;
        const Eigen::MatrixXd factor =
            dense_factor(plan.temporal, static_cast<long>(correlated.size()));
        std::vector<Eigen::MatrixXd> result;
        for (std::size_t t = 0; t < correlated.size(); ++t) {
            auto& sum = result.emplace_back(
                Eigen::MatrixXd::Zero(correlated[t].rows(), correlated[t].cols()));
            for (std::size_t s = 0; s <= t; ++s)
                sum += factor(static_cast<Eigen::Index>(t), static_cast<Eigen::Index>(s)) *
                       correlated[s];
        }
        return result;
    }
};

class Recorder final : public RoundObserver {
  public:
    Recorder(Eigen::Index dimension,
             std::size_t agents,
             Correction correction = Correction::none,
             int gossip_steps = 1)
        : gossip_steps_(gossip_steps),
          empty_(Eigen::MatrixXd::Constant(
              dimension, static_cast<Eigen::Index>(agents), not_a_number)) {
        recording.correction = correction;
    }
    void on_message(long round, std::size_t local_index, const OwnRound& own) override {
        if (recording.correction == Correction::tracking && own.gossip_step == gossip_steps_) {
            recording.second.resize(static_cast<std::size_t>(round) + 1, empty_);
            recording.second.back().col(static_cast<Eigen::Index>(local_index)) = own.message;
        }
        if (own.gossip_step > 0) return;
        const auto t = static_cast<std::size_t>(round);
        const auto column = static_cast<Eigen::Index>(local_index);
        for (auto* list : {&recording.before, &recording.gradients, &recording.messages})
            if (list->size() <= t) list->resize(t + 1, empty_);
        recording.before[t].col(column) = own.before;
        recording.gradients[t].col(column) = own.gradient;
        recording.messages[t].col(column) = own.message;
    }
    Recording recording;

  private:
    int gossip_steps_;
    Eigen::MatrixXd empty_;
};

struct NoiseRun {
    long rounds = 40;
    Eigen::Index dimension = 1000;
    std::uint64_t noise_seed = 20240607;
    double step_size = 0.05;
    double clip_norm = 10;  ///< gradients of agents with a high number are longer, of agent 0 not
    int threads = 1;
    GossipPolynomial gossip{1};
    Correction correction = Correction::none;
    bool encrypted = false;  ///< over MPI
    bool secure_sum = false;
    Adjacency adjacency = Adjacency::agent;
    int local_steps = 1;
    double client_probability = 1;
    std::optional<MessageSteps> message_steps{};  ///< of short messages
    std::optional<double> deadline{};             ///< of a round; see TrainerOptions
    RoundFaults faults{};
    /// Of one agent, instead of PatternObjective.
    std::function<LocalAgent(int id)> agent{};
};

inline Eigen::VectorXd pattern_start(Eigen::Index dimension) {
    Eigen::VectorXd start(dimension);
    for (Eigen::Index i = 0; i < dimension; ++i) start(i) = 0.3 - 0.1 * static_cast<double>(i % 7);
    return start;
}

/// The whole production path: seeds dealt, Trainer run and observed. COLLECTIVE.
/// @return the models after the last round.
inline Eigen::MatrixXd observe_rounds(Network& network,
                                      const Topography& topography,
                                      const NoisePlan& plan,
                                      const NoiseRun& run,
                                      std::span<RoundObserver* const> observers) {
    network.connect(topography.graph);
    std::vector<PairSecrets> secrets;
    if (run.encrypted || run.secure_sum) secrets = pair_secrets(network.agents());
    if (run.encrypted)
        network.protect({&secrets[static_cast<std::size_t>(network.process())], 1}, 0);
    const std::vector<KeyRing> rings = distribute_seeds(network, plan, run.noise_seed);
    std::vector<LocalAgent> agents;
    for (const int id : network.local_agents())
        agents.push_back(run.agent ? run.agent(id)
                                   : LocalAgent{id,
                                                std::make_unique<PatternObjective>(
                                                    pattern_gradient(id, run.dimension)),
                                                BatchSampler::uniform(1, 1, 1, id),
                                                1});
    TrainerOptions options;
    options.adjacency = run.adjacency;
    options.clip_norm = run.clip_norm;
    options.steps.step_size = run.step_size;
    options.threads = run.threads;
    options.gossip = run.gossip;
    options.smoothing.correction = run.correction;
    options.local_steps = run.local_steps;
    options.client_probability = run.client_probability;
    options.message_steps = run.message_steps;
    options.deadline = run.deadline;
    options.faults = run.faults;
    if (run.message_steps) network.set_message_precision(MessagePrecision::nibble);
    Trainer trainer(network,
                    topography.schedule(),
                    plan,
                    NoiseSource(plan, rings, run.threads),
                    std::move(agents),
                    pattern_start(run.dimension),
                    options);
    for (RoundObserver* observer : observers) trainer.observe(observer);
    if (run.secure_sum) {
        std::vector<SecureSum> sums;
        for (const int id : network.local_agents())
            sums.emplace_back(topography.graph, secrets[static_cast<std::size_t>(id)], 0, 16);
        trainer.use_secure_sums(std::move(sums));
    }
    for (long t = 0; t < run.rounds;) t = trainer.run_round(t, run.rounds);
    if (run.deadline) network.meet(run.rounds);
    return trainer.models();
}

/// The same, with the messages of this process recorded. COLLECTIVE.
inline Recording record_rounds(Network& network,
                               const Topography& topography,
                               const NoisePlan& plan,
                               const NoiseRun& run) {
    Recorder recorder(
        run.dimension, network.local_agents().size(), run.correction, run.gossip.steps());
    RoundObserver* const observer = &recorder;
    recorder.recording.last = observe_rounds(network, topography, plan, run, {&observer, 1});
    return std::move(recorder.recording);
}

/// Columns of all processes side by side, on every process. COLLECTIVE.
inline Eigen::MatrixXd gather_columns(Network& network, const Eigen::MatrixXd& local) {
    const auto size = static_cast<std::size_t>(local.size()) * sizeof(double);
    std::string bytes(size, '\0');
    std::memcpy(bytes.data(), local.data(), size);
    const auto parts = network.all_gather(bytes, std::uint64_t{1} << 32);
    Eigen::MatrixXd all(local.rows(), network.agents());
    double* target = all.data();
    for (const auto& part : parts) {
        std::memcpy(target, part.data(), part.size());
        target += part.size() / sizeof(double);
    }
    return all;
}

/// The recording of all agents, on every process, in one exchange: many small ones take long when
/// ranks share cores. COLLECTIVE.
inline Recording gather_recording(Network& network, const Recording& local) {
    std::vector<const Eigen::MatrixXd*> parts;
    for (const auto* list : {&local.before, &local.gradients, &local.messages, &local.second})
        for (const auto& matrix : *list) parts.push_back(&matrix);
    parts.push_back(&local.last);
    const Eigen::Index d = local.last.rows();
    Eigen::MatrixXd stacked(d * static_cast<Eigen::Index>(parts.size()), local.last.cols());
    for (std::size_t i = 0; i < parts.size(); ++i)
        stacked.middleRows(d * static_cast<Eigen::Index>(i), d) = *parts[i];
    const Eigen::MatrixXd all = gather_columns(network, stacked);
    Recording result;
    result.correction = local.correction;
    Eigen::Index next = 0;
    for (auto* list : {&result.before, &result.gradients, &result.messages, &result.second})
        for (std::size_t t = 0; t < (list == &result.second ? local.second : local.messages).size();
             ++t)
            list->emplace_back(all.middleRows(d * next++, d));
    result.last = all.middleRows(d * next, d);
    return result;
}

// Checks return what is wrong, or nothing.

/// The sample covariance of zero-mean rows, S = (1/N) sum v v^T over coordinates and rounds, has
/// entries of mean R_uv and variance (R_uu R_vv + R_uv^2) / N (Isserlis). Every entry must be
/// within 5 standard errors; `rounding` covers that noise is recovered from messages in doubles.
inline std::string covariance_mismatch(const std::vector<Eigen::MatrixXd>& noise,
                                       const Eigen::MatrixXd& expected) {
    const double rounding = 1e-12 * expected.diagonal().maxCoeff() + 1e-20;
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(expected.rows(), expected.cols());
    double count = 0;
    for (const auto& round : noise) {
        sum += round.transpose() * round;
        count += static_cast<double>(round.rows());
    }
    for (Eigen::Index u = 0; u < expected.rows(); ++u)
        for (Eigen::Index v = 0; v <= u; ++v) {
            const double error = std::sqrt(
                (expected(u, u) * expected(v, v) + expected(u, v) * expected(u, v)) / count);
            const double found = sum(u, v) / count;
            if (!(std::abs(found - expected(u, v)) <= 5 * error + rounding)) {
                std::ostringstream text;
                text << "covariance of agents " << u << " and " << v << " is " << found
                     << ", the plan says " << expected(u, v) << " (standard error " << error << ")";
                return text.str();
            }
        }
    return {};
}

/// The same in the basis where R is the identity: L^-1 v with R = L L^T. Entries of R hide its
/// small directions, which are the ones that protect; here every direction counts alike.
/// Nothing for a singular R.
inline std::string whitened_mismatch(const std::vector<Eigen::MatrixXd>& noise,
                                     const Eigen::MatrixXd& expected) {
    const Eigen::LLT<Eigen::MatrixXd> factor(expected);
    if (factor.info() != Eigen::Success) return {};
    std::vector<Eigen::MatrixXd> white;
    for (const auto& round : noise)
        white.emplace_back(factor.matrixL().solve(round.transpose()).transpose());
    return covariance_mismatch(white, Eigen::MatrixXd::Identity(expected.rows(), expected.cols()));
}

/// Noise of different rounds: never equal, and without correlation. For independent rounds,
/// (1/N) sum v_u(s) v_v(t) has mean 0 and variance R_uu R_vv / N.
inline std::string round_dependence(const std::vector<Eigen::MatrixXd>& noise,
                                    const Eigen::MatrixXd& expected) {
    std::ostringstream text;
    const std::size_t rounds = noise.size();
    const Eigen::Index n = expected.rows();
    const double d = static_cast<double>(noise.front().rows());
    for (Eigen::Index u = 0; u < n; ++u) {
        if (!(expected(u, u) > 0)) continue;
        for (std::size_t t = 1; t < rounds; ++t) {
            for (std::size_t s = 0; s < t; ++s)
                if ((noise[s].col(u) - noise[t].col(u)).cwiseAbs().maxCoeff() <
                    1e-6 * std::sqrt(expected(u, u))) {
                    text << "rounds " << s << " and " << t << " of agent " << u << " share noise";
                    return text.str();
                }
            const double correlation = noise[0].col(u).dot(noise[t].col(u)) / d / expected(u, u);
            if (!(std::abs(correlation) <= 5 / std::sqrt(d))) {
                text << "rounds 0 and " << t << " of agent " << u << ": correlation "
                     << correlation;
                return text.str();
            }
        }
    }
    const double rounding = 1e-12 * expected.diagonal().maxCoeff() + 1e-20;
    Eigen::MatrixXd consecutive = Eigen::MatrixXd::Zero(n, n);
    for (std::size_t t = 0; t + 1 < rounds; ++t) consecutive += noise[t].transpose() * noise[t + 1];
    const double count = d * static_cast<double>(rounds - 1);
    for (Eigen::Index u = 0; u < n; ++u)
        for (Eigen::Index v = 0; v < n; ++v) {
            const double error = std::sqrt(expected(u, u) * expected(v, v) / count);
            if (!(std::abs(consecutive(u, v) / count) <= 5 * error + rounding)) {
                text << "consecutive rounds of agents " << u << " and " << v << ": covariance "
                     << consecutive(u, v) / count << ", standard error " << error;
                return text.str();
            }
        }
    return {};
}

/// Noise holds nothing of the gradients: an agent that sent noise without its gradient, or the
/// gradient twice, would show -g or g here. For each agent the best linear measurement of g_u in
/// noise of covariance R, sum over rounds of e_u^T R^-1 V^T g_u / |g_u|, has mean 0 and variance
/// T [R^-1]_uu.
inline std::string gradient_in_noise(const std::vector<Eigen::MatrixXd>& noise,
                                     const std::vector<Eigen::MatrixXd>& gradients,
                                     const Eigen::MatrixXd& expected) {
    std::ostringstream text;
    const Eigen::Index n = expected.rows();
    const Eigen::LLT<Eigen::MatrixXd> factor(expected);
    Eigen::MatrixXd precision = Eigen::MatrixXd::Zero(n, n);
    if (factor.info() == Eigen::Success)
        precision = factor.solve(Eigen::MatrixXd::Identity(n, n));
    else  // a trusted mean: each agent for itself
        for (Eigen::Index u = 0; u < n; ++u)
            if (expected(u, u) > 0) precision(u, u) = 1 / expected(u, u);
    for (Eigen::Index u = 0; u < n; ++u) {
        double sum = 0;
        double largest = 0;
        for (std::size_t t = 0; t < noise.size(); ++t) {
            sum += (noise[t] * precision.col(u)).dot(gradients[t].col(u).normalized());
            largest = std::max(largest, noise[t].col(u).cwiseAbs().maxCoeff());
        }
        const double error = std::sqrt(static_cast<double>(noise.size()) * precision(u, u));
        if (!(std::abs(sum) <= 5 * error))
            text << "agent " << u << ": its noise holds " << sum / error
                 << " standard errors of its gradient; ";
        if (expected(u, u) == 0 && !(largest < 1e-9))
            text << "agent " << u << ": noise of " << largest << " where there is none; ";
    }
    return text.str();
}

/// Everything is a multiple of the grid step (recovered noise: but for the rounding of doubles).
inline std::string off_grid(const std::vector<Eigen::MatrixXd>& values,
                            double grid_step,
                            double tolerance) {
    for (std::size_t t = 0; t < values.size(); ++t) {
        const Eigen::ArrayXXd steps = values[t].array() / grid_step;
        const double worst = (steps - steps.round()).abs().maxCoeff();
        if (!(worst <= tolerance)) {
            std::ostringstream text;
            text << "round " << t << ": a value is " << worst << " steps off the grid";
            return text.str();
        }
    }
    return {};
}

/// Gradients are the clipped pattern, toward zero on the grid, never longer than the clip norm.
inline std::string wrong_gradient(const Recording& all, const NoisePlan& plan, double clip_norm) {
    std::ostringstream text;
    for (std::size_t t = 0; t < all.gradients.size(); ++t)
        for (Eigen::Index u = 0; u < all.gradients[t].cols(); ++u) {
            const auto gradient = all.gradients[t].col(u);
            Eigen::VectorXd wanted = pattern_gradient(static_cast<int>(u), gradient.size());
            wanted *= std::min(1.0, clip_norm / wanted.norm());
            const double error = (gradient - wanted).cwiseAbs().maxCoeff();
            if (!(gradient.norm() <= clip_norm))
                text << "round " << t << ", agent " << u << ": norm " << gradient.norm() << "; ";
            if (!(error <= plan.grid_step() * (1 + 1e-6)))
                text << "round " << t << ", agent " << u << ": off by " << error << "; ";
        }
    return text.str() + off_grid(all.gradients, plan.grid_step(), 0);
}

/// The next model is the mixture of the recorded messages: what was recorded is what was sent, and
/// nothing was added to it or weighed on the way.
inline std::string wrong_mixture(const Recording& all,
                                 const Eigen::MatrixXd& mixing,
                                 double step_size) {
    const bool tracks = all.correction == Correction::tracking;
    for (std::size_t t = 0; t < all.messages.size(); ++t) {
        const Eigen::MatrixXd after = tracks                      ? all.tracked(t, step_size)
                                      : t + 1 < all.before.size() ? all.before[t + 1]
                                                                  : all.last;
        const Eigen::MatrixXd wanted = all.messages[t] * mixing.transpose();
        const double error = (after - wanted).cwiseAbs().maxCoeff();
        // y is known from models, to their rounding over the step size.
        const double models = tracks ? all.before[t].cwiseAbs().maxCoeff() / step_size : 0;
        if (!(error <= 1e-13 * (1 + models + wanted.cwiseAbs().maxCoeff()))) {
            std::ostringstream text;
            text << "after round " << t << " a model is " << error << " from the mixture";
            return text.str();
        }
    }
    return {};
}

/// All of the above but what gradients are; `recorded` of all agents.
inline std::string noise_is_not_accounted(const Recording& recorded,
                                          const Topography& topography,
                                          const NoisePlan& plan,
                                          const NoiseRun& run) {
    const auto noise = recorded.fresh_noise(run.step_size, plan);
    const Eigen::MatrixXd accounted = spatial_covariance(plan);
    const bool mean = plan.aggregation == Aggregation::trusted_mean;
    const Eigen::MatrixXd mixing = mean ? MixingMatrix::average(plan.agents).dense()
                                        : run.gossip.of(topography.mixing.dense());
    double largest = 0;
    for (const auto* list : {&recorded.before, &recorded.messages})
        for (const auto& values : *list) largest = std::max(largest, values.cwiseAbs().maxCoeff());
    // Models and messages of size x are rounded to x 2^-53, so the noise is known to (x/eta) 2^-51.
    const double tolerance = (1 + largest) / run.step_size * 0x1p-48 / plan.grid_step();
    for (const auto& problem :
         {covariance_mismatch(noise, accounted),
          whitened_mismatch(noise, accounted),
          round_dependence(noise, accounted),
          gradient_in_noise(noise, recorded.gradients, accounted),
          plan.noiseless()  ? std::string()
          : tolerance < 0.1 ? off_grid(recorded.noise(run.step_size), plan.grid_step(), tolerance)
                            : std::string("the grid cannot be measured"),
          wrong_mixture(recorded, mixing, run.step_size)})
        if (!problem.empty()) return problem;
    return {};
}
inline std::string injected_is_not_accounted(const Recording& recorded,
                                             const Topography& topography,
                                             const NoisePlan& plan,
                                             const NoiseRun& run) {
    const std::string gradient = wrong_gradient(recorded, plan, run.clip_norm);
    return gradient.empty() ? noise_is_not_accounted(recorded, topography, plan, run) : gradient;
}

/// R if pair noise, or all noise, had been multiplied by the mixing weight on its way.
inline Eigen::MatrixXd covariance_of_weighted_noise(const NoisePlan& plan,
                                                    const MixingMatrix& mixing) {
    Eigen::MatrixXd factor = plan.scale * plan.coefficient_matrix();
    for (std::size_t k = 0; k < plan.streams.size(); ++k) {
        const auto& members = plan.groups[static_cast<std::size_t>(plan.streams[k].group)].members;
        for (const int u : members) {
            const int other = members.size() == 2 ? members[members[0] == u ? 1 : 0] : u;
            factor(u, static_cast<Eigen::Index>(k)) *= mixing.weight(u, other);
        }
    }
    return factor * factor.transpose();
}

}  // namespace sotto::test
