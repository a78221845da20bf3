#include "tasks/kinds/softmax.hpp"

#include <cmath>

#include "tasks/task_fixtures.hpp"

namespace sotto {
namespace {

using test::build;
using test::expect_contains;
using test::message_of;

TaskConfig three_classes(const test::TemporaryFolder& folder) {
    std::string text;
    for (int i = 0; i < 60; ++i)
        text += std::to_string(i % 3) + " " + std::to_string(i % 5 + 1) + ":1\n";
    TaskConfig config = test::on(folder.write("data.txt", text));
    config.task = "softmax";
    return config;
}

TEST(SoftmaxTask, BeginsWithEveryClassEquallyLikely) {
    const test::TemporaryFolder folder;
    const LocalTask task = build(three_classes(folder), 3);
    EXPECT_EQ(task.initial, Eigen::VectorXd::Zero(3 * (5 + 1)));
    for (const auto& objective : task.objectives) {
        const LossSum loss = objective->train_loss(task.initial);
        EXPECT_NEAR(loss.loss, static_cast<double>(loss.records) * std::log(3), 1e-12);
    }
}

TEST(SoftmaxTask, NeedsTwoClassesAndNoHiddenLayer) {
    const test::TemporaryFolder folder;
    TaskConfig config = three_classes(folder);
    config.hidden = 3;
    expect_contains(message_of<ConfigError>([&] { (void)build(config, 1); }), "hidden: 3");
    config = three_classes(folder);
    config.data = folder.write("one.csv", "1,2\n3,4\n5,6\n7,8\n");
    expect_contains(message_of<ConfigError>([&] { (void)build(config, 1); }),
                    "has a number to predict (allowed: mlp)");
}

}  // namespace
}  // namespace sotto
