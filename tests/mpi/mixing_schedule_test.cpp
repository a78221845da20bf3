// Under mpiexec, any number of ranks: mixing that changes from round to round.

#include "sotto/graph/mixing_schedule.hpp"

#include <gtest/gtest.h>

#include "mpi/mpi_main.hpp"
#include "mpi/trainer_fixtures.hpp"
#include "net/memory_network.hpp"

namespace sotto {
namespace {

using test::NoiseRun;

/// Fresh rings, and one peer a round.
std::vector<Topography> schedules(int agents) {
    TopologySpec spec;
    spec.agents = agents;
    spec.graph_seed = 2;
    spec.topology = Topology::path;
    std::vector<Topography> result;
    ScheduledMixing random = random_schedule(spec, "metropolis", 7);
    result.push_back(test::with_schedule(std::move(random.graph), std::move(random.matrices)));
    spec.topology = Topology::exponential;
    Graph graph = make_topology(spec).graph;
    auto matrices = one_peer_schedule(graph);
    result.push_back(test::with_schedule(std::move(graph), std::move(matrices)));
    return result;
}

NoiseRun small_run() {
    NoiseRun run;
    run.rounds = 10;
    run.dimension = 300;
    return run;
}

TEST(MixingSchedule, OfTrainingIsTheEquationInPlainMatrices) {
    const int n = test::mpi_session().ranks();
    for (const Topography& topography : schedules(n))
        for (const bool encrypted : {false, true}) {
            NoiseRun run = small_run();
            run.encrypted = encrypted;
            const NoisePlan none = test::plan_of(
                {"None", "none", {Utility::Kind::one_step, 1}}, topography, test::uneven_limits(n));
            const auto network = make_mpi_network(test::mpi_session());
            const Eigen::MatrixXd models = test::gather_columns(
                *network, test::observe_rounds(*network, topography, none, run, {}));
            // X <- (X - eta clip(G)) W_t^T.
            Eigen::MatrixXd expected = test::pattern_start(run.dimension).replicate(1, n);
            Eigen::MatrixXd gradients(run.dimension, n);
            for (int u = 0; u < n; ++u) {
                gradients.col(u) = test::pattern_gradient(u, run.dimension);
                const double norm = gradients.col(u).norm();
                if (norm > run.clip_norm) gradients.col(u) *= run.clip_norm / norm;
            }
            const MixingSchedule schedule = topography.schedule();
            for (long t = 0; t < run.rounds; ++t)
                expected =
                    ((expected - run.step_size * gradients) * schedule.at(t).dense().transpose())
                        .eval();
            EXPECT_LE((models - expected).cwiseAbs().maxCoeff(), 1e-5);
        }
}

TEST(MixingSchedule, SendsNothingAlongEdgesThatRestAndGivesTheSameBitsInOneProcess) {
    const int n = test::mpi_session().ranks();
    const NoiseRun run = small_run();
    for (const Topography& topography : schedules(n)) {
        const NoisePlan plan = test::plan_of(
            {"Ldp", "ldp", {Utility::Kind::one_step, 1}}, topography, test::uneven_limits(n));
        const auto across = make_mpi_network(test::mpi_session());
        const auto inside = make_memory_network(n, 1);
        const Eigen::MatrixXd own = test::observe_rounds(*across, topography, plan, run, {});
        const Eigen::MatrixXd all = test::observe_rounds(*inside, topography, plan, run, {});
        EXPECT_EQ((own.col(0) - all.col(across->process())).cwiseAbs().maxCoeff(), 0);
        const MixingSchedule schedule = topography.schedule();
        std::int64_t sent = 0, everybody = 0;
        for (long t = 0; t < run.rounds; ++t)
            for (int u = 0; u < n; ++u)
                for (const int v : topography.graph.neighbours(u))
                    if (schedule.at(t).weight(v, u) > 0) {
                        everybody += run.dimension * 8;
                        if (u == across->process()) sent += run.dimension * 8;
                    }
        EXPECT_EQ(across->bytes_sent(), sent);
        EXPECT_EQ(inside->bytes_sent(), everybody);
    }
}

}  // namespace
}  // namespace sotto
