#include "tasks/task.hpp"

#include "sotto/core/numbers.hpp"
#include "sotto/learn/quadratic.hpp"
#include "tasks/kinds/table.hpp"
#include "tasks/task_fixtures.hpp"

namespace sotto {
namespace {

using test::build;
using test::expect_contains;
using test::message_of;

TEST(Task, SuggestsTheTaskThatWasMeant) {
    TaskConfig config;
    config.task = "logistik";
    const auto message = message_of<ConfigError>([&] { (void)build(config, 2); });
    expect_contains(message, "logistik");
    expect_contains(message, "did you mean");
    expect_contains(message, "logistic");
    EXPECT_EQ(task_names(),
              (std::vector<std::string>{
                  "quadratic", "logistic", "softmax", "mlp", "cnn", "averaging", "python"}));
}

TEST(Task, KnowsTheRecordsOfEveryAgentAndOneStart) {
    const test::TemporaryFolder folder;
    const TaskConfig config =
        test::on(folder.write("data.txt", test::records_with_own_feature(101)));
    const LocalTask task = build(config, 3);
    ASSERT_EQ(task.records.size(), 3U);
    for (std::size_t a = 0; a < 3; ++a) {
        EXPECT_EQ(task.records[a], task.objectives[a]->records());
        EXPECT_EQ(task.objectives[a]->dimension(), task.initial.size());
        EXPECT_EQ(task.objectives[a]->initial_model(config.seed), task.initial);
    }
}

TEST(Task, HasFixedInputsWhereItsRecordSaysSo) {
    for (const std::string& name : task_names()) {
        TaskConfig config;
        config.task = name;
        EXPECT_EQ(has_fixed_inputs(config), tasks().find("task", name).fixed_inputs) << name;
    }
    TaskConfig config;
    config.task = "averaging";
    EXPECT_TRUE(build(config, 2).fixed_inputs);
    config.task = "quadratic";
    EXPECT_FALSE(build(config, 2).fixed_inputs);
    config.task = "./own.so";
    EXPECT_FALSE(has_fixed_inputs(config));
}

}  // namespace
}  // namespace sotto
