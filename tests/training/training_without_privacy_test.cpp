#include "training/training_without_privacy.hpp"

#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::TemporaryFolder;

TEST(TrainingWithoutPrivacy, ComesToTheLossOfTheTrainingThatHasNoNoise) {
    const TemporaryFolder folder;
    TrainConfig config = test::logistic_config(folder, 4, "none", 400);
    config.run_directory = folder.path("run");
    config.plan.clip_norm = 100;
    config.plan.steps.step_size = 0.5;
    config.baseline = true;
    const TrainResult result = test::train(config);
    EXPECT_NEAR(result.baselines.without_privacy_loss, result.evaluation.test_loss_mean_model, 0.1);
    EXPECT_GT(result.baselines.without_privacy_accuracy, result.baselines.constant_accuracy);
    config.run_directory = folder.path("again");
    EXPECT_EQ(test::train(config).baselines.without_privacy_loss,
              result.baselines.without_privacy_loss)
        << "it depends on the seed alone";
}

TEST(TrainingWithoutPrivacy, ChangesNothingOfTheTraining) {
    const TemporaryFolder folder;
    TrainConfig config = test::logistic_config(folder, 4, "pairs", 20);
    config.run_directory = folder.path("with");
    config.baseline = true;
    (void)test::train(config);
    config.run_directory = folder.path("without");
    config.baseline = false;
    const TrainResult without = test::train(config);
    EXPECT_TRUE(std::isnan(without.baselines.without_privacy_loss));
    for (int agent = 0; agent < 4; ++agent)
        EXPECT_EQ(
            read_file(folder.path("with") + "/agents/" + std::to_string(agent) + "/model.npy"),
            read_file(folder.path("without") + "/agents/" + std::to_string(agent) + "/model.npy"));
}

}  // namespace
}  // namespace sotto
