// Under mpiexec, any number of ranks: one agent a rank. Every rank calls every collective, so
// nothing between collectives may leave a test early: EXPECT only. Noise seeds are fixed, so the
// statistical tests give the same figures in every run.

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "learn/logistic.hpp"
#include "learn/quadratic.hpp"
#include "learn/readers.hpp"
#include "mpi/mpi_main.hpp"
#include "mpi/trainer_fixtures.hpp"
#include "net/memory_network.hpp"
#include "net/network_fixtures.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto {
namespace {

using test::MechanismCase;
using test::NoiseRun;
using test::Recording;

using test::mpi_network;

/// Connected graphs of as many agents as there are ranks: ring, complete and random where they
/// differ.
std::vector<test::NamedGraph> graphs() {
    const int n = test::mpi_session().ranks();
    std::vector<test::NamedGraph> result;
    if (n > 4) {
        result.push_back({"Erdos-Renyi", test::topography_of(Topology::erdos_renyi, n, 0.4).graph});
        if (n > 8) return result;  // one is enough when ranks share few cores
    }
    for (auto& [name, graph] : test::graphs_of(n))
        if (graph.connected() && (name == "ring" || (name == "complete" && n > 3)))
            result.push_back({name, graph});
    return result;
}

/// Records a run on all ranks. COLLECTIVE.
Recording record(const Topography& topography, const NoisePlan& plan, const NoiseRun& run) {
    const auto network = mpi_network();
    return test::gather_recording(*network, test::record_rounds(*network, topography, plan, run));
}

TEST(InjectedNoise, IsTheAccountedNoiseForEveryMechanism) {
    const NoiseRun run;
    for (const auto& [name, graph] : graphs()) {
        const Topography topography = test::metropolis_on(graph);
        for (const MechanismCase& entry : test::mechanism_cases()) {
            const NoisePlan plan = test::shared_plan_of(
                *mpi_network(), entry, topography, test::uneven_limits(graph.agents()));
            const Recording recorded = record(topography, plan, run);
            EXPECT_EQ(recorded.messages.size(), static_cast<std::size_t>(run.rounds));
            if (test::mpi_session().rank() != 0) continue;
            EXPECT_EQ(test::injected_is_not_accounted(recorded, topography, plan, run), "")
                << entry.label << " on " << name << ", noise seed " << run.noise_seed;
        }
    }
}

TEST(InjectedNoise, IsTheAccountedNoiseWithCorrections) {
    for (const auto& [name, graph] : graphs()) {
        const Topography topography = test::metropolis_on(graph);
        for (const MechanismCase& entry : test::mechanism_cases()) {
            const NoisePlan plan = test::shared_plan_of(
                *mpi_network(), entry, topography, test::uneven_limits(graph.agents()));
            if (plan.entry != NoiseEntry::gradient || plan.aggregation != Aggregation::gossip ||
                plan.temporal.kind != TemporalFactor::Kind::identity)
                continue;
            for (const Correction correction :
                 {Correction::exact_diffusion, Correction::tracking}) {
                NoiseRun run;
                run.correction = correction;
                if (correction == Correction::exact_diffusion)
                    run.gossip =
                        run.gossip.with_laziness(laziness_for(topography.mixing, run.gossip));
                const Recording recorded = record(topography, plan, run);
                if (test::mpi_session().rank() != 0) continue;
                EXPECT_EQ(test::injected_is_not_accounted(recorded, topography, plan, run), "")
                    << entry.label << " on " << name << ", " << name_of(correction);
            }
        }
    }
}

/// Sum over the rounds so far of the noise in what this rank's agent has sent; only after rounds
/// for which it sent something.
std::map<long, Eigen::VectorXd> noise_so_far(const Topography& topography,
                                             const NoisePlan& plan,
                                             const NoiseRun& run) {
    const auto network = mpi_network();
    test::Recorder recorder(run.dimension, 1);
    RoundObserver* const observer = &recorder;
    (void)test::observe_rounds(*network, topography, plan, run, {&observer, 1});
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(run.dimension);
    std::map<long, Eigen::VectorXd> result;
    const auto noise = recorder.recording.noise(run.step_size);
    for (std::size_t t = 0; t < noise.size(); ++t) {
        if (std::isnan(noise[t](0, 0))) continue;
        sum += noise[t].col(0);
        result[static_cast<long>(t)] = sum;
    }
    return result;
}

TEST(InjectedNoise, OfRoundsThatAnAgentMissesComesWithItsNextMessage) {
    const int ranks = test::mpi_session().ranks(), own = test::mpi_session().rank();
    if (ranks == 1) return;  // nobody to be late for
    const MechanismCase entry{"Pairs", "pairs", {Utility::Kind::horizon, 20}};
    const Topography topography = test::topography_of(Topology::complete, ranks);
    const NoisePlan plan =
        test::shared_plan_of(*mpi_network(), entry, topography, test::uneven_limits(ranks));
    NoiseRun run;
    run.rounds = 60;
    const auto wanted = noise_so_far(topography, plan, run);
    EXPECT_EQ(std::ssize(wanted), run.rounds);
    run.deadline = 0.01;
    run.encrypted = true;
    for (int agent = 0; agent < ranks; ++agent)
        run.faults.slow.emplace_back(agent, agent == ranks - 1 ? 300 : 30);
    const auto sent = noise_so_far(topography, plan, run);
    EXPECT_GT(std::ssize(sent), 0);
    if (own == ranks - 1) {
        EXPECT_LT(std::ssize(sent), run.rounds) << "it is slow, and was not late";
    }
    for (const auto& [round, sum] : sent)
        EXPECT_LT((sum - wanted.at(round)).norm(), 1e-9 * wanted.at(round).norm())
            << "round " << round << ", rank " << own;
}

TEST(InjectedNoise, OfShortMessagesIsTheAccountedNoiseAndThatOfRounding) {
    // Who hears all codes knows messages to half a step: (x - xhat) / eta - g = v + e / eta, where
    // e is uniform within half a step, and independent of everything.
    NoiseRun run;
    run.rounds = 200;
    const MechanismCase entry{"Pairs", "pairs", {Utility::Kind::horizon, 20}};
    for (const auto& [name, graph] : graphs()) {
        const Topography topography = test::metropolis_on(graph);
        const NoisePlan plan = test::shared_plan_of(
            *mpi_network(), entry, topography, test::uneven_limits(graph.agents()));
        StepSchedule steps;
        steps.step_size = run.step_size;
        run.message_steps = MessageSteps(
            predicted_motion({.plan = plan, .mixing = topography.mixing, .rounds = run.rounds}),
            steps,
            run.rounds);
        const Recording recorded = record(topography, plan, run);
        if (test::mpi_session().rank() != 0) continue;
        const double rounding = run.message_steps->at({0, 0}) / run.step_size;
        const Eigen::MatrixXd factor = plan.scale * plan.coefficient_matrix();
        const Eigen::MatrixXd accounted = factor * factor.transpose();
        const auto n = accounted.rows();
        const Eigen::MatrixXd expected =
            accounted + rounding * rounding / 12 * Eigen::MatrixXd::Identity(n, n);
        const auto noise = recorded.noise(run.step_size);
        EXPECT_EQ(test::covariance_mismatch(noise, expected), "") << name;
        EXPECT_EQ(test::whitened_mismatch(noise, expected), "") << name;
        EXPECT_EQ(test::round_dependence(noise, expected), "") << name;
        EXPECT_EQ(test::gradient_in_noise(noise, recorded.gradients, expected), "") << name;
        EXPECT_NE(test::covariance_mismatch(noise, 0.95 * expected), "") << name;
        EXPECT_NE(test::whitened_mismatch(noise, accounted), "") << name;
    }
}

/// Everybody hears the one before, and the last hears the first; few mixing weights are equal.
Topography directed_topography(MixingRule rule) {
    const int n = test::mpi_session().ranks();
    std::vector<Arc> arcs{{0, n - 1}};
    for (int u = 0; u < n; ++u) arcs.emplace_back(u, (u + 1) % n);
    Graph graph = Graph::from_arcs(n, arcs);
    MixingMatrix mixing = MixingMatrix::from_rule(graph, rule);
    return {std::move(graph), std::move(mixing)};
}

TEST(InjectedNoise, IsTheAccountedNoiseOnDirectedGraphs) {
    const NoiseRun run;
    for (const MixingRule rule : {MixingRule::row_stochastic, MixingRule::push_sum}) {
        const Topography topography = directed_topography(rule);
        const int n = topography.graph.agents();
        for (const MechanismCase& entry : test::mechanism_cases()) {
            const NoisePlan plan =
                test::shared_plan_of(*mpi_network(), entry, topography, test::uneven_limits(n));
            if (plan.entry != NoiseEntry::gradient) continue;
            const Recording recorded = record(topography, plan, run);
            if (test::mpi_session().rank() != 0) continue;
            EXPECT_EQ(test::injected_is_not_accounted(recorded, topography, plan, run), "")
                << entry.label << ", noise seed " << run.noise_seed;
        }
    }
}

TEST(InjectedNoise, OfALargerScaleIsNoticed) {
    NoiseRun run;
    run.rounds = 20;
    const Topography topography = test::metropolis_on(graphs().front().graph);
    for (const MechanismCase& entry : test::mechanism_cases()) {
        if (entry.mechanism == "none") continue;
        const NoisePlan plan = test::shared_plan_of(
            *mpi_network(), entry, topography, test::uneven_limits(topography.graph.agents()));
        NoisePlan louder = plan;
        louder.scale *= 1.1;
        const auto noise = record(topography, louder, run).fresh_noise(run.step_size, louder);
        if (test::mpi_session().rank() != 0) continue;
        EXPECT_EQ(test::covariance_mismatch(noise, spatial_covariance(louder)), "") << entry.label;
        EXPECT_NE(test::covariance_mismatch(noise, spatial_covariance(plan)), "") << entry.label;
    }
}

TEST(InjectedNoise, IsNotMultipliedByTheMixingWeight) {
    NoiseRun run;
    run.rounds = 20;
    const Topography topography = test::metropolis_on(graphs().front().graph);
    const int n = topography.graph.agents();
    for (const MechanismCase& entry : test::mechanism_cases()) {
        if (entry.mechanism != "decor") continue;
        const NoisePlan plan =
            test::shared_plan_of(*mpi_network(), entry, topography, test::uneven_limits(n));
        EXPECT_EQ(plan.streams.size(),
                  static_cast<std::size_t>(n) + topography.graph.edges().size());
        const auto noise = record(topography, plan, run).fresh_noise(run.step_size, plan);
        EXPECT_EQ(test::covariance_mismatch(noise, spatial_covariance(plan)), "");
        if (n == 1) continue;  // its only weight is 1
        EXPECT_NE(test::covariance_mismatch(
                      noise, test::covariance_of_weighted_noise(plan, topography.mixing)),
                  "");
    }
}

TEST(InjectedNoise, OfATrustedMeanHasTheVarianceOfOneAgentOverNSquared) {
    const NoiseRun run;
    const Topography topography = test::metropolis_on(graphs().front().graph);
    const int n = topography.graph.agents();
    const Eigen::VectorXd kappa = test::uneven_limits(n);
    const NoisePlan plan =
        test::shared_plan_of(*mpi_network(), {"Cdp", "cdp", {}}, topography, kappa);
    const Recording recorded = record(topography, plan, run);
    std::vector<Eigen::MatrixXd> of_mean;
    for (const auto& noise : recorded.noise(run.step_size))
        of_mean.emplace_back(noise.rowwise().mean());
    const Eigen::MatrixXd expected =
        Eigen::MatrixXd::Constant(1, 1, 1 / (kappa.minCoeff() * n * n));
    EXPECT_EQ(test::covariance_mismatch(of_mean, expected), "") << "seed " << run.noise_seed;
    EXPECT_NE(test::covariance_mismatch(of_mean, 1.2 * expected), "");
    // All agents' gradients, not only the aggregator's, are in the mean that everybody goes on
    // from.
    for (std::size_t t = 1; t < recorded.before.size(); ++t)
        for (int u = 1; u < n; ++u)
            EXPECT_TRUE(recorded.before[t].col(u) == recorded.before[t].col(0))
                << "round " << t << ", agent " << u;
    for (int u = 0; u < n; ++u) EXPECT_TRUE(recorded.last.col(u) == recorded.last.col(0));
    Eigen::VectorXd way = Eigen::VectorXd::Zero(run.dimension);
    const auto noise = recorded.noise(run.step_size);
    for (std::size_t t = 0; t < noise.size(); ++t)
        way += run.step_size * (recorded.gradients[t] + noise[t]).rowwise().mean();
    EXPECT_LT((test::pattern_start(run.dimension) - way - recorded.last.col(0)).norm(), 1e-10);
}

TEST(PairNoise, VanishesFromTheNetworkMean) {
    NoiseRun run;
    run.rounds = 20;
    for (const auto& [name, graph] : graphs()) {
        const int n = graph.agents();
        if (n == 1) continue;  // no pairs
        const Topography topography = test::metropolis_on(graph);
        NoisePlan plan = test::shared_plan_of(*mpi_network(),
                                              {"Decor", "decor", {Utility::Kind::one_step, 1}},
                                              topography,
                                              test::uneven_limits(n));
        for (auto& row : plan.rows) row.coefficients.front() = 0;  // the private stream
        const Recording recorded = record(topography, plan, run);
        // Each agent rounds its noise to the grid for itself: half a step is left of each.
        const double left = 0.5 * n * plan.grid_step() * (1 + 1e-6);
        Eigen::VectorXd mean = test::pattern_start(run.dimension);
        const auto noise = recorded.noise(run.step_size);
        for (std::size_t t = 0; t < noise.size(); ++t) {
            EXPECT_LE(noise[t].rowwise().sum().cwiseAbs().maxCoeff(), left) << name;
            for (int u = 0; u < n; ++u)
                EXPECT_GT(noise[t].col(u).cwiseAbs().maxCoeff(), 1e5 * left) << name;
            mean -= run.step_size * recorded.gradients[t].rowwise().mean();
        }
        const double error = (recorded.last.rowwise().mean() - mean).cwiseAbs().maxCoeff();
        EXPECT_LE(error, static_cast<double>(run.rounds) * run.step_size * left / n + 1e-12)
            << name;
    }
}

/// One training, the same for every network.
struct Job {
    std::string name;
    std::string mechanism;
    bool logistic = true;
    Adjacency adjacency = Adjacency::agent;
    Correction correction = Correction::none;
};

std::vector<Job> jobs() {
    std::vector<Job> result;
    for (const std::string mechanism : {"ldp", "decor", "corn", "cdp", "dp-fedavg", "mafalda"}) {
        result.push_back({mechanism + ", logistic, agent", mechanism, true, Adjacency::agent});
        result.push_back({mechanism + ", logistic, record", mechanism, true, Adjacency::record});
        result.push_back({mechanism + ", quadratic, agent", mechanism, false, Adjacency::agent});
    }
    for (const Correction correction : {Correction::exact_diffusion, Correction::tracking})
        result.push_back(
            {"pairs, " + name_of(correction), "pairs", true, Adjacency::agent, correction});
    return result;
}

/// Models of this process's agents after 30 rounds. COLLECTIVE.
Eigen::MatrixXd train(Network& network,
                      const Topography& topography,
                      const NoisePlan& plan,
                      const Job& job,
                      int threads) {
    constexpr Eigen::Index batch = 16;
    const int n = network.agents();
    network.connect(topography.graph);
    const Dataset data = synthetic_binary(100 * n, 3);
    std::vector<Eigen::Index> rows(static_cast<std::size_t>(data.records()));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Eigen::Index>(i);
    const auto shards =
        partition_rows(rows, data.labels, n, {PartitionSpec::Kind::dirichlet, 10, 1}, 3);
    std::vector<LocalAgent> agents;
    for (const int id : network.local_agents()) {
        std::unique_ptr<Objective> objective =
            job.logistic ? make_logistic_objective(
                               select_rows(data, shards[static_cast<std::size_t>(id)]), nullptr)
                         : make_quadratic_objective(id, n);
        const Eigen::Index records = objective->records();
        agents.push_back({id,
                          std::move(objective),
                          BatchSampler::uniform(records, std::min(batch, records), 4, id),
                          batch});
    }
    TrainerOptions options;
    options.clip_norm = 0.7;
    options.adjacency = job.adjacency;
    options.steps = {StepSchedule::Kind::inverse_sqrt, 0.1, {}};
    options.l2 = 0.01;
    if (job.mechanism == "dp-fedavg" && job.adjacency == Adjacency::agent) options.local_steps = 3;
    // Several exchanges a round: a round's noise may be complete before its last one.
    options.gossip = GossipPolynomial(2);
    options.smoothing.correction = job.correction;
    if (job.correction == Correction::exact_diffusion)
        options.gossip =
            options.gossip.with_laziness(laziness_for(topography.mixing, options.gossip));
    options.rounds =
        30;  // but after the last, the next round's noise is drawn while messages travel
    options.threads = threads;
    const Eigen::Index d = agents.front().objective->dimension();
    Trainer trainer(network,
                    MixingSchedule({topography.mixing}),
                    plan,
                    NoiseSource(plan, distribute_seeds(network, plan, 99), threads),
                    std::move(agents),
                    Eigen::VectorXd::Constant(d, 0.1),
                    options);
    for (long t = 0; t < options.rounds; ++t) trainer.run_round(t);
    return trainer.models();
}

TEST(Trainer, GivesTheSameBitsOnMpiAndInOneProcess) {
    const Topography topography = test::metropolis_on(graphs().front().graph);
    const int n = topography.graph.agents();
    for (const Job& job : jobs()) {
        const NoisePlan plan =
            test::shared_plan_of(*mpi_network(),
                                 {"", job.mechanism, {Utility::Kind::horizon, 20}},
                                 topography,
                                 100 * test::uneven_limits(n));
        const auto network = mpi_network();
        const Eigen::MatrixXd across =
            test::gather_columns(*network, train(*network, topography, plan, job, 1));
        if (network->process() != 0) continue;
        EXPECT_TRUE(across.allFinite()) << job.name;
        EXPECT_GT((across.array() - 0.1).abs().maxCoeff(), 0.01) << job.name;
        for (const int threads : {1, 2}) {
            const auto memory = make_memory_network(n, threads);
            EXPECT_TRUE(across == train(*memory, topography, plan, job, threads))
                << job.name << ", " << threads << " threads";
        }
    }
}

}  // namespace
}  // namespace sotto
