#include "store/copies.hpp"

#include "agent/checkpoint.hpp"
#include "config/run_fixtures.hpp"
#include "core/bytes.hpp"
#include "fuzz/support.hpp"
#include "store/checkpoint_store.hpp"
#include "store/own_record.hpp"
#include "store/sent_mark.hpp"
#include "training/resume_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::resumed;
using test::run;
using test::run_until_killed;

namespace fs = std::filesystem;

class FilesThatWereRestored : public ::testing::Test {
  protected:
    void restore(Stay stay) const {
        RestoredFiles files(stay);
        files.write(lost, "again");
        files.write(other, "again");
        files.write(other, "once more");
        EXPECT_EQ(read_file(lost), "again");
        EXPECT_EQ(read_file(other), "once more");
    }
    test::TemporaryFolder folder;
    const fs::path lost = folder.path("run/checkpoints/20/agent");
    const fs::path other = folder.write("other", "before");
};

TEST_F(FilesThatWereRestored, ForGoodStay) {
    restore(Stay::for_good);
    EXPECT_EQ(read_file(lost), "again");
    EXPECT_EQ(read_file(other), "once more");
}

TEST_F(FilesThatWereRestored, ForALookGoWithTheirFoldersAndWhatWasThereIsThereAgain) {
    restore(Stay::for_a_look);
    EXPECT_FALSE(fs::exists(folder.path("run")));
    EXPECT_EQ(read_file(other), "before");
}

TEST_F(FilesThatWereRestored, ForALookLeaveFoldersInWhichOthersHaveWritten) {
    fs::create_directory(folder.path("run"));
    {
        RestoredFiles files(Stay::for_a_look);
        files.write(lost, "again");
        std::ofstream(lost.parent_path() / "another's") << "kept";
    }
    EXPECT_FALSE(fs::exists(lost));
    EXPECT_EQ(read_file(lost.parent_path() / "another's"), "kept");
}

TEST_F(FilesThatWereRestored, ForALookByTwoProcessesGoWithTheLastOfThem) {
    const fs::path run = folder.path("above/run");
    {
        auto first = std::make_unique<RestoredFiles>(Stay::for_a_look, run);
        const RestoredFiles unused(Stay::for_a_look, run);
        auto second = std::make_unique<RestoredFiles>(Stay::for_a_look, run);
        first->write(run / "agents/0/checkpoint", "again");
        second->write(run / "agents/1/checkpoint", "again");
        first.reset();
        EXPECT_TRUE(fs::exists(run / "agents/1/checkpoint"));
        EXPECT_FALSE(fs::exists(run / "agents/0"));
        second.reset();
    }
    EXPECT_FALSE(fs::exists(folder.path("above")));
}

namespace fs = std::filesystem;

Checkpoint copied_checkpoint_of(int agent, long round) {
    Checkpoint checkpoint;
    checkpoint.run.fill(9);
    checkpoint.agent = agent;
    checkpoint.round = round;
    checkpoint.model = Eigen::Vector2d(agent, static_cast<double>(round));
    return checkpoint;
}

/// Of an agent that began phases up to this one.
OwnRecord record_of(int agent, int phase = 1) {
    Digest run{};
    run.fill(9);
    OwnRecord record(run, agent);
    for (int k = 0; k <= phase; ++k)
        record.add({.phase = k,
                    .session = digest_of(copied_checkpoint_of(0, k)),
                    .rounds_before = 0,
                    .facts = {{"first_round", "0"}}});
    return record;
}

/// Agents 1 and 4 of five, in one process, which keeps its own copies.
class CopiesOfCheckpoints : public ::testing::Test {
  protected:
    CopiesOfCheckpoints() {
        identities_.push_back(Identity::generate());
        identities_.push_back(Identity::generate());
    }
    /// With copies that say so.
    void seal(const CopiedCheckpoint& copied) {
        for (const int agent : {1, 4}) keep_record(agent, copied.phase);
        seal_checkpoint(
            folder.path(""),
            *network,
            {copied.round, copied.phase, 0, false, {}, {}},
            {copied_checkpoint_of(1, copied.round), copied_checkpoint_of(4, copied.round)});
        keep_copies(folder.path(""), *network, {0}, copied, members, identities_);
    }
    void keep_record(int agent, int phase) const {
        fs::create_directories(OwnRecord::file_in(folder.path(""), agent).parent_path());
        record_of(agent, phase).write(folder.path(""));
    }
    void lose(const std::string& ending) const {
        std::vector<fs::path> lost;
        for (const auto& entry : fs::recursive_directory_iterator(folder.path("")))
            if (entry.path().string().ends_with(ending)) lost.push_back(entry.path());
        for (const fs::path& file : lost) fs::remove(file);
    }
    std::vector<std::string> restored(Stay stay = Stay::for_good) {
        RestoredFiles files(stay);
        return restore_from_copies(
            files, folder.path(""), *network, members, [&](std::size_t a) -> Identity {
                return Identity::read(path_of(a));
            });
    }
    fs::path path_of(std::size_t local_index) const {
        const fs::path file = folder.path("id" + std::to_string(local_index));
        if (!fs::exists(file)) identities_[local_index].write_new(file);
        return file;
    }
    std::optional<long> sent(int phase) const {
        Digest run{};
        run.fill(9);
        return sent_before(folder.path(""), *network, {run, 90, phase, {1, 4}, {1, 4}, 0, {1, 4}});
    }
    test::TemporaryFolder folder;
    std::vector<Identity> identities_;
    const Membership members{5, {1, 4}};
    std::unique_ptr<Network> network = make_memory_network(2, 1);
};

TEST_F(CopiesOfCheckpoints, GiveBackWhatWasLostAndCountAllThatMayHaveLeft) {
    seal({.round = 10, .phase = 0, .until = 20});
    seal({.round = 20, .phase = 0, .until = 30});
    EXPECT_EQ(restored(), std::vector<std::string>{});
    lose(".checkpoint");
    EXPECT_THROW((void)find_checkpoint(folder.path(""), *network, std::vector{1, 4}), DataError);
    const auto notes = restored();
    ASSERT_EQ(notes.size(), 2U);
    EXPECT_EQ(notes[1],
              "agent 4: its checkpoint was restored from a copy on another disk; rounds up to 30 "
              "count as sent");
    const FoundCheckpoint found = find_checkpoint(folder.path(""), *network, std::vector{1, 4});
    EXPECT_EQ(found.sealed.round, 20);
    EXPECT_EQ(found.local[1].model, Eigen::Vector2d(4, 20));
    EXPECT_EQ(sent(0), 30);
    // In a phase that began after the copy was made nothing has left.
    EXPECT_EQ(sent(1), std::nullopt);
}

TEST_F(CopiesOfCheckpoints, ForALookLeaveNothingBehindAndSayWhatWouldBeRestored) {
    seal({.round = 10, .phase = 0, .until = 20});
    lose(".checkpoint");
    const auto notes = restored(Stay::for_a_look);
    ASSERT_EQ(notes.size(), 2U);
    EXPECT_EQ(notes[1],
              "agent 4: its checkpoint would be restored from a copy on another disk; rounds up to "
              "20 count as sent");
    EXPECT_FALSE(checkpoints_in(checkpoint_folder(folder.path(""), 10)).has(4));
    EXPECT_FALSE(fs::exists(folder.path("sent")));
}

TEST_F(CopiesOfCheckpoints, CountByTheNewestOfThem) {
    seal({.round = 10, .phase = 0, .until = 20});
    for (const int agent : {1, 4}) keep_record(agent, 1);
    keep_copies(folder.path(""),
                *network,
                {0},
                {.round = 10, .phase = 1, .until = 15},
                members,
                identities_);
    lose(".checkpoint");
    (void)restored();
    EXPECT_EQ(sent(1), 15);
}

TEST_F(CopiesOfCheckpoints, AreGoneWithTheirCheckpoint) {
    for (const long round : {10, 20, 30}) seal({.round = round, .phase = 0, .until = round + 10});
    EXPECT_FALSE(fs::exists(checkpoint_folder(folder.path(""), 10)));
    EXPECT_TRUE(fs::exists(checkpoint_folder(folder.path(""), 20) / "agent-4.copy"));
}

TEST_F(CopiesOfCheckpoints, ThatDoNotOpenAreLeftOutAndNamed) {
    seal({.round = 10, .phase = 0, .until = 20});
    lose(".checkpoint");
    // As another round's, and as another agent's.
    const fs::path copies = checkpoint_folder(folder.path(""), 10);
    fs::create_directory(checkpoint_folder(folder.path(""), 20));
    fs::rename(copies / "agent-1.copy", checkpoint_folder(folder.path(""), 20) / "agent-1.copy");
    fs::copy_file(copies / "agent-4.copy", copies / "agent-1.copy");
    const auto notes = restored();
    ASSERT_EQ(notes.size(), 3U);
    EXPECT_EQ(notes[0], "agent 1: no copy of its checkpoint of round 10 opens");
    EXPECT_EQ(notes[1], "agent 1: no copy of its checkpoint of round 20 opens");
    expect_contains(notes[2], "agent 4: its checkpoint was restored");
    EXPECT_FALSE(checkpoints_in(copies).has(1));
}

TEST_F(CopiesOfCheckpoints, NeedAnIdentityThatThisProcessWasGiven) {
    RestoredFiles files(Stay::for_good);
    seal({.round = 10, .phase = 0, .until = 20});
    EXPECT_TRUE(restore_from_copies(files, folder.path(""), *network, members, {}).empty());
    const AgentFiles both = checkpoints_in(checkpoint_folder(folder.path(""), 10));
    const std::string kept = both.read(1);
    lose(".checkpoint");
    write_file_atomically(checkpoint_folder(folder.path(""), 10) / "agent-1.checkpoint", kept);
    expect_contains(message_of<DataError>([&] {
                        (void)restore_from_copies(files, folder.path(""), *network, members, {});
                    }),
                    "agent 4's checkpoints are gone; others keep copies, which only its identity "
                    "opens: give --identity with --resume (or --without 4)");
}

TEST_F(CopiesOfCheckpoints, AreNotMadeWithoutIdentities) {
    seal_checkpoint(folder.path(""),
                    *network,
                    {10, 0, 0, false, {}, {}},
                    {copied_checkpoint_of(1, 10), copied_checkpoint_of(4, 10)});
    keep_copies(
        folder.path(""), *network, {0}, {.round = 10, .phase = 0, .until = 20}, members, {});
    EXPECT_FALSE(fs::exists(checkpoint_folder(folder.path(""), 10) / "agent-1.copy"));
}

TEST_F(CopiesOfCheckpoints, OfAgentsThatARankDoesNotHostAreRefused) {
    ByteWriter foreign;
    foreign.put(std::int32_t{4});
    foreign.put_text("anything");
    fuzz::ScriptedNetwork two(2, 0, "", [said = foreign.take()](int) {
        return std::vector<std::string>{"", said};
    });
    const Membership three{5, {1, 2}};  // rank 1 hosts agent 2
    keep_record(1, 0);
    seal_checkpoint(
        folder.path(""), *network, {10, 0, 0, false, {}, {}}, {copied_checkpoint_of(1, 10)});
    expect_contains(message_of<NetworkError>([&] {
                        keep_copies(folder.path(""),
                                    two,
                                    {1, 0},
                                    {.round = 10, .phase = 0, .until = 20},
                                    three,
                                    std::span(identities_).first(1));
                    }),
                    "rank 1 gives a copy of the checkpoint of agent 4, which it does not host");
}

/// Agent 1, whose process has lost its disk; both others say what a test wants.
class CopiesOfOthers : public ::testing::Test {
  protected:
    using Said = std::vector<std::string>;  ///< by both others
    /// What is restored where their words are these, call by call.
    std::vector<std::string> restored(const std::vector<Said>& words) {
        fuzz::ScriptedNetwork network(3, 1, "", [&](int call) {
            const Said& both = words.at(static_cast<std::size_t>(call));
            return Said{both[0], "", both[1]};
        });
        const fs::path file = folder.path("id");
        if (!fs::exists(file)) own.write_new(file);
        return restore_from_copies(
            files, folder.path(""), network, {3, {0, 1, 2}}, [&](std::size_t) -> Identity {
                return Identity::read(file);
            });
    }
    static std::string keeps(std::int64_t round) {
        ByteWriter writer;
        writer.put(round);
        writer.put(std::int32_t{0});
        writer.put(std::int32_t{1});
        return writer.take();
    }
    std::string copy(int phase, long until) const {
        return seal_copy(own,
                         1,
                         {.checkpoint = CheckpointBytes(copied_checkpoint_of(1, 10)).text(),
                          .revealed = record_of(1, phase).text(),
                          .phase = phase,
                          .until = until});
    }
    test::TemporaryFolder folder;
    RestoredFiles files{Stay::for_good};
    const Identity own = Identity::generate();
    const Said nothing{"", ""};
};

TEST_F(CopiesOfOthers, CountByTheNewestWhoeverKeepsItAndWhateverOthersKeep) {
    const std::string fresh = copy(1, 15), stale = copy(0, 12);
    for (const bool first : {true, false}) {
        for (const char* lost : {"sent", "checkpoints", "agents"})
            fs::remove_all(folder.path(lost));
        const Said one{first ? fresh : stale, ""}, other{"", first ? stale : fresh};
        EXPECT_EQ(restored({{keeps(10), keeps(10)}, nothing, one, other, nothing}),
                  std::vector<std::string>{"agent 1: its checkpoint was restored from a copy on "
                                           "another disk; rounds up to 15 count as sent"});
        expect_contains(read_file(folder.path("sent/1")), "phase 1\nsession ");
        expect_contains(read_file(folder.path("sent/1")), "\nround 15\n");
        EXPECT_EQ(read_file(OwnRecord::file_in(folder.path(""), 1)), record_of(1, 1).text());
    }
    // Garbage of one does not hide what another keeps.
    fs::remove_all(folder.path("checkpoints"));
    EXPECT_EQ(
        restored({{keeps(10), keeps(10)}, nothing, {"garbage", ""}, {"", fresh}, nothing}).size(),
        1U);
    EXPECT_TRUE(checkpoints_in(checkpoint_folder(folder.path(""), 10)).has(1));
}

TEST_F(CopiesOfOthers, InListsThatCannotBeAreRefused) {
    const auto refusal = [&](const std::vector<Said>& words) {
        return message_of<NetworkError>([&] { (void)restored(words); });
    };
    expect_contains(refusal({{"abc", ""}}), "the list of copies of rank 0 is damaged");
    expect_contains(refusal({{"", keeps(-1)}}), "the list of copies of rank 2 is damaged");
    expect_contains(refusal({{keeps(10), ""}, nothing, {"garbage", ""}, {"", "abc"}}),
                    "what rank 2 restored is damaged");
    EXPECT_FALSE(fs::exists(folder.path("sent")));
}

namespace fs = std::filesystem;

/// Of a run in one process, which keeps its own copies.
class CopiesOfTheHistory : public test::ResumableRun {
  protected:
    void SetUp() override {
        TrainConfig first = config("run");
        first.checkpoint_every = 10;
        run_until_killed(first, 37);
        keep_history(path("run"), *network, 0);
        for (const long round : {20, 30})
            keep_manifest(path("run"), *network, 0, checkpoint_folder(path("run"), round));
    }
    fs::path file(const std::string& name) const { return fs::path(path("run")) / name; }
    RestoredFiles files{Stay::for_good};
    std::unique_ptr<Network> network = make_memory_network(test::agents, 1);
};

TEST_F(CopiesOfTheHistory, GiveBackARunWhoseFilesAreLost) {
    EXPECT_FALSE(restore_history(files, path("run"), *network));
    const std::vector<std::string> names{"config.ini",
                                         "history.json",
                                         "plan.json",
                                         "metrics.csv",
                                         "checkpoints/000000000020/manifest.json",
                                         "checkpoints/000000000030/manifest.json"};
    std::vector<std::string> before;
    for (const std::string& name : names) {
        before.push_back(read_file(file(name)));
        fs::remove(file(name));
    }
    EXPECT_TRUE(restore_history(files, path("run"), *network));
    for (std::size_t k = 0; k < names.size(); ++k)
        EXPECT_EQ(read_file(file(names[k])), before[k]) << names[k];
    const TrainResult rest = run(resumed(config("ignored"), path("run")));
    EXPECT_EQ(rest.resumed->round, 30);
    EXPECT_EQ(rest.rounds, test::rounds);
}

TEST_F(CopiesOfTheHistory, ForALookLeaveNothingBehind) {
    fs::remove(file("config.ini"));
    fs::remove(file("metrics.csv"));
    std::ofstream(file("plan.json")) << "another's";
    {
        RestoredFiles look(Stay::for_a_look);
        EXPECT_TRUE(restore_history(look, path("run"), *network));
        EXPECT_TRUE(fs::exists(file("config.ini")));
        EXPECT_NE(read_file(file("plan.json")), "another's");
    }
    EXPECT_FALSE(fs::exists(file("config.ini")));
    EXPECT_FALSE(fs::exists(file("metrics.csv")));
    EXPECT_EQ(read_file(file("plan.json")), "another's");
}

TEST_F(CopiesOfTheHistory, AreOfNoUseWhereThereAreNone) {
    fs::remove(file("checkpoints/run.copy"));
    fs::remove(file("history.json"));
    EXPECT_FALSE(restore_history(files, path("run"), *network));
    EXPECT_FALSE(fs::exists(file("history.json")));
}

TEST_F(CopiesOfTheHistory, ChooseNoOtherFiles) {
    for (const char* name : {"../other", "ledger.json", "plan-.json", "plan-1.json/..", ""}) {
        ByteWriter packed, all;
        packed.put(std::int64_t{9});
        packed.put_text(name);
        packed.put_text("anything");
        all.put_text(packed.take());
        fs::remove(file("history.json"));
        ByteWriter age;
        age.put(std::int64_t{9});
        age.put(std::int64_t{0});
        int call = 0;
        fuzz::ScriptedNetwork two(2, 0, "", [&, said = age.take(), copy = all.take()](int) {
            return std::vector<std::string>{"", call++ == 0 ? said : copy};
        });
        expect_contains(
            message_of<NetworkError>([&] { (void)restore_history(files, path("run"), two); }),
            "a copy of rank 0's files is damaged");
        EXPECT_FALSE(fs::exists(file("history.json"))) << name;
    }
}

}  // namespace
}  // namespace sotto
