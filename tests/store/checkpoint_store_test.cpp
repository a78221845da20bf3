#include "store/checkpoint_store.hpp"

#include <algorithm>

#include "training/resume_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Fate;
using test::message_of;
using test::resumed;
using test::run;
using test::run_until_killed;

namespace fs = std::filesystem;

class CheckpointsOfARun : public test::ResumableRun {};

TEST_F(CheckpointsOfARun, TakesTheCheckpointBeforeADamagedOne) {
    TrainConfig first = config("run");
    first.checkpoint_every = 10;
    run_until_killed(first, 37);
    const auto folders = fs::directory_iterator(path("run") + "/checkpoints");
    EXPECT_EQ(std::distance(begin(folders), end(folders)), 2);  // of rounds 20 and 30
    const fs::path newest =
        fs::path(folder.path("run/checkpoints/000000000030/agents-0-5.checkpoint"));
    std::string bytes = read_file(newest);
    bytes[bytes.size() - 100] ^= 1;
    std::ofstream(newest, std::ios::binary) << bytes;
    Fate fate;
    const TrainResult rest = run(resumed(first, path("run")), fate);
    EXPECT_EQ(rest.resumed->round, 20);
    expect_contains(fate.report, "agents-0-5.checkpoint: it is damaged");
    expect_contains(fate.report, "checkpoint of agent 5 in");
    EXPECT_NEAR(rest.epsilon, first.plan.epsilon, 1e-6);
}

TEST_F(CheckpointsOfARun, NeverTakesHalfACheckpointForAWholeOne) {
    TrainConfig first = config("run");
    first.checkpoint_every = 10;
    run_until_killed(first, 37);
    const fs::path folders = fs::path(folder.path("run/checkpoints"));
    // A manifest is missing, and the file of the other checkpoint.
    fs::remove(folders / "000000000030/manifest.json");
    fs::remove(folders / "000000000020/agents-0-5.checkpoint");
    expect_contains(message_of<DataError>([&] { (void)run(resumed(first, path("run"))); }),
                    "no checkpoint is usable");
    // Files of two checkpoints do not make one.
    fs::copy_file(folders / "000000000030/agents-0-5.checkpoint",
                  folders / "000000000020/agents-0-5.checkpoint");
    expect_contains(message_of<DataError>([&] { (void)run(resumed(first, path("run"))); }),
                    "is of another checkpoint");
}

Checkpoint checkpoint_of(int agent, long round) {
    Checkpoint checkpoint;
    checkpoint.run.fill(3);
    checkpoint.agent = agent;
    checkpoint.round = round;
    checkpoint.model = Eigen::Vector2d(agent, static_cast<double>(round));
    return checkpoint;
}

/// Of agents 1 and 4.
class CheckpointStore : public ::testing::Test {
  protected:
    void seal(long round, int phase = 0, bool clean = false) const {
        seal_checkpoint(folder.path(""),
                        *network,
                        {round, phase, 0, clean, {}, {1.5, 2.5}},
                        {checkpoint_of(1, round), checkpoint_of(4, round)});
    }
    FoundCheckpoint found(const std::vector<int>& numbers = {1, 4}) const {
        return find_checkpoint(folder.path(""), *network, numbers);
    }
    test::TemporaryFolder folder;
    std::unique_ptr<Network> network = make_memory_network(2, 1);
};

TEST_F(CheckpointStore, FindsTheNewestAndKeepsTheLastTwo) {
    for (const long round : {10L, 20L, 30L}) seal(round, 0, round == 30);
    const FoundCheckpoint newest = found();
    EXPECT_EQ(newest.sealed.round, 30);
    EXPECT_TRUE(newest.sealed.clean);
    EXPECT_EQ(newest.sealed.totals.loop_seconds, 1.5);
    EXPECT_EQ(newest.sealed.totals.evaluate_seconds, 2.5);
    EXPECT_TRUE(newest.notes.empty());
    ASSERT_EQ(newest.local.size(), 2U);
    EXPECT_EQ(newest.local[1].model, Eigen::Vector2d(4, 30));
    std::vector<std::string> folders;
    for (const auto& entry : fs::directory_iterator(folder.path("checkpoints")))
        folders.push_back(entry.path().filename());
    std::ranges::sort(folders);
    EXPECT_EQ(folders, (std::vector<std::string>{"000000000020", "000000000030"}));
    // A later phase may be at an earlier round.
    seal(25, 1);
    EXPECT_EQ(found().sealed.round, 25);
}

TEST_F(CheckpointStore, SaysWhatItPassesOver) {
    seal(10);
    seal(20);
    // Agent 1's alone.
    const fs::path newest = folder.path("checkpoints/000000000020");
    write_file_atomically(newest / "agent-1.checkpoint", checkpoints_in(newest).read(1));
    fs::remove(newest / "agents-1-4.checkpoint");
    const FoundCheckpoint older = found();
    EXPECT_EQ(older.sealed.round, 10);
    ASSERT_EQ(older.notes.size(), 1U);
    expect_contains(older.notes[0], "the checkpoint of round 20 is passed over");
    std::ofstream(folder.path("checkpoints/000000000010/manifest.json")) << "{}";
    expect_contains(message_of<DataError>([&] { (void)found(); }), "no checkpoint is usable");
    EXPECT_EQ(found({1}).sealed.round, 20);
    const test::TemporaryFolder empty;
    expect_contains(message_of<DataError>([&] {
                        (void)find_checkpoint(empty.path(""), *network, std::vector<int>{1});
                    }),
                    "there is no whole checkpoint");
}

TEST(SealedCheckpoint, ComesBackUnlessOneCharacterIsAnother) {
    const SealedCheckpoint sealed{
        40, 2, 3, true, {{1, std::string(64, 'a')}, {4, std::string(64, 'c')}}, {1.25, 3}};
    const std::string text = to_json(sealed);
    const SealedCheckpoint back = sealed_checkpoint_from_json(text);
    EXPECT_EQ(to_json(back), text);
    EXPECT_EQ(back.round, 40);
    EXPECT_EQ(back.phase, 2);
    EXPECT_EQ(back.digests, sealed.digests);
    for (const auto& [from, to] : {std::pair("40", "41"), {"true", "false"}, {"aaa", "aab"}}) {
        std::string other = text;
        other.replace(other.find(from), std::string(from).size(), to);
        expect_contains(message_of<DataError>([&] { (void)sealed_checkpoint_from_json(other); }),
                        "it is damaged");
    }
}

}  // namespace
}  // namespace sotto
