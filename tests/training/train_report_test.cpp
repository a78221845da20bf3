#include "training/train_report.hpp"

#include <limits>

#include "config/run_fixtures.hpp"

namespace sotto {
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
    expect_contains(text, "to go on            mpirun -n 4 sotto train --resume runs/a\n");
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

TrainResult with_a_verdict() {
    TrainResult result = finished();
    result.words = {
        "", "one record, against whoever sees all messages", "1.8 times a trusted server's"};
    result.evaluation.test_loss_mean_model = 0.25;
    result.evaluation.test_accuracy_mean_model = 0.843;
    result.baselines.constant_accuracy = 0.7667;
    result.total_seconds = 12.3;
    result.phases = RoundSeconds{1, 2, 3, 4};
    return result;
}

TEST(Verdict, ComesFirstAndIsShort) {
    const std::string text = verdict_text(with_a_verdict(), {}, 2);
    EXPECT_EQ(
        text,
        "\nresult     test accuracy 0.8430 of the mean model; the best constant prediction has "
        "0.7667\n"
        "privacy    epsilon 2.5 at delta 1e-05 for one record, against whoever sees all messages\n"
        "noise      1.8 times a trusted server's\n"
        "time       12.3 s for 30 rounds (gradients 10%, noise 20%, exchange 30%, mixing 40%)\n"
        "run        runs/a; look at it with: sotto report runs/a\n"
        "note       ledger.json says what is not covered, `sotto ledger DIR...` what runs on the "
        "same data add up to, --verbose everything\n");
}

TEST(Verdict, SaysTheEpsilonOfEachAgentWhereTheyDiffer) {
    TrainResult result = with_a_verdict();
    result.epsilons = {2.5, 2.5};
    EXPECT_EQ(verdict_text(result, {}, 2).find("of each"), std::string::npos);
    result.epsilons = {1.25, 2.5, 2};
    result.agent_files = {"site1.csv", "site2.csv", ""};
    expect_contains(verdict_text(result, {}, 2),
                    "\nof each    1.25 for site1.csv, 2.5 for site2.csv, 2 for agent 2\n");
    result.epsilons.resize(13, 1.5);
    expect_contains(verdict_text(result, {}, 2),
                    "\nof each    from 1.25 for site1.csv to 2.5 for site2.csv; ledger.json has "
                    "all of them\n");
}

TEST(Verdict, ComparesLossesOfValuesAndTrainingWithoutPrivacy) {
    TrainResult result = with_a_verdict();
    result.evaluation.test_accuracy_mean_model = std::numeric_limits<double>::quiet_NaN();
    result.baselines.constant_loss = 1;
    result.baselines.without_privacy_loss = 0.2;
    expect_contains(verdict_text(result, {}, 2),
                    "result     test loss 0.25000 of the mean model; the best constant prediction "
                    "has 1.00000, training without privacy 0.20000\n");
}

TEST(Verdict, SaysWhatWentWrongAfterTheResult) {
    TrainResult result = with_a_verdict();
    result.warnings = {"The test loss rose."};
    result.interrupted = true;
    result.epsilon = std::numeric_limits<double>::infinity();
    const std::string text = verdict_text(result, {}, 2);
    expect_contains(text, "0.7667\nwarning    The test loss rose.\nprivacy    NONE");
    expect_contains(text, "\nINTERRUPTED after 30 of 1000 rounds\n");
    expect_contains(text, "to go on   sotto train --resume runs/a\n");
}

TEST(Verdict, SaysThatANoiseSeedUndoesTheNoise) {
    TrainConfig config;
    config.noise_seed = 1;
    expect_contains(verdict_text(with_a_verdict(), config, 2),
                    "\ninsecure   whoever knows --noise-seed removes all noise\n");
}

TEST(Verdict, SaysThatRanksShareCoresWhereTheyDo) {
    TrainResult result = with_a_verdict();
    for (int rank = 0; rank < 4; ++rank) result.ranks.push_back({"here", {rank}, {}, 0, {}});
    const std::string advice =
        "; 4 ranks share 2 cores: without mpirun the same training runs in one process, and waits "
        "for no "
        "other rank\n";
    expect_contains(verdict_text(result, {}, 2), advice);
    EXPECT_EQ(verdict_text(result, {}, 4).find("share"), std::string::npos) << "enough cores";
    TrainConfig trusting;
    trusting.trust = TrustConfig{};
    EXPECT_EQ(verdict_text(result, trusting, 2).find("share"), std::string::npos) << "on purpose";
    result.ranks.back().host = "there";
    EXPECT_EQ(verdict_text(result, {}, 2).find("share"), std::string::npos) << "several hosts";
}

TEST(TellingAResult, LeavesAllOfItInTheLog) {
    const test::TemporaryFolder folder;
    TrainResult result = with_a_verdict();
    result.run_directory = folder.path("");
    tell_result(nullptr, result, {});
    const std::string log = read_file(folder.path("log.txt"));
    expect_contains(log, "  result     test accuracy 0.8430");
    expect_contains(log, "    epsilon spent       2.5 at delta");
}

}  // namespace
}  // namespace sotto
