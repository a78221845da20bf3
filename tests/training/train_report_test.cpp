#include "training/train_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "config/run_fixtures.hpp"
#include "core/numbers.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::TemporaryFolder;

TrainResult finished() {
    TrainResult result;
    result.mechanism = "corn";
    result.agents = 4;
    result.rounds = 30;
    result.planned_rounds = 1000;
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
    expect_contains(
        text,
        "privacy             what runs on the same data reveal adds up: `sotto ledger DIR...` "
        "gives the total\n");
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
    const TrainConfig config;
    result.planned_rounds = 100;
    EXPECT_EQ(summary_text(result, config),
              "epsilon    2.5 at delta 1e-05 after 100 rounds\n"
              "time       about 50.0 s (500 ms per round)\n");
    result.estimate.bytes = 12.5e6;
    expect_contains(summary_text(result, config), "\nsent       about 12.5 MB by all agents\n");
}

TEST(TrainingReport, SaysThatEpsilonIsInfiniteWithoutNoise) {
    TrainResult result = finished();
    result.epsilon = std::numeric_limits<double>::infinity();
    expect_contains(summary_text(result, {}), "infinite: no noise");
}

TrainResult with_a_verdict() {
    TrainResult result = finished();
    result.words = {"",
                    "one record, against whoever sees all messages",
                    "variance 1.8 times that of a trusted server"};
    result.evaluation.test_loss_mean_model = 0.25;
    result.evaluation.test_loss = 0.26;
    result.evaluation.test_accuracy = 0.8425;
    result.evaluation.test_accuracy_mean_model = 0.843;
    result.bytes_sent = 1234567;
    result.baselines.constant_accuracy = 0.7667;
    result.total_seconds = 12.3;
    result.phases = RoundSeconds{1, 2, 3, 4};
    return result;
}

TEST(Verdict, ComesFirstAndIsShort) {
    const std::string text = verdict_text(with_a_verdict(), {}, 2);
    EXPECT_EQ(
        text,
        "\nresult     test accuracy 0.8430 of the mean model, 0.8425 of agents' own models; the "
        "best "
        "constant prediction has 0.7667\n"
        "privacy    epsilon 2.5 at delta 1e-05 for one record, against whoever sees all messages\n"
        "noise      variance 1.8 times that of a trusted server\n"
        "time       12.3 s for 30 rounds (gradients 10%, noise 20%, exchange 30%, mixing "
        "40%); 1.235 MB sent by all agents\n"
        "run        runs/a; look at it with: sotto report runs/a\n"
        "note       ledger.json says what is not covered; `sotto ledger DIR...` adds up runs on "
        "the same "
        "data; --verbose prints everything\n");
}

TEST(Verdict, SaysTheEpsilonOfEachAgentWhereTheyDiffer) {
    TrainResult result = with_a_verdict();
    result.epsilons = {2.5, 2.5};
    EXPECT_EQ(verdict_text(result, {}, 2).find("per agent"), std::string::npos);
    result.epsilons = {1.25, 2.5, 2};
    result.agent_files = {"site1.csv", "site2.csv", ""};
    expect_contains(verdict_text(result, {}, 2),
                    "\nper agent  1.25 for site1.csv, 2.5 for site2.csv, 2 for agent 2\n");
    result.epsilons.resize(13, 1.5);
    expect_contains(verdict_text(result, {}, 2),
                    "\nper agent  from 1.25 for site1.csv to 2.5 for site2.csv; ledger.json has "
                    "all of them\n");
}

TEST(Verdict, ComparesLossesOfValuesAndTrainingWithoutPrivacy) {
    TrainResult result = with_a_verdict();
    result.evaluation.test_accuracy_mean_model = std::numeric_limits<double>::quiet_NaN();
    result.baselines.constant_loss = 1;
    result.baselines.without_privacy_loss = 0.2;
    expect_contains(
        verdict_text(result, {}, 2),
        "result     test loss 0.25000 of the mean model, 0.26000 of agents' own models; the "
        "best constant prediction has 1.00000, training without privacy 0.20000\n");
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
        "; 4 ranks share 2 cores: without mpirun the same training runs in one process, which "
        "waits "
        "for no other rank\n";
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

TrainResult sample_result() {
    TrainResult result;
    result.mechanism = "corn";
    result.agents = 3;
    result.processes = 2;
    result.rounds = 40;
    result.epsilon = 9.5;
    result.mu = 1.25;
    result.delta = 1e-5;
    result.evaluation.test_loss = 0.5;
    result.phases = RoundSeconds{1, 2, 3, 4};
    result.plan_seconds = 5;
    result.loop_seconds = 6;
    result.evaluate_seconds = 7;
    result.total_seconds = 8;
    result.bytes_sent = 1234;
    result.ranks = {{"a", {0}, RoundSeconds{1, 2, 3, 4}, 1000, 10}, {"b", {1, 2}, {}, 234, 20}};
    result.run_directory = "runs/x";
    return result;
}

Json summary_of(const TrainResult& result) {
    PlanConfig config;
    config.rounds = 200;
    config.steps.step_size = 0.25;
    return Json::parse(summary_json(result, config));
}

TEST(TrainingSummary, HoldsWhatTheResultSays) {
    const Json json = summary_of(sample_result());
    EXPECT_EQ(json["mechanism"], "corn");
    EXPECT_EQ(json["rounds"], 40);
    EXPECT_EQ(json["epsilon"], 9.5);
    EXPECT_EQ(json["infinite"], false);
    EXPECT_EQ(json["step_size"], 0.25);
    EXPECT_EQ(json["test_loss"], 0.5);
    EXPECT_EQ(json["seconds"],
              (Json{{"plan", 5},
                    {"gradient", 1},
                    {"noise", 2},
                    {"exchange", 3},
                    {"mix", 4},
                    {"loop", 6},
                    {"evaluate", 7},
                    {"total", 8}}));
    ASSERT_EQ(json["ranks"].size(), 2U);
    EXPECT_EQ(json["ranks"][1]["rank"], 1);
    EXPECT_EQ(json["ranks"][1]["agents"], (Json{1, 2}));
    EXPECT_EQ(json["ranks"][0]["seconds"]["mix"], 4);
    EXPECT_TRUE(json["ranks"][1]["seconds"]["gradient"].is_null()) << "not told";
    EXPECT_EQ(json["run_directory"], "runs/x");
    EXPECT_FALSE(json.contains("resumed"));
    EXPECT_FALSE(json.contains("dry_run"));
}

TEST(TrainingSummary, HasNullForWhatIsNoNumber) {
    TrainResult result = sample_result();
    result.epsilon = result.mu = infinity;
    const Json json = summary_of(result);
    EXPECT_TRUE(json["epsilon"].is_null());
    EXPECT_TRUE(json["mu"].is_null());
    EXPECT_EQ(json["infinite"], true);
    for (const char* unknown : {"test_accuracy", "optimality_gap", "consensus_distance"})
        EXPECT_TRUE(json[unknown].is_null()) << unknown;
}

TEST(TrainingSummary, HasTheMemoryThatProcessesTell) {
    TrainResult result = sample_result();
    result.peak_memory_mib = 20;
    EXPECT_EQ(summary_of(result)["peak_memory_mib"], 20);
    EXPECT_EQ(summary_of(result)["ranks"][1]["peak_memory_mib"], 20);
    result.peak_memory_mib.reset();
    result.ranks[1].peak_memory_mib.reset();
    EXPECT_TRUE(summary_of(result)["peak_memory_mib"].is_null()) << "not told";
    EXPECT_TRUE(summary_of(result)["ranks"][1]["peak_memory_mib"].is_null());
}

TEST(TrainingSummary, SaysHowARunWasTakenUp) {
    TrainResult result = sample_result();
    result.resumed = ResumedRun{20, 3, 1, false, true, {1, 4}};
    EXPECT_EQ(summary_of(result)["resumed"],
              (Json{{"round", 20},
                    {"repeated_rounds", 3},
                    {"key_epoch", 1},
                    {"same_keys", false},
                    {"finished", true},
                    {"agents_gone", {1, 4}}}));
}

TEST(TrainingSummary, OfADryRunIsAnEstimate) {
    TrainResult result = sample_result();
    result.dry_run = true;
    result.estimate = {true, 12, 0.5, std::nullopt};
    result.planned_rounds = 200;
    const Json json = summary_of(result);
    EXPECT_EQ(json["dry_run"], true);
    EXPECT_EQ(json["memory_mib"], 12);
    EXPECT_EQ(json["past_noise_drawn_again"], true);
    EXPECT_EQ(json["seconds_estimated"], 100);
    EXPECT_FALSE(json.contains("test_loss"));
    EXPECT_FALSE(json.contains("run_directory"));
}

TEST(TrainingSummary, SaysWhatToCompareWithAndWhatWentWrong) {
    TrainResult result = sample_result();
    EXPECT_TRUE(summary_of(result)["constant_accuracy"].is_null());
    EXPECT_EQ(summary_of(result)["warnings"], Json::array());
    result.baselines.constant_accuracy = 0.75;
    result.baselines.constant_loss = 0.5625;
    result.baselines.without_privacy_accuracy = 0.875;
    result.baselines.without_privacy_loss = 0.25;
    result.clipped_share = 0.5;
    result.warnings = {"One.", "Two."};
    const Json json = summary_of(result);
    EXPECT_EQ(json["constant_accuracy"], 0.75);
    EXPECT_EQ(json["constant_loss"], 0.5625);
    EXPECT_EQ(json["accuracy_without_privacy"], 0.875);
    EXPECT_EQ(json["loss_without_privacy"], 0.25);
    EXPECT_EQ(json["clipped_share"], 0.5);
    EXPECT_EQ(json["warnings"], (Json{"One.", "Two."}));
}

std::string all(const std::vector<std::string>& warnings) {
    std::string text;
    for (const std::string& warning : warnings) text += warning + "\n";
    return text;
}

TrainResult finished(double loss, double accuracy) {
    TrainResult result;
    result.losses.add(0, 0.69);
    result.losses.add(20, loss);
    result.evaluation.test_loss_mean_model = loss;
    result.evaluation.test_accuracy_mean_model = accuracy;
    result.baselines.constant_accuracy = 0.75;
    result.baselines.constant_loss = 0.56;
    result.baselines.test_records = 10000;
    return result;
}

/// Noise of the mean model over T rounds, drawn by the trainer itself: gradients of the quadratic
/// task are clipped to nearly nothing, so that what is left of the models is noise.
TEST(NoiseOverGradients, IsWhatTheMeanModelMovesBy) {
    for (const char* mechanism : {"ldp", "pairs", "corn"}) {
        double square = 0, ratio = 0;
        constexpr int trials = 40;
        for (int trial = 0; trial < trials; ++trial) {
            const TemporaryFolder folder;
            TrainConfig config = test::quadratic_config(4, mechanism, 30);
            config.plan.epsilon = 1e-3;
            config.plan.steps = parse_step_schedule("", "inverse-sqrt", 0.05);
            config.plan.final_gossip = 0;
            config.noise_seed = static_cast<std::uint64_t>(100 + trial);
            config.run_directory = folder.path("run");
            const auto network = make_memory_network(4, 1);
            PreparedRun prepared = test::prepare(config, *network);
            const Eigen::VectorXd initial = prepared.initial;
            ratio = noise_over_gradients(prepared.run.plan, prepared.run.phase, initial.size());
            OpenRun run = open_run(std::move(prepared));
            TrainingListener silent;
            test::train_rounds(run, silent);
            const Eigen::VectorXd moved =
                test::models_of(folder.path("run"), {0, 1, 2, 3}).rowwise().mean() - initial;
            square += moved.squaredNorm() / trials;
        }
        const PlanConfig plan = test::quadratic_config(4, mechanism, 30).plan;
        double steps = 0;
        for (int t = 0; t < 30; ++t) steps += 0.05 / std::sqrt(t + 1.0);
        // 2 coordinates, 40 trials: the relative standard error of the square is sqrt(2 / 80).
        EXPECT_NEAR(std::sqrt(square) / (plan.clip_norm * steps) / ratio, 1, 0.4) << mechanism;
        EXPECT_GT(ratio, 100) << mechanism;
    }
}

TEST(NoiseOverGradients, ShrinksWithTheRootOfAnyNumberOfRounds) {
    NoisePlan plan;
    plan.agents = 1;
    plan.scale = 3;
    plan.streams.resize(1);
    plan.rows = {{0, NoiseRow::all_receivers, {0}, {2.0}}};
    PlanConfig config;
    config.clip_norm = 0.5;
    for (const long rounds : {1L, 100L, 100'000'000'000L}) {
        config.rounds = rounds;
        EXPECT_NEAR(noise_over_gradients(plan, config, 4) * std::sqrt(static_cast<double>(rounds)),
                    2 * 6 / 0.5,
                    1e-9);
    }
}

TEST(NoiseOverGradients, IsUnknownWhereRoundsShareNoiseOrMessagesHaveIt) {
    NoisePlan plan;
    plan.temporal.kind = TemporalFactor::Kind::one_lag;
    EXPECT_TRUE(std::isnan(noise_over_gradients(plan, {}, 2)));
    plan.temporal.kind = TemporalFactor::Kind::identity;
    plan.entry = NoiseEntry::message;
    EXPECT_TRUE(std::isnan(noise_over_gradients(plan, {}, 2)));
}

TEST(WarningsBeforeRounds, SayThatNoiseDrownsGradientsAndWhatToDo) {
    const TemporaryFolder folder;
    TrainConfig config = test::logistic_config(folder, 4, "pairs", 20);
    const auto warnings_at = [&](double epsilon) {
        config.plan.epsilon = epsilon;
        config.run_directory = folder.path("run" + std::to_string(epsilon));
        test::Watcher watcher;
        (void)test::train(config, watcher, [] { return false; });
        return all(watcher.warnings);
    };
    const std::string loud = warnings_at(0.01);
    expect_contains(loud, "expect no better than chance");
    expect_contains(loud, "--adjacency record-add-remove");
    EXPECT_EQ(warnings_at(100), "");
}

TEST(WarningsBeforeRounds, SayThatShardsOrTestDataHaveOneClass) {
    const TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(2, "none", 3);
    config.task.task = "logistic";
    config.task.data = folder.path("own%r");
    (void)folder.write("own0", "-1 1:1\n-1 2:1\n-1 1:1\n");
    (void)folder.write("own1", "-1 1:1\n+1 2:1\n-1 1:1\n");
    config.task.test_data = folder.write("test", "-1 1:1\n-1 2:1\n");
    config.run_directory = folder.path("run");
    test::Watcher watcher;
    const TrainResult result = test::train(config, watcher, [] { return false; });
    expect_contains(all(watcher.warnings), "1 of 2 agents has training records of one class only");
    expect_contains(all(watcher.warnings), "All test records are of one class");
    EXPECT_EQ(test::read_json(folder.path("run") + "/summary.json")["warnings"],
              test::Json(result.warnings));
}

TEST(WarningsAfterRounds, OfAModelThatHasLearntThereAreNone) {
    EXPECT_EQ(all(warnings_after_rounds(finished(0.3, 0.85))), "");
    EXPECT_EQ(all(warnings_after_rounds(TrainResult())), "")
        << "of what is not known nothing is said";
}

TEST(WarningsAfterRounds, SayThatTheLossRose) {
    TrainResult result = finished(0.518, 0.8);
    result.evaluation.test_loss_mean_model = 0.55;
    EXPECT_EQ(all(warnings_after_rounds(result)), "") << "it wavers";
    result.evaluation.test_loss_mean_model = 0.84;
    expect_contains(all(warnings_after_rounds(result)),
                    "The test loss rose from 0.518 after 20 rounds to 0.84 (use a smaller");
}

TEST(WarningsAfterRounds, SayThatTheModelIsConstantAndWhy) {
    TrainResult result = finished(0.56, 0.7505);
    expect_contains(all(warnings_after_rounds(result)), "no better than the constant");
    result.clipped_share = 0.999;
    expect_contains(all(warnings_after_rounds(result)),
                    "The clip shortened 99.9% of all gradients");
    result.evaluation.test_accuracy_mean_model = 0.85;
    EXPECT_EQ(all(warnings_after_rounds(result)), "") << "clips may do their work";
}

TEST(WarningsAfterRounds, CompareLossesWhereThereIsNoAccuracy) {
    TrainResult result = finished(0.999, not_a_number);
    result.baselines.constant_accuracy = not_a_number;
    result.baselines.constant_loss = 1;
    expect_contains(all(warnings_after_rounds(result)), "no better than the constant");
    result.evaluation.test_loss_mean_model = 0.4;
    EXPECT_EQ(all(warnings_after_rounds(result)), "");
}

/// The share is counted by the trainer itself.
TEST(ClippedShare, IsThePartOfGradientsThatTheClipShortens) {
    const TemporaryFolder folder;
    for (const Adjacency adjacency : {Adjacency::agent, Adjacency::record})
        for (const auto& [clip, share] : {std::pair{1e-6, 1.0}, std::pair{1e6, 0.0}}) {
            TrainConfig config = test::logistic_config(folder, 3, "none", 5);
            config.plan.adjacency = adjacency;
            config.plan.clip_norm = clip;
            config.run_directory = folder.path(fmt::format("run-{}-{}", name_of(adjacency), clip));
            EXPECT_EQ(test::train(config).clipped_share, share);
        }
}

}  // namespace
}  // namespace sotto
