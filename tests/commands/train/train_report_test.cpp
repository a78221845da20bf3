#include "commands/train/train_report.hpp"

#include <limits>

#include "run/run_fixtures.hpp"

namespace sotto::cli {
namespace {

using test::expect_contains;

TrainResult finished() {
    TrainResult result;
    result.mechanism = "corn";
    result.agents = 4;
    result.rounds = 30;
    result.epsilon = 2.5;
    result.delta = 1e-5;
    result.mu = 0.5;
    result.evaluation.test_loss = 0.25;
    result.evaluation.test_accuracy = std::numeric_limits<double>::quiet_NaN();
    result.evaluation.optimality_gap = std::numeric_limits<double>::quiet_NaN();
    result.run_directory = "runs/a";
    return result;
}

TEST(TrainingReport, SaysWhatWasSpentAndReached) {
    const std::string text = summary_text(finished(), {});
    expect_contains(text, "\n4 agents in 1 process, 30 rounds of corn\n");
    expect_contains(text, "epsilon spent       2.5 at delta 1e-05 (mu 0.5)\n");
    expect_contains(text, "0.25000 agents' own models");
    expect_contains(text, "run directory       runs/a\n");
    expect_contains(text,
                    "privacy             runs on the same data add up: `sotto ledger DIR...` says");
    for (const char* absent : {"accuracy", "optimality", "to go on", "INTERRUPTED"})
        EXPECT_EQ(text.find(absent), std::string::npos) << absent;
}

TEST(TrainingReport, SaysWhatIsLeftInTheBudgetAccount) {
    TrainResult result = finished();
    result.account = AccountUse{"mine", 10, 1e-5, 3, 4.12, false};
    expect_contains(summary_text(result, {}),
                    "budget account      epsilon 3 of 10 at delta 1e-05 spent before, 4.12 after "
                    "this run (mine, not signed)\n");
}

TEST(TrainingReport, SaysHowToGoOnAfterAnInterruption) {
    TrainResult result = finished();
    result.interrupted = true;
    result.processes = 4;
    const std::string text = summary_text(result, {});
    expect_contains(text, "INTERRUPTED: 4 agents in 4 processes");
    expect_contains(text, "to go on            sotto train --resume runs/a\n");
}

TEST(TrainingReport, OfADryRunIsAnEstimate) {
    TrainResult result = finished();
    result.dry_run = true;
    result.estimate.seconds_per_round = 0.5;
    TrainConfig config;
    config.plan.rounds = 100;
    EXPECT_EQ(summary_text(result, config),
              "epsilon    2.5 at delta 1e-05 after 100 rounds\n"
              "time       about 50.0 s (500 ms a round)\n");
}

TEST(TrainingReport, SaysThatEpsilonIsInfiniteWithoutNoise) {
    TrainResult result = finished();
    result.epsilon = std::numeric_limits<double>::infinity();
    expect_contains(summary_text(result, {}), "infinite: no noise");
}

}  // namespace
}  // namespace sotto::cli
