// What the system does to the program: signals, also those it was started to ignore, full places
// for its output, and limits on files and memory (`ulimit`).

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "core/stopwatch.hpp"
#include "program.hpp"

namespace sotto::test {
namespace {

constexpr int disk_full = 9, interrupted = 8;

/// The command, started by a shell after it has done something.
Arguments after(const std::string& preparation, const Arguments& command) {
    Arguments words{"sh", "-c", preparation + "; exec \"$@\"", "sh"};
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

Arguments with_output(const std::string& redirection, const Arguments& command) {
    return after("exec " + redirection, command);
}

/// Options of a noise plan that takes minutes.
Arguments long_plan(const std::string& command, const Arguments& more = {}) {
    Arguments arguments{command,
                        "--agents",
                        "400",
                        "--mechanism",
                        "space-time",
                        "--adjacency",
                        "record",
                        "--participation",
                        "cyclic:10",
                        "--rounds",
                        "2000",
                        "--batch-size",
                        "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

void pause_seconds(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

TEST(FullOutput, IsAFailureOfEveryCommandThatWritesThere) {
    const TempDir directory;
    const Arguments small{"--agents", "3", "--topology", "complete", "--rounds", "5"};
    const auto of = [&](Arguments words, const Arguments& more = {}) {
        words.insert(words.end(), small.begin(), small.end());
        words.insert(words.end(), more.begin(), more.end());
        return words;
    };
    for (const Arguments& arguments :
         {Arguments{"--help"},
          {"--version"},
          {"train", "--help"},
          of({"plan"}),
          of({"plan"}, {"--json", "-"}),
          {"graph"},
          {"graph", "--json", "-"},
          of({"account"}, {"--json", "-"}),
          {"account", "--mu", "1", "--json", "-"},
          of({"train"}, {"--task", "quadratic", "--json", "-"}),
          of({"train"}, {"--task", "quadratic", "--run-directory", "shown"})}) {
        const Outcome outcome =
            Process(with_output("> /dev/full", sotto_command(one_process, arguments)),
                    directory.path())
                .wait();
        EXPECT_EQ(outcome.exit_code, disk_full)
            << fmt::format("{}\n", arguments.front()) << outcome.text();
        const auto lines = error_lines(outcome.err);
        ASSERT_EQ(lines.size(), 1U) << outcome.text();
        EXPECT_NE(lines[0].find("standard output: cannot be written (No space left on device)"),
                  std::string::npos)
            << lines[0];
    }
    EXPECT_EQ(json_of(directory / "shown/summary.json").at("rounds"), 5) << "the run went on";
}

TEST(FullOutput, OfProgressEndsNoTraining) {
    const TempDir directory;
    const Outcome outcome = Process(with_output("2> /dev/full",
                                                sotto_command(one_process,
                                                              {"train",
                                                               "--task",
                                                               "quadratic",
                                                               "--rounds",
                                                               "20000",
                                                               "--run-directory",
                                                               "run",
                                                               "--json",
                                                               "-"})),
                                    directory.path())
                                .wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_EQ(nlohmann::json::parse(outcome.out).at("rounds"), 20000);
}

TEST(FileLimit, HasTheCodeOfAFullDiskAndOneLine) {
    const TempDir directory;
    const Outcome outcome =
        Process(
            after("ulimit -f 2", sotto_command(one_process, short_training({"--agents", "12"}))),
            directory.path())
            .wait();
    EXPECT_EQ(outcome.exit_code, disk_full) << outcome.text();
    const auto lines = error_lines(outcome.err);
    ASSERT_EQ(lines.size(), 1U) << outcome.text();
    EXPECT_NE(lines[0].find("File too large"), std::string::npos) << lines[0];
}

TEST(MemoryLimit, EndsEveryCommandWithALine) {
    const TempDir directory;
    for (const int kibibytes : {60'000, 100'000, 150'000, 200'000, 250'000, 300'000, 400'000})
        for (const Arguments& arguments :
             {Arguments{"--version"}, {"--help"}, {"plan", "--agents", "6", "--rounds", "10"}}) {
            const Outcome outcome = Process(after(fmt::format("ulimit -v {}", kibibytes),
                                                  sotto_command(one_process, arguments)),
                                            directory.path())
                                        .wait();
            EXPECT_LT(outcome.seconds, 60) << kibibytes << arguments.front();
            if (outcome.exit_code == 0) continue;
            // The system's loader, which ends with 127, has no room for the libraries.
            EXPECT_TRUE(outcome.exit_code == 1 || outcome.exit_code == 127)
                << kibibytes << outcome.text();
            EXPECT_EQ(lines_of(outcome.err).size(), 1U) << kibibytes << outcome.text();
        }
}

/// A training that goes on until it is asked to stop.
Arguments endless(const std::string& run) {
    return {"train",
            "--task",
            "quadratic",
            "--agents",
            "3",
            "--topology",
            "complete",
            "--rounds",
            "100000000000",
            "--eval-every",
            "100",
            "--run-directory",
            run};
}

bool rounds_run(const std::string& run, std::size_t rows = 2) {
    return lines_of(content_of(run + "/metrics.csv")).size() > rows;
}

TEST(IgnoredSignals, StayIgnored) {
    for (const int ignored : {SIGHUP, SIGINT}) {
        const TempDir directory;
        const std::string run = directory / "run";
        Process process(after(ignored == SIGHUP ? "trap '' HUP" : "trap '' INT",
                              sotto_command(one_process, endless(run))),
                        directory.path());
        ASSERT_TRUE(happens([&] { return rounds_run(run); }));
        process.signal_group(ignored);
        pause_seconds(0.5);
        const std::size_t rows = lines_of(content_of(run + "/metrics.csv")).size();
        EXPECT_TRUE(happens([&] { return rounds_run(run, rows + 1); })) << ignored;
        process.signal_group(SIGTERM);
        const Outcome outcome = process.wait();
        EXPECT_EQ(outcome.exit_code, interrupted) << outcome.text();
    }
}

TEST(IgnoredSignals, EndNoSupervisorUnderNohup) {
    const TempDir directory;
    const std::string run = directory / "run";
    const LongerGrace grace;
    Arguments supervised = sotto_command(one_process, {"supervise", "--max-restarts", "0", "--"});
    const Arguments job = sotto_command(3, endless(run));
    supervised.insert(supervised.end(), job.begin(), job.end());
    Process process(after("trap '' HUP", supervised), directory.path());
    ASSERT_TRUE(happens([&] { return rounds_run(run); })) << "it did not start";
    process.signal_group(SIGHUP);
    pause_seconds(0.5);
    const std::size_t rows = lines_of(content_of(run + "/metrics.csv")).size();
    EXPECT_TRUE(happens([&] { return rounds_run(run, rows + 1); }));
    process.signal(SIGTERM);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, interrupted) << outcome.text();
    EXPECT_TRUE(all_ended(directory.path())) << "a process is left";
}

/// A command that solves a long plan, and how it is started.
struct LongPlan {
    std::string name;
    int ranks;
    int signal;
    Arguments arguments;

    friend std::ostream& operator<<(std::ostream& stream, const LongPlan& plan) {
        return stream << plan.name;
    }
};

class Planning : public testing::TestWithParam<LongPlan> {};

TEST_P(Planning, EndsAtOnceWhereItIsAskedTo) {
    const TempDir directory;
    const LongPlan& plan = GetParam();
    (void)directory.write("sweep.ini",
                          "agents = 400\nmechanism = space-time\nadjacency = record\n"
                          "participation = cyclic:10\nrounds = 2000\nbatch-size = 2\n"
                          "step-size = 0.1 0.2\n");
    Process process(sotto_command(plan.ranks, plan.arguments), directory.path());
    pause_seconds(plan.ranks == one_process ? 4 : 8);
    process.signal_group(plan.signal);
    const auto asked = Clock::now();
    const Outcome outcome = process.wait();
    // Beside ranks, mpirun takes its own time. Half a second is the patience of a sweep.
    EXPECT_LT(seconds_since(asked), plan.ranks == one_process ? 3 : 15) << outcome.text();
    if (plan.ranks == one_process)
        EXPECT_EQ(outcome.exit_code, 128 + plan.signal) << outcome.text();
    else
        EXPECT_NE(outcome.exit_code, 0) << outcome.text();
    EXPECT_FALSE(std::filesystem::exists(directory / "run/config.ini"));
    EXPECT_TRUE(all_ended(directory.path())) << "a process is left";
}

INSTANTIATE_TEST_SUITE_P(
    Of,
    Planning,
    testing::Values(
        LongPlan{"plan", one_process, SIGTERM, long_plan("plan")},
        LongPlan{"account", one_process, SIGTERM, long_plan("account")},
        LongPlan{"train", one_process, SIGTERM, long_plan("train", {"--run-directory", "run"})},
        LongPlan{"train_by_interrupt",
                 one_process,
                 SIGINT,
                 long_plan("train", {"--run-directory", "run"})},
        LongPlan{"train_of_3_ranks", 3, SIGTERM, long_plan("train", {"--run-directory", "run"})},
        LongPlan{"audit", one_process, SIGTERM, long_plan("audit", {"--view", "node:0"})},
        LongPlan{"sweep", one_process, SIGTERM, {"sweep", "sweep.ini"}}),
    [](const auto& instance) { return instance.param.name; });

TEST(OneProcessorOfSeveral, IsAllThatAPlanUsesAndNothingWarns) {
    const TempDir directory;
    Process process(
        after("taskset --pid --cpu-list \"$(taskset --pid --cpu-list $$ | grep --only-matching "
              "'[0-9]*' | tail -1)\" $$ >/dev/null",
              sotto_command(one_process, {"plan", "--agents", "20"})),
        directory.path());
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace sotto::test
