#include "options/task_defaults.hpp"

#include <gtest/gtest.h>

#include "options/train_options.hpp"
#include "tasks/kinds/table.hpp"

namespace sotto {
namespace {

TEST(TaskDefaults, StandWhereNothingIsGiven) {
    const OptionTexts texts = with_task_defaults({{"task", "averaging"}, {"l2", "0.5"}});
    EXPECT_EQ(texts.at("step-schedule"), "inverse");
    EXPECT_EQ(texts.at("batch-size"), "all");
    EXPECT_EQ(texts.at("l2"), "0.5");
    EXPECT_EQ(with_task_defaults({{"task", "logistic"}}).size(), 1U);
    EXPECT_TRUE(with_task_defaults({}).empty());
}

TEST(TaskDefaults, AreOfOptionsThatExist) {
    const OptionSet<TrainConfig> set = train_option_set();
    for (const TaskRecord& task : tasks().records()) {
        OptionTexts texts{{"task", task.name}};
        for (const auto& [option, text] : task.defaults) {
            EXPECT_NE(set.look_up(option), nullptr) << option;
            texts[option] = text;
        }
        EXPECT_NO_THROW((void)read_train_config(texts));
    }
}

TEST(TaskDefaults, AreSaidInTheHelp) {
    EXPECT_EQ(
        task_defaults_text(),
        "averaging has other defaults: step-size 1, step-schedule inverse, l2 1, clip-norm 1, "
        "batch-size all, partition iid");
}

}  // namespace
}  // namespace sotto
