#include "store/own_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "store/run_history.hpp"
#include "store/sent_mark.hpp"
#include "training/resume_fixtures.hpp"

namespace sotto {
namespace {

using test::agents;
using test::expect_contains;
using test::Json;
using test::message_of;
using test::read_json;
using test::resumed;
using test::run;
using test::run_until_killed;
using test::run_until_stopped;

namespace fs = std::filesystem;

Digest id(std::uint8_t number) {
    Digest digest{};
    digest.fill(number);
    return digest;
}

OwnEntry start(int phase, std::uint8_t session, long rounds_before = 0) {
    return {phase,
            id(session),
            rounds_before,
            {{"first_round", std::to_string(10 * phase)}, {"sensitivity", "0.2"}}};
}

OwnRecord two_phases() {
    OwnRecord record(id(1), 3);
    record.add(start(0, 1));
    record.add(start(1, 2, 14));
    return record;
}

OwnRecord read_back(const std::string& text, std::uint8_t of = 1, int agent = 3) {
    return OwnRecord::from_text(text, id(of), agent, "revealed.jsonl");
}

std::string damage(const std::string& text, std::uint8_t of = 1, int agent = 3) {
    return message_of<DataError>([&] { (void)read_back(text, of, agent); });
}

TEST(OwnRecord, ComesBackAndGrowsOnly) {
    const OwnRecord record = two_phases();
    OwnRecord back = read_back(record.text());
    EXPECT_EQ(back.text(), record.text());
    ASSERT_EQ(back.entries().size(), 2U);
    EXPECT_EQ(back.entries()[1].rounds_before, 14);
    EXPECT_EQ(back.entries()[1].facts, record.entries()[1].facts);
    EXPECT_TRUE(back.knows(1, id(2)));
    EXPECT_FALSE(back.knows(0, id(2)));
    back.add(start(1, 3, 5));
    EXPECT_TRUE(back.extends(record.text()));
    EXPECT_FALSE(record.extends(back.text()));
    EXPECT_THROW(back.add(start(0, 4)), DataError);
    OwnEntry other = start(1, 4);
    other.facts[1].second = "0.1";
    EXPECT_THROW(back.add(other), DataError);
}

TEST(OwnRecord, ThatWasChangedCutOrTakenFromAnotherIsRefused) {
    const std::string text = two_phases().text();
    const std::size_t line = text.find('\n') + 1;
    expect_contains(damage(text.substr(line)), "follows a missing line");
    expect_contains(damage(text.substr(0, text.size() - 1)), "cut short");
    expect_contains(damage(""), "it is empty");
    expect_contains(damage(text, 2), "of another run or agent");
    expect_contains(damage(text, 1, 4), "of another run or agent");
    for (const auto& [from, to] : {std::pair("0.2", "0.1"), {"14", "13"}, {"0202", "0203"}}) {
        std::string changed = text;
        changed.replace(changed.rfind(from), std::string(from).size(), to);
        expect_contains(damage(changed), "revealed.jsonl: it is damaged");
    }
    const std::string swapped = text.substr(line) + text.substr(0, line);
    EXPECT_THROW((void)read_back(swapped), DataError);
}

TEST(AgentsText, ListsAThousandAgentsAndRangesOfMore) {
    std::vector<int> numbers;
    for (int number = 0; number < 1000; ++number) numbers.push_back(number);
    EXPECT_EQ(agents_text(numbers), fmt::format("{}", fmt::join(numbers, ",")));
    numbers.push_back(1000);
    EXPECT_EQ(agents_text(numbers), "0-1000");
    numbers.erase(numbers.begin() + 1);
    numbers.push_back(1002);
    EXPECT_EQ(agents_text(numbers), "0,2-1000,1002");
    EXPECT_EQ(agents_text(std::vector<int>()), "");
}

class OwnPhases : public ::testing::Test {
  protected:
    SentMark mark(int phase, std::uint8_t session) const {
        return {folder.path(""), id(1), {3, 4}, phase, id(session)};
    }
    std::vector<OwnPhase> phases(const OwnRecord& record) const {
        return own_phases(
            folder.path(""), record, marks_of(folder.path(""), id(1), std::array{record.agent()}));
    }
    test::TemporaryFolder folder;
};

TEST_F(OwnPhases, CountWhatTheRecordSaysAndTheMarkOfTheLast) {
    mark(1, 2).set(27);
    const auto own = phases(two_phases());
    ASSERT_EQ(own.size(), 2U);
    EXPECT_EQ(own[0].rounds, 14);
    EXPECT_EQ(own[1].rounds, 17);
    EXPECT_EQ(own[1].sessions, std::vector{id(2)});
    // A mark of the phase before: nothing has left since.
    mark(0, 1).set(8);
    EXPECT_EQ(phases(two_phases())[0].rounds, 14);
    EXPECT_EQ(phases(two_phases())[1].rounds, 0);
}

TEST_F(OwnPhases, OfARecordThatIsOlderThanAMarkAreRefused) {
    mark(1, 2).set(27);
    OwnRecord old(id(1), 3);
    old.add(start(0, 1));
    expect_contains(message_of<DataError>([&] { (void)phases(old); }),
                    "agent 3 has sent rounds of phase 1 in a start that its record");
}

class RecordsOfARun : public test::ResumableRun {
  protected:
    fs::path record_of(const std::string& name, int agent = 2) const {
        return OwnRecord::file_in(path(name), agent);
    }
    TrainConfig killed(const std::string& name) const {
        TrainConfig first = config(name);
        first.checkpoint_every = 10;
        run_until_killed(first, 17);
        run_until_killed(resumed(first, path(name)), 25);
        return first;
    }
};

TEST_F(RecordsOfARun, SayEveryStartBeforeItsFirstMessage) {
    const TrainConfig first = killed("run");
    const RunHistory history = read_history(path("run"));
    for (int agent = 0; agent < agents; ++agent) {
        const OwnRecord record = OwnRecord::read(path("run"), history.run, agent);
        ASSERT_EQ(record.entries().size(), 2U);
        EXPECT_EQ(record.entries()[0].session, history.run);
        EXPECT_EQ(record.entries()[1].session, history.phases[1].sessions.front());
        EXPECT_EQ(record.entries()[1].rounds_before, 17);
        for (int k = 0; k < 2; ++k)
            EXPECT_EQ(record.entries()[static_cast<std::size_t>(k)].facts,
                      FactsOfPhase(history.phases[static_cast<std::size_t>(k)],
                                   first.plan.adjacency,
                                   first.plan.delta)
                          .of(agent));
        EXPECT_EQ(own_phases(
                      path("run"), record, marks_of(path("run"), history.run, std::array{agent}))[1]
                      .rounds,
                  15);
        // From the phase's first checkpoint on it is in there, too.
        EXPECT_EQ(
            read_checkpoint(checkpoints_in(path("run") + "/checkpoints/000000000010-000001"), agent)
                .checkpoint.revealed,
            record.text());
    }
}

TEST_F(RecordsOfARun, AreNeededToGoOn) {
    for (const std::string change : {"lost", "older", "damaged"}) {
        const TrainConfig first = killed(change);
        const std::string text = read_file(record_of(change));
        if (change == "lost") fs::remove(record_of(change));
        if (change == "older")
            std::ofstream(record_of(change)) << text.substr(0, text.find('\n') + 1);
        if (change == "damaged") std::ofstream(record_of(change)) << text.substr(10);
        expect_contains(
            message_of<DataError>([&] { (void)run(resumed(first, path(change))); }),
            change == "lost" ? "only it says what agent 2 has revealed"
            : change == "older"
                ? "agent 2's checkpoint of round 20 says that the agent has revealed more"
                : "it is damaged");
    }
}

TEST_F(RecordsOfARun, GoOnWithTheSameKeysInTheSamePhase) {
    TrainConfig first = config("run");
    give_identities(first);
    (void)run_until_stopped(first, 20);
    EXPECT_TRUE(run(resumed(first, path("run"))).resumed->same_keys);
    const RunHistory history = read_history(path("run"));
    const OwnRecord record = OwnRecord::read(path("run"), history.run, 2);
    ASSERT_EQ(record.entries().size(), 2U);
    EXPECT_EQ(record.entries()[1].phase, 0);
    ASSERT_EQ(history.phases.size(), 1U);
    EXPECT_EQ(history.phases[0].sessions.size(), 2U);
    EXPECT_EQ(record.entries()[1].session, history.phases[0].sessions[1]);
}

/// What another rank says that its agents have sent.
TEST_F(RecordsOfARun, ThatAreOldAreFoundOutByWhoSentWithTheAgent) {
    (void)killed("run");
    const RunHistory history = read_history(path("run"));
    const auto network = make_memory_network(agents, 1);
    std::vector<std::pair<int, std::vector<OwnPhase>>> local;
    for (int agent = 0; agent < agents; ++agent)
        local.emplace_back(agent,
                           own_phases(path("run"),
                                      OwnRecord::read(path("run"), history.run, agent),
                                      marks_of(path("run"), history.run, std::array{agent})));
    EXPECT_NO_THROW(require_newest(*network, local, history));
    local[2].second.pop_back();
    expect_contains(message_of<DataError>([&] { require_newest(*network, local, history); }),
                    "agent 2: its record has no phase 1, in which agent 0 has sent 15 rounds");
    // Started, and nothing sent: whoever was killed before it wrote its own has missed nothing.
    for (auto& [agent, own] : local)
        if (agent != 2) own.back().rounds = 0;
    EXPECT_NO_THROW(require_newest(*network, local, history));
}

}  // namespace
}  // namespace sotto
