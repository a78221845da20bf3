#include "training/train_job.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "config/run_fixtures.hpp"
#include "core/temporary_folder.hpp"
#include "fuzz/support.hpp"
#include "net/memory_network.hpp"
#include "options/option_parser.hpp"
#include "options/train_options.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

class TrainJob : public ::testing::Test {
  protected:
    [[nodiscard]] TrainConfig config() const {
        TrainConfig result = test::quadratic_config(4, "decor", 5);
        result.graph.topology.topology = Topology::complete;
        result.run_directory = folder_.path("run");
        return result;
    }
    [[nodiscard]] int train(const TrainConfig& config) const {
        const auto network = make_memory_network(4, 1);
        GeneralOptions quiet;
        quiet.quiet = true;
        return train_on(*network, quiet, config);
    }
    [[nodiscard]] test::Json ledger() const {
        return test::read_json(std::filesystem::path(folder_.path("run")) / "ledger.json");
    }
    test::TemporaryFolder folder_;
};

TEST_F(TrainJob, IsOfAllAgents) {
    EXPECT_EQ(train(config()), 0);
    EXPECT_EQ(ledger().at("phases")[0].at("agents_gone"), test::Json::array());
}

TEST_F(TrainJob, LetsSparesWait) {
    TrainConfig waiting = config();
    waiting.spares = {1, 3};
    EXPECT_EQ(train(waiting), 0);
    EXPECT_EQ(ledger().at("phases")[0].at("agents_gone"), (test::Json{1, 3}));
}

TEST_F(TrainJob, GoesOnWithSparesThatAreAskedBeforeTheFirstRound) {
    TrainConfig waiting = config();
    waiting.plan.rounds = 100'000;
    waiting.spares = {1, 3};
    waiting.join_file = folder_.path("join%r");
    (void)folder_.write("join1", "");
    (void)folder_.write("join3", "");
    EXPECT_EQ(train(waiting), 0);
    const test::Json phases = ledger().at("phases");
    ASSERT_EQ(phases.size(), 2U);
    EXPECT_EQ(phases[1].at("agents_gone"), test::Json::array());
}

TEST_F(TrainJob, RefusesSparesThatDoNotExist) {
    TrainConfig wrong = config();
    wrong.spares = {4};
    EXPECT_THROW((void)train(wrong), ConfigError);
}

TrainSetup read(const std::vector<std::string>& arguments, bool alone = true) {
    const auto network = make_memory_network(1, 1);
    return read_train_setup(*network, arguments, alone, with_general(train_option_set().written()));
}

TEST(TrainSetup, IsWhatWasAskedFor) {
    const TrainSetup setup = read({"--agents", "5", "--rounds", "7", "--quiet"});
    EXPECT_EQ(setup.config.graph.topology.agents, 5);
    EXPECT_EQ(setup.config.plan.rounds, 7);
    EXPECT_TRUE(setup.general.quiet);
    EXPECT_FALSE(setup.config.resume);
    EXPECT_EQ(agents_alone(setup.config), 5);
}

TEST(TrainSetup, GivesEveryRankAnAgent) {
    EXPECT_EQ(read({"--rounds", "7"}, false).config.graph.topology.agents, 1);
    EXPECT_EQ(read({"--rounds", "7"}, false).config.threads, 1);
}

TEST(TrainSetup, OfARunThatIsTakenUpHasItsOptions) {
    const test::TemporaryFolder folder;
    expect_contains(message_of<ConfigError>([&] {
                        (void)read({"--resume", folder.path("none")});
                    }),
                    "none");
}

TEST(TrainSetup, OfARunThatIsTakenUpMayRepeatItsOptions) {
    const test::TemporaryFolder folder;
    const std::string run = folder.path("run");
    const std::vector<std::string> of_run{
        "--agents", "4", "--task", "quadratic", "--rounds", "9", "--eval-every", "3"};
    std::vector<std::string> words = of_run;
    words.insert(words.end(), {"--run-directory", run, "--quiet"});
    const TrainSetup setup = read(words);
    const auto network = make_memory_network(4, 1);
    ASSERT_EQ(train_on(*network, setup.general, setup.config), 0);
    words = of_run;
    words.insert(words.end(), {"--resume", run});
    EXPECT_EQ(read(words).config.plan.rounds, 9);
    // Repeating what rank 0's config.ini says makes it nobody's own word (require_own_options).
    EXPECT_EQ(read(words).config.resume->given, (std::vector<std::string>{"eval-every", "resume"}));
    words.at(5) = "9.0";  // as Python writes it
    EXPECT_EQ(read(words).config.plan.rounds, 9);
    words.at(5) = "10";
    expect_contains(message_of<ConfigError>([&] { (void)read(words); }),
                    "--rounds: cannot be given with --resume");
}

/// Agents 0, 2 and 5 of six.
const Membership some{6, {0, 2, 5}};

TEST(LeaveRequests, AreFilesOfAgents) {
    const test::TemporaryFolder folder;
    const auto network = make_memory_network(3, 1);
    watch_for_leaving();
    LeaveRequests nobody(folder.path("leave%r"));
    EXPECT_TRUE(nobody.of(*network, some).empty());
    (void)folder.write("leave5", "");
    (void)folder.write("leave1", "");  // is not there
    LeaveRequests requests(folder.path("leave%r"));
    EXPECT_EQ(requests.of(*network, some), (std::vector{5}));
    EXPECT_EQ(agree_on_change(*network, some, {}, {{5}, {}}, false).leaving, (std::vector{5}));
}

TEST(LeaveRequests, AreOfAllAgentsOfAProcessBySignal) {
    const auto network = make_memory_network(3, 1);
    watch_for_leaving();
    LeaveRequests requests("");
    EXPECT_TRUE(requests.of(*network, some).empty());
    std::raise(SIGUSR2);
    EXPECT_EQ(requests.of(*network, some), some.numbers);
    watch_for_leaving();
    std::signal(SIGUSR2, SIG_DFL);
}

TEST(LeaveRequests, StopTheRunWhereEverybodyLeavesOrItIsStopped) {
    const auto network = make_memory_network(3, 1);
    EXPECT_TRUE(agree_on_change(*network, some, {}, {{0, 2, 5}, {}}, false).none());
    EXPECT_TRUE(agree_on_change(*network, some, {}, {{5}, {}}, true).none());
    EXPECT_TRUE(agree_on_change(*network, some, {}, {}, false).none());
    EXPECT_THROW((void)agree_on_change(*network, some, {}, {{1}, {}}, false), NetworkError);
}

TEST(JoinRequests, AreFilesOfSparesThatWait) {
    const test::TemporaryFolder folder;
    const auto network = make_memory_network(3, 1);
    (void)folder.write("join3", "");
    (void)folder.write("join2", "");  // takes part already
    JoinRequests requests(folder.path("join%r"), {1, 3});
    EXPECT_EQ(requests.of(*network), (std::vector{3}));
    const MemberChange change = agree_on_change(*network, some, {1, 3}, {{5}, {3}}, false);
    EXPECT_EQ(change.joining, (std::vector{3}));
    EXPECT_EQ(change.leaving, (std::vector{5}));
}

TEST(JoinRequests, OfWhoDoesNotWaitAreRefused) {
    const auto network = make_memory_network(3, 1);
    for (const std::vector<int>& asked : {std::vector{4}, std::vector{2}, std::vector{3, 1}})
        EXPECT_THROW((void)agree_on_change(*network, some, {1, 3}, {{}, asked}, false),
                     NetworkError);
}

TrainConfig with_spares(std::vector<int> spares) {
    TrainConfig config;
    config.spares = std::move(spares);
    return config;
}

/// Rank 1 of 4, to which rank 0 says who waits and who takes part.
fuzz::ScriptedNetwork told(const std::vector<int>& waiting, const std::vector<int>& members) {
    ByteWriter writer;
    put_numbers(writer, waiting);
    put_numbers(writer, members);
    return {4, 1, writer.take(), {}};
}

TEST(Attendance, KnowsWhoWaitsByNumberAndPlace) {
    const auto network = make_memory_network(5, 1);
    Attendance there(*network, with_spares({1, 4}));
    EXPECT_EQ(there.waiting(), (std::vector{1, 4}));
    EXPECT_EQ(there.waiting_places(), (std::vector{1, 4}));
    there.change({{2}, {4}});
    EXPECT_EQ(there.waiting(), (std::vector{1}));
    // 0, 1, 3 and 4 are left.
    EXPECT_EQ(there.waiting_places(), (std::vector{1}));
    EXPECT_EQ(there.places_of({3, 4}, {}), (std::vector{2, 3}));
}

TEST(Attendance, OfARunWithoutSparesIsEverybodys) {
    const auto network = make_memory_network(5, 1);
    const Attendance there(*network, {});
    EXPECT_TRUE(there.waiting().empty());
    EXPECT_EQ(there.places_of({4}, {5, {0, 2, 4}}), (std::vector{2}));
}

TEST(Attendance, MakesNobodyWaitByRank0sWordAlone) {
    auto honest = told({1, 3}, {0, 2});
    EXPECT_EQ(Attendance(honest, with_spares({1, 3})).waiting(), (std::vector{1, 3}));
    auto others = told({1, 2}, {0, 3});
    EXPECT_THROW(Attendance(others, with_spares({1, 3})), ConfigError);
    // Taken up with options of rank 0's config.ini: agent 1 was not given --spares itself.
    TrainConfig resumed = with_spares({1, 3});
    resumed.resume = ResumeConfig{"run", {}};
    auto network = told({1, 3}, {0, 2});
    EXPECT_THROW(Attendance(network, resumed), NetworkError);
    resumed.resume->given = {"spares"};
    EXPECT_NO_THROW(Attendance(network, resumed));
}

TEST(Attendance, TakesNoWordThatDoesNotNameEveryRank) {
    for (const auto& [waiting, members] :
         std::vector<std::pair<std::vector<int>, std::vector<int>>>{{{1, 3}, {0}},
                                                                    {{1, 3}, {0, 2, 4}},
                                                                    {{1, 3}, {}},
                                                                    {{1, 3}, {1, 3}},
                                                                    {{3, 1}, {0, 2}}}) {
        auto network = told(waiting, members);
        EXPECT_THROW(Attendance(network, with_spares({1, 3})), NetworkError);
    }
}

/// What rank 0 tells of an end.
std::string word(const PhaseEnd& end) {
    ByteWriter writer;
    writer.put(std::int32_t{end.exit_code});
    writer.put_text(end.run_directory);
    put_numbers(writer, end.change.leaving);
    put_numbers(writer, end.change.joining);
    return writer.take();
}

/// Rank 1 of 4, to which rank 0 says this.
fuzz::ScriptedNetwork told(const std::string& said) { return {4, 1, said, {}}; }

TEST(PhaseEnd, IsToldToSpares) {
    auto network = told(word({0, {{2}, {3}}, {}, "runs/a"}));
    const PhaseEnd end = share_end(network, std::nullopt, {1, 3});
    EXPECT_EQ(end.change.leaving, (std::vector{2}));
    EXPECT_EQ(end.change.joining, (std::vector{3}));
    EXPECT_EQ(end.run_directory, "runs/a");
}

TEST(PhaseEnd, OfAMemberIsItsOwnWhateverRank0TellsSpares) {
    // Another directory would hold no checkpoint of this agent: it could be made to begin anew.
    auto network = told(word({0, {{}, {1}}, {}, "elsewhere"}));
    const PhaseEnd own{0, {{}, {3}}, {4, {0, 1, 2}}, "run"};
    const PhaseEnd end = share_end(network, own, {3});
    EXPECT_EQ(end.run_directory, "run");
    EXPECT_EQ(end.change.joining, (std::vector{3}));
}

TEST(PhaseEnd, LetsOnlyThoseJoinThatWait) {
    auto another = told(word({0, {{}, {2}}, {}, "run"}));
    EXPECT_THROW((void)share_end(another, std::nullopt, {1, 3}), NetworkError);
    auto cut = told(word({0, {{}, {3}}, {}, "run"}).substr(0, 9));
    EXPECT_THROW((void)share_end(cut, std::nullopt, {1, 3}), NetworkError);
}

TEST(PhaseEnd, InOneProcessIsWhatItKnows) {
    const auto network = make_memory_network(3, 1);
    EXPECT_EQ(share_end(*network, PhaseEnd{8}, {}).exit_code, 8);
}

}  // namespace
}  // namespace sotto
