// Every round all records of every agent.

#include "tasks/task.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::models_of;
using test::TemporaryFolder;
using test::train;

TEST(FullBatch, IsGradientDescentWithEveryAgentsOwnDivisor) {
    const TemporaryFolder folder;
    for (const Adjacency adjacency : {Adjacency::agent, Adjacency::record}) {
        TrainConfig config = test::logistic_config(folder, 5, "none", 6);
        config.plan.batch_size = std::nullopt;
        config.plan.adjacency = adjacency;
        config.plan.clip_norm = 100;  // no gradient of these data is as long
        config.plan.steps.step_size = 0.5;
        config.run_directory = folder.path("run-" + name_of(adjacency));
        (void)train(config);

        const auto network = make_memory_network(5, 1);
        LocalTask task =
            build_task(config.task, *network, Membership::everybody(network->agents()));
        const Eigen::MatrixXd w = Eigen::MatrixXd(
            build_topography(config.graph, config.plan.rounds).topography.mixing.sparse());
        Eigen::MatrixXd models = Eigen::MatrixXd::Zero(task.initial.size(), 5);
        EXPECT_NE(task.records[0], task.records[1]) << "shards must differ, or this tests little";
        for (int t = 0; t < 6; ++t) {
            Eigen::MatrixXd stepped = models;
            Eigen::VectorXd gradient(task.initial.size());
            for (Eigen::Index u = 0; u < 5; ++u) {
                auto& objective = *task.objectives[static_cast<std::size_t>(u)];
                objective.mean_gradient(
                    models.col(u), test::all_rows(objective.records()), gradient);
                stepped.col(u) -= 0.5 * gradient;
            }
            models = stepped * w.transpose();
        }
        // Records are rounded to the grid, 2^-40, before they are added.
        EXPECT_LE((models_of(config) - models).cwiseAbs().maxCoeff(), 1e-10) << name_of(adjacency);
    }
}

TEST(FullBatch, HasASensitivityOfItsOwnForEveryAgent) {
    PlanConfig config;
    config.batch_size = std::nullopt;
    config.clip_norm = 0.5;
    const std::vector<Eigen::Index> records{100, 41, 1};
    for (const auto& exposure : build_exposures(config, 3, records))
        EXPECT_EQ(exposure.sensitivity, 1);
    EXPECT_EQ(build_exposures(config, 3, records)[1].batch_size, 41);
    EXPECT_NO_THROW((void)build_exposures(config, 3, {}));
    config.adjacency = Adjacency::record;
    const auto exposures = build_exposures(config, 3, records);
    for (std::size_t u = 0; u < 3; ++u) {
        EXPECT_EQ(exposures[u].batch_size, records[u]);
        EXPECT_DOUBLE_EQ(exposures[u].sensitivity, 1 / static_cast<double>(records[u]));
        EXPECT_EQ(exposures[u].sensitivity_squared_over_rounds, static_cast<double>(config.rounds));
    }
    expect_contains(message_of<ConfigError>([&] { (void)build_exposures(config, 3, {}); }),
                    "'all' needs the agents' numbers of records");
}

}  // namespace
}  // namespace sotto
