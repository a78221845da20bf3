#include "training/run_checkpoints.hpp"

#include <set>

#include "tasks/task.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

class RunCheckpointsOf : public ::testing::Test {
  protected:
    RunCheckpointsOf() {
        config.run_directory = folder.path("run");
        config.checkpoint_every = 10;
    }
    OpenRun open() { return open_run(test::prepare(config, *network)); }
    Trainer trainer_of(OpenRun& run) const {
        return {*network,
                run.prepared.run.topography.schedule(),
                run.prepared.run.plan,
                NoiseSource(run.prepared.run.plan, run.rings, 1),
                std::move(run.prepared.agents),
                Eigen::Vector2d(1, -2),
                {}};
    }
    std::optional<long> sent_in(const OpenRun& run) {
        return sent_before(folder.path("run"),
                           *network,
                           {run.prepared.history.run, 40, 0, {0, 1, 2}, {0, 1, 2}, 0, {0, 1, 2}});
    }
    test::TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(3, "ldp", 40);
    std::unique_ptr<Network> network = make_memory_network(3, 1);
};

TEST_F(RunCheckpointsOf, ARunAreDueEverySoManyRounds) {
    OpenRun run = open();
    const Trainer trainer = trainer_of(run);
    const RunCheckpoints checkpoints(run, trainer, 0);
    for (long round = 1; round <= 40; ++round)
        EXPECT_EQ(checkpoints.due(round), round % 10 == 0) << round;
}

TEST_F(RunCheckpointsOf, ARunHoldWhatEveryAgentNeedsToGoOn) {
    OpenRun run = open();
    const Trainer trainer = trainer_of(run);
    RunCheckpoints checkpoints(run, trainer, 0);
    checkpoints.begin();
    for (long round = 0; round < 10; ++round) checkpoints.before_round(round);
    checkpoints.seal(10, false, {3, 4});
    const FoundCheckpoint found =
        find_checkpoint(folder.path("run"), *network, std::vector<int>{0, 1, 2});
    EXPECT_EQ(found.sealed.round, 10);
    EXPECT_EQ(found.sealed.phase, 0);
    EXPECT_FALSE(found.sealed.clean);
    EXPECT_EQ(found.sealed.totals.loop_seconds, 3);
    for (const Checkpoint& own : found.local) {
        EXPECT_EQ(own.run, run.prepared.history.run);
        EXPECT_EQ(own.model, Eigen::Vector2d(1, -2));
        EXPECT_EQ(own.batch_seed, config.task.seed);
        EXPECT_EQ(own.records, 1);
        EXPECT_FALSE(saved_seeds_of(folder.path("run"), own).has(own.agent));
        EXPECT_EQ(own.revealed, read_file(OwnRecord::file_in(folder.path("run"), own.agent)));
    }
    EXPECT_EQ(sent_in(run), 10);
}

TEST_F(RunCheckpointsOf, ATaskWithoutANameAreNeverMade) {
    const auto make_task = [&] {
        return build_task(config.task, *network, Membership::everybody(3));
    };
    OpenRun run = open_run(test::prepare(config, *network, make_task));
    const Trainer trainer = trainer_of(run);
    RunCheckpoints checkpoints(run, trainer, 0);
    checkpoints.before_round(0);
    checkpoints.seal(10, true, {});
    EXPECT_FALSE(std::filesystem::exists(folder.path("run/checkpoints")));
    checkpoints.begin();
    EXPECT_FALSE(std::filesystem::exists(folder.path("run/sent")));
}

TEST_F(RunCheckpointsOf, EveryRunBeginWithOneOfRound0) {
    config.checkpoint_every = 0;
    OpenRun run = open();
    const Trainer trainer = trainer_of(run);
    RunCheckpoints checkpoints(run, trainer, 0);
    checkpoints.begin();
    const FoundCheckpoint found =
        find_checkpoint(folder.path("run"), *network, std::vector<int>{0, 1, 2});
    EXPECT_EQ(found.sealed.round, 0);
    EXPECT_FALSE(found.sealed.clean);
    std::set<Digest> keys;
    for (const Checkpoint& own : found.local) {
        EXPECT_EQ(own.model.size(), 0);
        EXPECT_EQ(own.data.value, committed(own.data.key, digest_of_agent({}, 0)));
        keys.insert(own.data.key);
    }
    EXPECT_EQ(keys.size(), 3U);
    EXPECT_EQ(sent_in(run), 0);
}

TEST_F(RunCheckpointsOf, ARunWithoutThemOnTheWayAreMadeAtACleanStop) {
    config.checkpoint_every = 0;
    OpenRun run = open();
    const Trainer trainer = trainer_of(run);
    RunCheckpoints checkpoints(run, trainer, 0);
    checkpoints.begin();
    checkpoints.before_round(0);
    EXPECT_FALSE(checkpoints.due(10));
    checkpoints.seal(7, true, {});
    EXPECT_TRUE(find_checkpoint(folder.path("run"), *network, std::vector<int>{1}).sealed.clean);
    EXPECT_EQ(sent_in(run), 7);
}

}  // namespace
}  // namespace sotto
