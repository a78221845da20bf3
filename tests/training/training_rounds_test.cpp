#include "training/training_rounds.hpp"

#include <algorithm>

#include "sotto/learn/quadratic.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

/// Quadratic functions without noise, every round by hand: X <- W (X - eta clip(G) - eta l2 X).
Eigen::MatrixXd by_hand(const TrainConfig& config, const MixingMatrix& mixing, long rounds) {
    const int agents = config.graph.topology.agents;
    const Eigen::MatrixXd w = Eigen::MatrixXd(mixing.sparse());
    const double eta = config.plan.steps.step_size;
    Eigen::MatrixXd models = Eigen::MatrixXd::Zero(2, agents);
    for (long t = 0; t < rounds; ++t) {
        Eigen::MatrixXd stepped = models;
        for (int u = 0; u < agents; ++u) {
            Eigen::Vector2d gradient;
            make_quadratic_objective(u, agents)->mean_gradient(models.col(u), {}, gradient);
            gradient *= std::min(1.0, config.plan.clip_norm / gradient.norm());
            stepped.col(u) -= eta * (gradient + config.l2 * models.col(u));
        }
        models = stepped * w.transpose();
    }
    return models;
}

TEST(TrainingRounds, AreThoseOfTheEquation) {
    const test::TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(5, "none", 25);
    config.plan.steps.step_size = 0.1;
    config.l2 = 0.5;
    config.run_directory = folder.path("run");
    const auto network = make_memory_network(5, 1);
    OpenRun run = open_run(test::prepare(config, *network));
    test::Watcher watcher;
    test::train_rounds(run, watcher);
    EXPECT_EQ(run.progress.rounds, 25);
    EXPECT_EQ(watcher.completed, 25);
    EXPECT_GT(run.progress.seconds.total(), 0);
    const Eigen::MatrixXd wanted = by_hand(config, run.prepared.run.topography.mixing, 25);
    EXPECT_LE((test::models_of(config) - wanted).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_GT(wanted.norm(), 0.05);
    // It is not over before it is closed.
    EXPECT_EQ(test::read_json(folder.path("run/ledger.json"))["status"], "running");
    EXPECT_FALSE(std::filesystem::exists(folder.path("run/summary.json")));
}

TEST(TrainingRounds, EndARunThatFailsInOne) {
    const test::TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(5, "none", 25);
    config.run_directory = folder.path("run");
    const auto network = make_memory_network(5, 1);
    OpenRun run = open_run(test::prepare(config, *network));
    struct Failing final : TrainingListener {
        void on_round(long completed, long, const Ledger&) override {
            if (completed == 3) throw DataError("the disk is full");
        }
    } failing;
    EXPECT_THROW(test::train_rounds(run, failing), DataError);
    EXPECT_EQ(read_file(folder.path("run/failure.txt")), "rank 0, round 3: the disk is full\n");
}

}  // namespace
}  // namespace sotto
