#include "tasks/kinds/table.hpp"

#include "config/run_fixtures.hpp"
#include "tasks/task.hpp"

namespace sotto {
namespace {

using Names = std::vector<std::string>;

TEST(TaskTable, SaysOfEveryTaskHowItIsMade) {
    for (const TaskRecord& task : tasks().records()) {
        EXPECT_FALSE(task.summary.empty()) << task.name;
        EXPECT_NE(task.objective != nullptr, task.build != nullptr) << task.name;
        EXPECT_EQ(task.needs_records(), task.objective != nullptr) << task.name;
        EXPECT_EQ(tasks().look_up(task.name), &task);
    }
}

TEST(TaskTable, HasTheTasksOfTheDocument) {
    const std::string document = read_file(SOTTO_SOURCE_DIR "/docs/tasks.md");
    for (const char* name : {"quadratic", "logistic", "softmax", "mlp", "cnn", "averaging"}) {
        EXPECT_NE(tasks().look_up(name), nullptr) << name;
        EXPECT_NE(document.find("\n| `" + std::string(name) + "`"), std::string::npos) << name;
    }
}

TEST(TaskTable, FindsTasksByWhatHoldsForThem) {
    EXPECT_EQ(task_names_where(&TaskRecord::needs_records),
              (Names{"logistic", "softmax", "mlp", "cnn"}));
    EXPECT_EQ(task_names_where(&TaskRecord::takes_values), Names{"mlp"});
    EXPECT_EQ(task_names_where(&TaskRecord::fixed_inputs), Names{"averaging"});
    EXPECT_EQ(task_names_where([](const TaskRecord& task) { return task.has_option("hidden"); }),
              Names{"mlp"});
    EXPECT_EQ(task_names_where([](const TaskRecord&) { return true; }), task_names());
}

TEST(TaskTable, AveragingMakesRunningAveragesUnlessToldOtherwise) {
    const TaskRecord& averaging = tasks().find("task", "averaging");
    std::string text;
    for (const auto& [option, value] : averaging.defaults) text += option + " " + value + "\n";
    EXPECT_EQ(text,
              "step-size 1\nstep-schedule inverse\nl2 1\nclip-norm 1\nbatch-size all\n"
              "partition iid\n");
}

}  // namespace
}  // namespace sotto
