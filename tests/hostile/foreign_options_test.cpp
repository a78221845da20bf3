// Rank 0 sends the options of a run that is resumed. It must not decide what protects others, whom
// they trust, or what they execute and write.

#include <fmt/format.h>

#include <string>

#include "hostile/stopped_run.hpp"

namespace sotto::test {
namespace {

struct ForeignOption {
    std::string option, value;
    std::string kept, sent;  // as the refusal quotes them
};

void expect_refused_by_agent_1(const Outcome& outcome, const ForeignOption& foreign) {
    EXPECT_EQ(outcome.exit_code, 5) << outcome.text();
    const auto errors = error_lines(outcome.err);
    ASSERT_EQ(errors.size(), 1U) << outcome.text();
    for (const std::string& part :
         {fmt::format("agent 1 takes no --{} from another rank", foreign.option),
          "has " + foreign.sent,
          "its own checkpoint " + foreign.kept})
        EXPECT_NE(errors.front().find(part), std::string::npos) << part << "\n" << errors.front();
}

void expect_refused_by_every_honest_agent(StoppedRun& run, const ForeignOption& foreign) {
    SCOPED_TRACE(foreign.option + " = " + foreign.value);
    run.set_at_rank_0(foreign.option, foreign.value);
    const Outcome outcome = run.resume();
    expect_refused_by_agent_1(outcome, foreign);
    EXPECT_TRUE(all_ended(run.folder().path()));
    EXPECT_FALSE(std::filesystem::exists(run.path("executed")));
    EXPECT_FALSE(std::filesystem::exists(run.path("run/views")));
    EXPECT_FALSE(std::filesystem::exists(run.path("run-of-rank-0/views")));
    run.set_nothing_at_rank_0();
}

const ForeignOption foreign_options[] = {
    {"epsilon", "300", "'3'", "'300'"},
    {"delta", "0.1", "'1e-5'", "'0.1'"},
    {"noise-seed", "7", "not given", "'7'"},
    {"adjacency", "record-zero-out", "'record'", "'record-zero-out'"},
    {"clip-norm", "50", "'0.5'", "'50'"},
    {"batch-size", "100", "'8'", "'100'"},
    {"participation", "cyclic:4", "'every'", "'cyclic:4'"},
    {"mechanism", "corn", "'pairs'", "'corn'"},
    {"mechanism", "none", "'pairs'", "'none'"},
    {"coalition-size", "0", "not given", "'0'"},
    {"seed-groups", "edges", "not given", "'edges'"},
    {"calibration", "paper", "'exact'", "'paper'"},
    {"record-view", "0,1,2", "not given", "'0,1,2'"},
    {"optimality-gap", "on", "not given", "'on'"},
    {"link-encryption", "off", "'on'", "'off'"},
    {"secure-sum", "on", "'off'", "'on'"},
    {"stall-abort", "0", "'300'", "'0'"},
    {"bootstrap", "distributed", "'central'", "'distributed'"},
    {"task", SOTTO_LEAVING_A_MARK, "'logistic'", "'" SOTTO_LEAVING_A_MARK "'"},
};

TEST(ForeignOptions, AreRefusedByEveryHonestAgent) {
    StoppedRun run({"--adjacency", "record", "--clip-norm", "0.5", "--epsilon", "3"});
    for (const ForeignOption& foreign : foreign_options)
        expect_refused_by_every_honest_agent(run, foreign);
}

TEST(ForeignOptions, OfNoiseAreRefusedWhereNoBudgetIsGiven) {
    StoppedRun run({"--adjacency", "record", "--clip-norm", "0.5"});
    expect_refused_by_every_honest_agent(run, {"noise-std", "1e-6", "not given", "'1e-6'"});
}

TEST(ForeignOptions, DoNotDeleteTheRosterOfOthers) {
    StoppedRun run({"--epsilon", "3"}, true);
    run.set_at_rank_0("roster", "");
    run.set_at_rank_0("identity", "");
    const Outcome outcome = run.resume();
    expect_refused_by_agent_1(outcome, {"identity", "", "'" + run.path("id%r") + "'", "not given"});
    EXPECT_TRUE(all_ended(run.folder().path()));
}

class OptionThatNoRunKeeps : public ::testing::TestWithParam<std::pair<std::string, std::string>> {
};

TEST_P(OptionThatNoRunKeeps, IsNotTakenFromRank0) {
    const auto& [option, value] = GetParam();
    StoppedRun run({"--epsilon", "3"});
    run.set_at_rank_0(option, value);
    const Outcome outcome = run.resume({"--dry-run"});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
    const auto errors = error_lines(outcome.err);
    ASSERT_EQ(errors.size(), 1U) << outcome.text();
    EXPECT_NE(errors.front().find("'" + option + "' is not an option that a run keeps"),
              std::string::npos)
        << errors.front();
    EXPECT_TRUE(all_ended(run.folder().path()));
}

INSTANTIATE_TEST_SUITE_P(OfRank0,
                         OptionThatNoRunKeeps,
                         ::testing::Values(std::pair("without", "2")),
                         [](const auto& test) { return fmt::format("case_{}", test.index); });

TEST(ForeignOptions, ChangeNothingWhereTheyAreTheSame) {
    const StoppedRun run({"--epsilon", "3"});
    const Outcome outcome = run.resume({"--dry-run"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_NE(outcome.out.find("resumed    after"), std::string::npos) << outcome.text();
}

}  // namespace
}  // namespace sotto::test
