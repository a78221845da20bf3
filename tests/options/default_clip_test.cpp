#include "options/default_clip.hpp"

#include "config/run_fixtures.hpp"
#include "options/train_options.hpp"

namespace sotto {
namespace {

TEST(DefaultClip, IsOfARecordsGradientWhereRecordsAreProtected) {
    for (const char* adjacency : {"record", "record-zero-out", "record-add-remove"}) {
        const TrainConfig config = read_train_config({{"adjacency", adjacency}});
        EXPECT_EQ(config.plan.clip_norm, 1) << adjacency;
        EXPECT_EQ(config.plan.steps.step_size, 0.5) << adjacency;
        EXPECT_NE(as_ini(config).find("\nclip-norm = 1\n"), std::string::npos) << adjacency;
        EXPECT_NE(as_ini(config).find("\nstep-size = 0.5\n"), std::string::npos) << adjacency;
    }
}

TEST(DefaultClip, IsWhatItWasWhereAgentsAre) {
    EXPECT_TRUE(with_default_clip({}).empty());
    for (const char* adjacency : {"agent", "agent-zero-out"}) {
        const TrainConfig config = read_train_config({{"adjacency", adjacency}});
        EXPECT_EQ(config.plan.clip_norm, PlanConfig{}.clip_norm) << adjacency;
        EXPECT_EQ(config.plan.steps.step_size, PlanConfig{}.steps.step_size) << adjacency;
    }
}

TEST(DefaultClip, LeavesWhatIsAskedFor) {
    const OptionTexts given{
        {"adjacency", "record"}, {"clip-norm", "0.3"}, {"step-size", "0.7"}, {"task", "logistic"}};
    EXPECT_EQ(with_default_clip(given), given);
    const TrainConfig averages = read_train_config(
        {{"adjacency", "record"}, {"task", "averaging"}, {"participation", "every"}});
    EXPECT_EQ(averages.plan.steps.step_size, 1) << "a task's own default comes first";
}

TEST(DefaultClip, IsWhereLearningItStarts) {
    const TrainConfig config =
        read_train_config({{"adjacency", "record-add-remove"}, {"clip-norm", "auto"}});
    EXPECT_TRUE(config.plan.learn_clip);
    EXPECT_EQ(config.plan.clip_norm, 1);
}

/// As on the first page, with the data that need no file.
TEST(DefaultClip, LearnsMoreThanAConstant) {
    const test::TemporaryFolder folder;
    TrainConfig config = read_train_config({{"agents", "20"},
                                            {"epsilon", "1"},
                                            {"adjacency", "record-add-remove"},
                                            {"noise-seed", "3"},
                                            {"eval-every", "1000"},
                                            {"run-directory", folder.path("run")}});
    config.threads = 2;
    const auto network = make_memory_network(20, 2);
    TrainingListener silent;
    const TrainResult result = run_training(config, *network, silent, [] { return false; });
    EXPECT_GT(result.evaluation.test_accuracy_mean_model,
              result.baselines.constant_accuracy + 0.05);
    EXPECT_LT(result.evaluation.test_loss_mean_model, result.baselines.constant_loss - 0.1);
    EXPECT_TRUE(result.warnings.empty()) << result.warnings.front();
}

}  // namespace
}  // namespace sotto
