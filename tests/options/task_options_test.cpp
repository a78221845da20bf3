#include "options/task_options.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "options/option_set.hpp"
#include "options/task_defaults.hpp"
#include "tasks/task.hpp"

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

TEST(TaskOptions, NameEveryTaskAndItsDefaultsInTheirHelp) {
    const std::string help = find_option(task_option_set().written(), "task")->help;
    for (const std::string& name : task_names()) expect_contains(help, name);
    expect_contains(help, task_defaults_text());
}

}  // namespace
}  // namespace sotto
