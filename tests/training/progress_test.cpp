#include "training/progress.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "config/run_fixtures.hpp"
#include "privacy/ledger_fixtures.hpp"

namespace sotto {
namespace {

TEST(DurationText, ChoosesItsUnit) {
    EXPECT_EQ(duration_text(12.34), "12.3 s");
    EXPECT_EQ(duration_text(185), "3:05 min");
    EXPECT_EQ(duration_text(7800), "2:10 h");
    EXPECT_EQ(duration_text(std::numeric_limits<double>::infinity()), "?");
    EXPECT_EQ(duration_text(std::nan("")), "?");
}

TEST(LossText, IsShortAlsoWhereATrainingGoesWrong) {
    EXPECT_EQ(loss_text(0.5), "0.50000");
    EXPECT_EQ(loss_text(1e300), "1e+300");
    EXPECT_EQ(loss_text(std::nan("")), "unknown");
}

TEST(MeteredEpsilon, IsOfTheRoundShownAndCostsAFiftiethOfTheTimeAtMost) {
    double now = 0, cost = 0.023, round = 0;
    int found = 0;
    const auto find = [&] {
        ++found;
        now += cost;
        return round;
    };
    const auto seconds = [&] { return now; };
    MeteredEpsilon epsilon;
    for (; now < 60; now += 0.1) {
        ++round;
        epsilon.update(find, seconds);
        EXPECT_LE(round - epsilon.value(), 12) << "a second and a bit ago";
    }
    EXPECT_LE(found * cost, 60 / 50.0 + cost);
    EXPECT_GE(found * cost, 0.9 * 60 / 50.0);

    cost = 1e-6;
    now += 10;
    for (int i = 0; i < 100; ++i, now += 0.1) {
        ++round;
        epsilon.update(find, seconds);
        EXPECT_EQ(epsilon.value(), round) << "what costs nothing is always of this round";
    }
}

TEST(ProgressOfATraining, IsSilentWithoutAReport) {
    testing::internal::CaptureStderr();
    Progress progress(nullptr);
    progress.on_round(1, 2, test::make_ledger(test::private_plan({1, 2, 4})));
    progress.finish();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(CommandToGoOn, StartsAsManyProcesses) {
    EXPECT_EQ(command_to_go_on({}, 1, "runs/a b"), "sotto train --resume 'runs/a b'");
    EXPECT_EQ(command_to_go_on({}, 20, "runs/a"), "mpirun -n 20 sotto train --resume runs/a");
    TrainConfig of_a_program;
    of_a_program.task.task = "python";
    EXPECT_EQ(command_to_go_on(of_a_program, 20, "runs/a"),
              "the same program with resume=\"runs/a\" in place of options of the plan");
}

/// What a training of these options prints, and its log.
struct Told {
    std::string printed, log;
};
Told told(const test::TemporaryFolder& folder, bool verbose, long checkpoint_every) {
    TrainConfig config = test::logistic_config(folder, 4, "pairs", 20);
    config.plan.epsilon = 0.01;
    config.verbose = verbose;
    config.checkpoint_every = checkpoint_every;
    config.run_directory = folder.path(verbose ? "verbose" : "run");
    const auto network = make_memory_network(4, 1);
    testing::internal::CaptureStdout();
    Progress progress(stdout);
    (void)run_training(config, *network, progress, [] { return false; });
    progress.finish();
    return {testing::internal::GetCapturedStdout(), read_file(*config.run_directory + "/log.txt")};
}

TEST(ProgressOfATraining, TellsFewLinesFirstAndTheLogEverything) {
    const test::TemporaryFolder folder;
    const Told brief = told(folder, false, 0);
    EXPECT_TRUE(brief.printed.starts_with("task       ")) << brief.printed;
    test::expect_contains(brief.printed, "\nclasses    ");
    test::expect_contains(
        brief.printed,
        "\nplan       pairs, 4 agents, 20 rounds: epsilon 0.01 at delta 1e-05 for "
        "all data of an agent, against whoever sees all messages, including any one agent\n");
    test::expect_contains(brief.printed, "\nwarning    Noise moves the mean model");
    EXPECT_EQ(std::ranges::count(brief.printed, '\n'), 4) << brief.printed;
    for (const char* line :
         {"  graph      ", "  noise left ", "  note       ", "  warning    Noise"})
        test::expect_contains(brief.log, line);
    test::expect_contains(brief.log, "  after 0 rounds: test loss ");
    test::expect_contains(told(folder, true, 0).printed, "\nnoise left ");
}

TEST(ProgressOfATraining, SaysBeforeItHowToGoOnShouldItFail) {
    const test::TemporaryFolder folder;
    const Told checkpointed = told(folder, false, 10);
    const std::string line =
        "           if it fails, resume it with: sotto train --resume " + folder.path("run") + "\n";
    test::expect_contains(checkpointed.printed, line);
    test::expect_contains(checkpointed.log, line);
}

}  // namespace
}  // namespace sotto
