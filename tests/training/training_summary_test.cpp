#include "training/training_summary.hpp"

#include "config/run_fixtures.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

using test::Json;

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

}  // namespace
}  // namespace sotto
