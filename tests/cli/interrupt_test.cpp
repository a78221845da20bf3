#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

struct Interruption {
    std::string name;
    int ranks;
    int signal;
};

std::ostream& operator<<(std::ostream& stream, const Interruption& interruption) {
    return stream << interruption.name;
}

class LongTraining : public testing::TestWithParam<Interruption> {};

/// Rows after the header and the row of round 0: rounds are under way.
bool rounds_run(const std::string& metrics) { return lines_of(content_of(metrics)).size() > 2; }

TEST_P(LongTraining, EndsSoonAndLeavesAnInterruptedLedger) {
    const int ranks = GetParam().ranks;
    const TempDir directory;
    const std::string data = directory.write("data.svm", small_data(60));
    const std::string run = directory / "run";
    constexpr long planned = 100'000'000'000;
    Arguments arguments{"train",
                        "--data",
                        data,
                        "--rounds",
                        std::to_string(planned),
                        "--eval-every",
                        "100",
                        "--run-directory",
                        run};
    if (ranks == one_process) arguments.insert(arguments.end(), {"--agents", "3"});
    const LongerGrace grace;
    Process process(sotto_command(ranks, arguments), directory.path());
    ASSERT_TRUE(happens([&] { return rounds_run(run + "/metrics.csv"); })) << "it did not start";
    EXPECT_EQ(json_of(run + "/ledger.json").at("status"), "running");

    process.signal_group(GetParam().signal);
    const Outcome outcome = process.wait();
    EXPECT_FALSE(outcome.timed_out) << outcome.text();
    EXPECT_LT(outcome.seconds, 30);
    EXPECT_NE(outcome.exit_code, 0) << outcome.text();
    EXPECT_TRUE(all_ended(directory.path())) << "a process is left";

    const Json ledger = json_of(run + "/ledger.json");
    EXPECT_EQ(ledger.at("rounds").at("planned"), planned);
    EXPECT_EQ(ledger.at("status"), "interrupted") << outcome.text();
    const long completed = ledger.at("rounds").at("completed");
    EXPECT_GT(completed, 0);
    EXPECT_LT(completed, planned);
    EXPECT_EQ(ledger.at("rounds").at("accounted"), completed);
    EXPECT_LT(ledger.at("headline").at("epsilon").get<double>(), 10);

    const Json summary = json_of(run + "/summary.json");
    EXPECT_EQ(summary.at("interrupted"), true);
    EXPECT_EQ(summary.at("rounds"), completed);
    const auto rows = lines_of(content_of(run + "/metrics.csv"));
    EXPECT_TRUE(rows.back().starts_with(std::to_string(completed) + ",")) << rows.back();
    for (int u = 0; u < (ranks == one_process ? 3 : ranks); ++u)
        EXPECT_TRUE(std::filesystem::exists(fmt::format("{}/agents/{}/model.npy", run, u)));
    EXPECT_NE(outcome.out.find("INTERRUPTED"), std::string::npos) << outcome.text();
}

INSTANTIATE_TEST_SUITE_P(Interrupted,
                         LongTraining,
                         testing::Values(Interruption{"by_interrupt_alone", one_process, SIGINT},
                                         Interruption{"by_termination_alone", one_process, SIGTERM},
                                         Interruption{"by_interrupt_with_1_rank", 1, SIGINT},
                                         Interruption{"by_interrupt_with_3_ranks", 3, SIGINT},
                                         Interruption{"by_interrupt_with_5_ranks", 5, SIGINT},
                                         Interruption{"by_termination_with_3_ranks", 3, SIGTERM}),
                         [](const auto& instance) { return instance.param.name; });

TEST(ShortTraining, SaysBeforeItsFirstRoundThatPlainMpirunWouldKillIt) {
    const TempDir directory;
    Arguments one_round = short_training({});
    *(std::ranges::find(one_round, "--rounds") + 1) = "1";
    ::setenv("OMPI_MCA_odls_base_sigkill_timeout", "0", 1);  // nothing is fast enough
    const Outcome outcome = run_sotto(directory, 2, one_round);
    ::unsetenv("OMPI_MCA_odls_base_sigkill_timeout");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    const auto lines = error_lines(outcome.err);
    ASSERT_EQ(lines.size(), 1U) << outcome.text();
    EXPECT_NE(lines[0].find("Ctrl-C would lose the rounds"), std::string::npos) << lines[0];
}

}  // namespace
}  // namespace sotto::test
