#include "options/task_options.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "options/option_set.hpp"
#include "options/train_options.hpp"
#include "tasks/task.hpp"
#include "tasks/task_table.hpp"

namespace sotto {
namespace {

using test::expect_contains;

OptionSet<TrainConfig> task_option_set() { return OptionSet<TrainConfig>().add(task_options()); }

TEST(TaskOptions, FillTheTaskAndItsRegularisation) {
    const TrainConfig config = task_option_set().read({{"task", "mlp"},
                                                       {"hidden", "12"},
                                                       {"standardise", "none"},
                                                       {"label", "target>0"},
                                                       {"ignore", "id,name"},
                                                       {"categorical", "cp"},
                                                       {"missing", "value:-9"},
                                                       {"label-kind", "classes"},
                                                       {"partition", "by-label:2"},
                                                       {"l2", "0.5"},
                                                       {"seed", "4"}});
    EXPECT_EQ(config.task.task, "mlp");
    EXPECT_EQ(config.task.hidden, 12);
    EXPECT_EQ(config.task.standardise, Standardise::none);
    EXPECT_EQ(config.task.table.label, "target>0");
    EXPECT_EQ(config.task.table.ignore, (std::vector<std::string>{"id", "name"}));
    EXPECT_EQ(config.task.table.categorical, std::vector<std::string>{"cp"});
    EXPECT_EQ(config.task.table.missing, parse_missing("value:-9"));
    EXPECT_EQ(config.task.table.target, TargetKind::classes);
    EXPECT_EQ(name_of(*config.task.partition), "by-label:2");
    EXPECT_EQ(config.l2, 0.5);
    EXPECT_EQ(config.task.seed, 4U);
}

TEST(TaskOptions, ChooseNoScalingByThemselves) {
    EXPECT_FALSE(task_option_set().read({}).task.standardise.has_value());
    EXPECT_EQ(task_option_set().read({{"standardise", "private"}}).task.standardise,
              Standardise::private_moments);
    EXPECT_EQ(task_option_set().read({{"standardise", "public"}}).task.standardise,
              Standardise::public_moments);
}

TEST(TaskOptions, NameEveryTaskInTheirHelpAndItsDefaultsOnTheirPage) {
    const auto written = task_option_set().written();
    const auto* task = find_option(written, "task");
    for (const std::string& name : task_names()) expect_contains(task->help, name);
    expect_contains(task->details, task_defaults_text());
}

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
