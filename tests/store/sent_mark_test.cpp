#include "store/sent_mark.hpp"

#include <optional>

#include "training/resume_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::resumed;
using test::run;
using test::run_until_killed;

namespace fs = std::filesystem;

class SentRoundsOfARun : public test::ResumableRun {};

TEST_F(SentRoundsOfARun, CountsUpToTheMarkOnDiskWhereTheHostWentDownToo) {
    const auto killed = [&](const std::string& name) {
        TrainConfig first = config(name);
        first.checkpoint_every = 10;
        run_until_killed(first, 37);
        return first;
    };
    // Another start of the host: what was not flushed may be of before.
    const TrainConfig elsewhere = killed("elsewhere");
    const fs::path mark = path("elsewhere") + "/sent/0";
    std::string text = read_file(mark);
    const auto host = text.find("host ") + 5;
    text.replace(host, text.find('\n', host) - host, "another");
    std::ofstream(mark) << text;
    const TrainResult rest = run(resumed(elsewhere, path("elsewhere")));
    EXPECT_GE(rest.resumed->repeated, 7);
    EXPECT_LE(rest.resumed->repeated, 10);  // no further than the next checkpoint
    EXPECT_NEAR(rest.epsilon, elsewhere.plan.epsilon, 1e-6);
    // A mark of another phase, or none, says nothing exact.
    const TrainConfig lost = killed("lost");
    fs::remove(path("lost") + "/sent/0.now");
    EXPECT_EQ(run(resumed(lost, path("lost"))).resumed->repeated, rest.resumed->repeated);
    const TrainConfig gone = killed("gone");
    fs::remove(path("gone") + "/sent/0");
    expect_contains(message_of<DataError>([&] { (void)run(resumed(gone, path("gone"))); }),
                    "mark of agent 0's sent rounds is missing");
    const TrainConfig damaged = killed("damaged");
    std::ofstream(path("damaged") + "/sent/0") << "sotto-sent 2\nrun";
    expect_contains(message_of<DataError>([&] { (void)run(resumed(damaged, path("damaged"))); }),
                    "damaged");
}

/// Of a run of agents 2 and 5.
class SentMarks : public ::testing::Test {
  protected:
    SentMarks() { run.fill(9); }
    std::optional<long> sent(int phase = 0, const std::vector<int>& numbers = {2, 5}) const {
        const auto network = make_memory_network(2, 1);
        return sent_before(
            folder.path(""), *network, {run, 25, phase, numbers, going_on_, until_, {2, 5}});
    }
    SentMark mark(int phase = 0) const { return {folder.path(""), run, {2, 5}, phase, run}; }
    test::TemporaryFolder folder;
    Digest run{};
    /// Those that go on; others whose mark is lost count as `until`.
    std::vector<int> going_on_{2, 3, 5, 7};
    long until_ = 0;
};

TEST_F(SentMarks, CountEveryRoundThatMayHaveLeft) {
    SentMark marked = mark();
    for (long round = 0; round < 25; ++round) {
        marked.before_round(round, 25);
        EXPECT_EQ(sent(), round + 1);
    }
    marked.set(25);
    EXPECT_EQ(sent(), 25);
}

TEST_F(SentMarks, GoNoFurtherThanTheLimitEvenWithoutTheExactOne) {
    SentMark marked = mark();
    for (long round = 0; round < 12; ++round) marked.before_round(round, 20);
    fs::remove(folder.path("sent/2.now"));
    EXPECT_GE(sent(), 12);
    EXPECT_LE(sent(), 20);
}

TEST_F(SentMarks, AreOfOnePhaseOfOneRun) {
    EXPECT_EQ(sent(0, {}), std::nullopt);
    mark(1).set(8);
    EXPECT_EQ(sent(1), 8);
    EXPECT_EQ(sent(2), std::nullopt);
    // An old disk of rank 0 forgets a phase that an agent remembers.
    expect_contains(message_of<DataError>([&] { (void)sent(0); }),
                    "agent 2 has sent rounds of phase 1 of the run, but rank 0's history.json ends "
                    "with phase 0");
    run.fill(8);
    expect_contains(message_of<DataError>([&] { (void)sent(1); }), "it is of another run");
}

TEST_F(SentMarks, SayWhetherAnythingMayHaveLeft) {
    EXPECT_FALSE(may_have_sent(folder.path("")));
    mark().set(0);
    EXPECT_FALSE(may_have_sent(folder.path("")));
    mark().before_round(0, 25);
    EXPECT_TRUE(may_have_sent(folder.path("")));
    mark().set(0);
    mark(1).set(0);
    EXPECT_TRUE(may_have_sent(folder.path(""))) << "a later phase";
    std::ofstream(folder.path("sent/2")) << "sotto-sent";
    EXPECT_TRUE(may_have_sent(folder.path(""))) << "nobody knows";
    forget_marks(folder.path(""));
    EXPECT_FALSE(may_have_sent(folder.path("")));
    EXPECT_TRUE(fs::is_empty(folder.path("sent")));
}

TEST_F(SentMarks, MustBeThereOfEveryAgent) {
    mark().set(3);
    EXPECT_EQ(sent(0, {2}), 3);
    expect_contains(message_of<DataError>([&] {
                        (void)sent(0, {2, 3});
                    }),
                    "the mark of agent 3's sent rounds is missing");
    (void)folder.write("sent/2", "sotto-sent 1\n");
    expect_contains(message_of<DataError>([&] { (void)sent(); }), "it has another format");
}

TEST_F(SentMarks, AreOfRoundsThatTheRunHas) {
    mark().set(25);
    EXPECT_EQ(sent(), 25);
    mark().set(26);
    expect_contains(message_of<DataError>([&] { (void)sent(); }),
                    "the marks of rank 0: round 26 is not allowed (the run has 25 rounds)");
}

TEST_F(SentMarks, AreNotExactWhereTheExactOneIsDamaged) {
    SentMark marked = mark();
    for (long round = 0; round < 12; ++round) marked.before_round(round, 20);
    const std::string exact = read_file(folder.path("sent/2.now"));
    std::ofstream(folder.path("sent/2.now"), std::ios::binary)
        << exact.substr(0, 8) << std::string(8, '\xff');
    EXPECT_GE(sent(), 12);
}

TEST_F(SentMarks, OfAgentsThatLeaveMayBeLost) {
    mark().set(4);
    expect_contains(message_of<DataError>([&] {
                        (void)sent(0, {2, 5, 7});
                    }),
                    "mark of agent 7's sent rounds is missing");
    going_on_ = {2, 5};
    for (const long until : {3, 10}) {
        until_ = until;
        EXPECT_EQ(sent(0, {2, 5, 7}), std::max(4L, until));
        EXPECT_EQ(sent(0, {2, 5}), 4);
    }
}

TEST_F(SentMarks, AreWrittenAgainWhereNoneIsLeft) {
    RestoredFiles files(Stay::for_good);
    mark().set(4);
    restore_mark(files, folder.path(""), run, 5, {{}, 0, run, 9});  // has one
    EXPECT_EQ(sent(), 4);
    restore_mark(files, folder.path(""), run, 7, {{}, 0, run, 9});
    EXPECT_EQ(sent(0, {2, 5, 7}), 9);
    // It is nobody's who could say less.
    std::ofstream(folder.path("sent/7.now"), std::ios::binary) << std::string(16, '\0');
    EXPECT_EQ(sent(0, {2, 5, 7}), 9);
    Digest other{};
    expect_contains(message_of<DataError>([&] {
                        restore_mark(files, folder.path(""), other, 8, {{}, 0, run, 9});
                    }),
                    "it is of another run");
}

}  // namespace
}  // namespace sotto
