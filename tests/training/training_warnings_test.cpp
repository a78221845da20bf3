#include "training/training_warnings.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/numbers.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::TemporaryFolder;

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
