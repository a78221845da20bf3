// Rounds that go on without messages that are late or missing, as a user runs them.

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <sstream>

#include "program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

class LateRounds : public ::testing::Test {
  protected:
    [[nodiscard]] Arguments training(const Arguments& more, const std::string& run = "run") const {
        Arguments arguments{"train",
                            "--data",
                            data_,
                            "--epsilon",
                            "4",
                            "--adjacency",
                            "agent",
                            "--rounds",
                            "200",
                            "--batch-size",
                            "all",
                            "--quiet",
                            "--seed",
                            "3",
                            "--noise-seed",
                            "5",
                            "--topology",
                            "ring",
                            "--run-directory",
                            run};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }
    [[nodiscard]] Json summary(const std::string& run = "run") const {
        return json_of(directory_ / (run + "/summary.json"));
    }
    TempDir directory_;
    std::string data_ = directory_.write("data.svm", small_data(4000));
};

std::int64_t sum_of(const Json& summary, const std::string& figure) {
    std::int64_t sum = 0;
    for (const Json& rank : summary.at("ranks"))
        if (rank.contains("messages")) sum += rank.at("messages").at(figure).get<std::int64_t>();
    return sum;
}

TEST_F(LateRounds, AreTheSameRoundsWhereNobodyIsLate) {
    for (const auto& [run, more] :
         {std::pair<std::string, Arguments>{"without", {}}, {"with", {"--round-deadline", "60"}}}) {
        const Outcome outcome = run_sotto(directory_, 4, training(more, run));
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    }
    for (int agent = 0; agent < 4; ++agent) {
        const std::string model = fmt::format("/agents/{}/model.npy", agent);
        EXPECT_EQ(content_of(directory_ / ("with" + model)),
                  content_of(directory_ / ("without" + model)));
    }
    EXPECT_EQ(sum_of(summary("with"), "missing"), 0);
    EXPECT_EQ(sum_of(summary("with"), "expected"), 4 * 2 * 200);
}

// Without a deadline all know who is silent: the models are those of one process.
TEST_F(LateRounds, SilentAgentsAreLeftOutWithoutADeadlineToo) {
    for (const Arguments& messages : std::vector<Arguments>{
             {"--precision", "float32"},
             {"--precision", "float64", "--gossip-steps", "3", "--gossip", "chebyshev"}}) {
        Arguments more{"--faults", "silent:0.5"};
        more.insert(more.end(), messages.begin(), messages.end());
        const Outcome several = run_sotto(directory_, 4, training(more, "several"));
        ASSERT_EQ(several.exit_code, 0) << several.text();
        more.insert(more.end(), {"--agents", "4"});
        const Outcome one = run_sotto(directory_, 1, training(more, "one"));
        ASSERT_EQ(one.exit_code, 0) << one.text();
        for (int agent = 0; agent < 4; ++agent) {
            const std::string model = fmt::format("/agents/{}/model.npy", agent);
            EXPECT_EQ(content_of(directory_ / ("several" + model)),
                      content_of(directory_ / ("one" + model)))
                << agent << ", " << fmt::format("{}", fmt::join(messages, " "));
        }
        std::filesystem::remove_all(directory_ / "several");
        std::filesystem::remove_all(directory_ / "one");
    }
}

TEST_F(LateRounds, GoOnWithoutSilentAndSlowAgents) {
    const Outcome undisturbed = run_sotto(directory_, 4, training({}, "undisturbed"));
    ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.text();
    const Outcome outcome = run_sotto(
        directory_, 4, training({"--round-deadline", "0.02", "--faults", "silent:0.2,slow:2:500"}));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const Json reached = summary(), wanted = summary("undisturbed");
    EXPECT_EQ(reached.at("rounds"), 200);
    EXPECT_EQ(reached.at("interrupted"), false);
    EXPECT_EQ(reached.at("epsilon"), wanted.at("epsilon"));
    EXPECT_GT(reached.at("test_accuracy_mean_model").get<double>(),
              wanted.at("test_accuracy_mean_model").get<double>() - 0.05);
    const long skipped = reached.at("ranks").at(2).at("rounds_skipped");
    EXPECT_GT(skipped, 20);
    // Most of their noise comes with the next message.
    EXPECT_LT(reached.at("ranks").at(2).at("rounds_without_noise").get<long>(), skipped / 2);
    const auto missing = static_cast<double>(sum_of(reached, "missing"));
    EXPECT_GT(missing, 0.15 * static_cast<double>(sum_of(reached, "expected")));
    EXPECT_NE(content_of(directory_ / "run/ledger.json").find("which messages come too late"),
              std::string::npos);
}

TEST_F(LateRounds, CountWhatComesLaterWhereAgentsMayBeApart) {
    const Arguments quiet{"--mechanism", "none"};
    const Outcome undisturbed = run_sotto(directory_, 4, training(quiet, "undisturbed"));
    ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.text();
    Arguments apart = quiet;
    apart.insert(apart.end(), {"--round-deadline", "5", "--max-lag", "2", "--eval-every", "20"});
    const Outcome outcome = run_sotto(directory_, 4, training(apart));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const Json reached = summary(), wanted = summary("undisturbed");
    EXPECT_NEAR(reached.at("test_loss_mean_model").get<double>(),
                wanted.at("test_loss_mean_model").get<double>(),
                0.01);
    // Within this deadline hardly anything is lost, and after each meeting everything is there.
    const auto missing = static_cast<double>(sum_of(reached, "missing"));
    const auto used_late = static_cast<double>(sum_of(reached, "used_late"));
    EXPECT_GT(missing, 0);
    EXPECT_LE(used_late, missing);
    EXPECT_GE(used_late, 0.95 * missing);
}

TEST_F(LateRounds, AreAudited) {
    const Outcome outcome = run_sotto(directory_,
                                      4,
                                      {"audit",
                                       "--topology",
                                       "complete",
                                       "--rounds",
                                       "15",
                                       "--round-deadline",
                                       "0.2",
                                       "--faults",
                                       "silent:0.3,slow:2:30",
                                       "--view",
                                       "all-messages:3",
                                       "--hypothesis",
                                       "constant",
                                       "--json",
                                       "audit.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const Json audit = json_of(directory_ / "audit.json");
    EXPECT_EQ(audit.at("consistent"), true);
    EXPECT_EQ(audit.at("noise_as_accounted"), true);
    EXPECT_GT(audit.at("messages_missed").get<int>(), 5);
    const Json& constant = audit.at("hypotheses").at(0);
    EXPECT_LE(constant.at("mu_of_run").get<double>(), constant.at("mu_theory").get<double>());
    EXPECT_LE(constant.at("mu_lower").get<double>(), constant.at("mu_of_run").get<double>());
    EXPECT_GE(constant.at("mu_upper").get<double>(), constant.at("mu_of_run").get<double>());
}

TEST_F(LateRounds, MeasureADeadlineAndSayIt) {
    Arguments arguments = training({"--round-deadline", "auto"});
    std::erase(arguments, "--quiet");
    const Outcome outcome = run_sotto(directory_, 3, arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_NE(outcome.err.find("rounds go on after"), std::string::npos) << outcome.text();
    EXPECT_NE(outcome.text().find("\nlate       rounds went on without "), std::string::npos)
        << outcome.text();
}

TEST_F(LateRounds, AreTriedOutAsThePageSays) {
    const std::string page = content_of(SOTTO_SOURCE_DIR "/docs/cluster.md");
    const std::string start = "mpirun -n 4 --oversubscribe sotto ";
    const std::size_t at = page.find(start + "train --adjacency");
    ASSERT_NE(at, std::string::npos);
    std::istringstream words(
        page.substr(at + start.size(), page.find('\n', at) - at - start.size()));
    Arguments arguments{std::istream_iterator<std::string>(words), {}};
    arguments.insert(arguments.end(), {"--run-directory", "run"});
    const Outcome outcome = run_sotto(directory_, 4, arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_GT(summary().at("test_accuracy_mean_model").get<double>(),
              summary().at("constant_accuracy").get<double>() + 0.02)
        << outcome.text();
    EXPECT_NE(outcome.text().find("\nlate       rounds went on without "), std::string::npos);
}

TEST_F(LateRounds, EndAtASignalAndGoOnLater) {
    const LongerGrace grace;
    Arguments arguments =
        training({"--round-deadline", "0.05", "--checkpoint-every", "50", "--eval-every", "50"});
    *std::ranges::find(arguments, "200") = "100000000";
    Process process(sotto_command(3, arguments), directory_.path());
    ASSERT_TRUE(happens([&] { return has_checkpoint(directory_ / "run", 50); }));
    process.signal_group(SIGTERM);
    const Outcome outcome = process.wait();
    EXPECT_FALSE(outcome.timed_out) << outcome.text();
    EXPECT_LT(outcome.seconds, 30);
    EXPECT_TRUE(all_ended(directory_.path()));
    const Json ledger = json_of(directory_ / "run/ledger.json");
    EXPECT_EQ(ledger.at("status"), "interrupted") << outcome.text();
    const long completed = ledger.at("rounds").at("completed").get<long>();
    EXPECT_EQ(completed % 50, 0);
    Process resumed(sotto_command(3, {"train", "--resume", "run", "--quiet"}), directory_.path());
    ASSERT_TRUE(happens([&] { return has_checkpoint(directory_ / "run", completed); }));
    resumed.signal_group(SIGTERM);
    EXPECT_FALSE(resumed.wait().timed_out);
}

TEST_F(LateRounds, RefuseWhatNeedsEveryMessage) {
    const std::vector<std::pair<Arguments, std::string>> refused{
        {{"--secure-sum", "on"}, "--secure-sum"},
        {{"--precision", "nibble"}, "--round-deadline"},
        {{"--correction", "exact-diffusion"}, "--correction"},
        {{"--gossip-steps", "2"}, "--gossip-steps"},
        {{"--momentum", "0.9"}, "--momentum"},
        {{"--mechanism", "cdp"}, "trusted aggregator"},
        {{"--record-view", "1"}, "--record-view"},
    };
    for (const auto& [more, part] : refused) {
        Arguments arguments = training({"--round-deadline", "1"});
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = run_sotto(directory_, 2, arguments);
        EXPECT_EQ(outcome.exit_code, 2) << more.back() << outcome.text();
        EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.text();
    }
    expect_refused(directory_, training({"--round-deadline", "1", "--agents", "3"}), 2, "mpirun");
    expect_refused(directory_, training({"--round-deadline", "0"}), 2, "round-deadline");
    expect_refused(directory_, training({"--max-lag", "2"}), 2, "max-lag");
}

}  // namespace
}  // namespace sotto::test
