#include "tasks/kinds/logistic.hpp"

#include <cmath>

#include "tasks/task_fixtures.hpp"

namespace sotto {
namespace {

using test::build;
using test::expect_contains;
using test::message_of;
using test::on;

TEST(LogisticTask, HasAWeightAFeatureAndABias) {
    const test::TemporaryFolder folder;
    const TaskConfig config = on(folder.write("data.txt", test::records_with_own_feature(20)));
    const LocalTask task = build(config, 2);
    EXPECT_EQ(task.initial, Eigen::VectorXd::Zero(21));
    EXPECT_TRUE(task.has_records);
    EXPECT_FALSE(task.fixed_inputs);
    for (const auto& objective : task.objectives) {
        const LossSum loss = objective->train_loss(task.initial);
        EXPECT_NEAR(loss.loss, static_cast<double>(loss.records) * std::log(2), 1e-12);
        EXPECT_TRUE(loss.has_accuracy);
    }
}

TEST(LogisticTask, HasTwoClassesAndNoHiddenLayer) {
    const test::TemporaryFolder folder;
    TaskConfig config = on(folder.write("three.txt", "1 1:1\n2 2:1\n3 3:1\n1 4:1\n"));
    expect_contains(message_of<DataError>([&] { (void)build(config, 1); }), "two classes");
    config = on(folder.write("values.csv", "1,2,3\n4,5,6\n7,8,9\n1,1,1\n"));
    expect_contains(message_of<ConfigError>([&] { (void)build(config, 1); }),
                    "'logistic' needs classes");
    config = on(folder.write("data.txt", test::records_with_own_feature(20)));
    config.hidden = 3;
    expect_contains(message_of<ConfigError>([&] { (void)build(config, 1); }),
                    "hidden: 3 is given, but task 'logistic' has no hidden layer (allowed: mlp)");
}

}  // namespace
}  // namespace sotto
